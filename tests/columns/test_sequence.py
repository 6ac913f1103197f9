"""The column SEQ: its text has the order of the rows, in every engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import binspark
from binspark.columns.arena import Arena
from binspark.columns.metadata import BEFORE, Metadata, metadata_names
from binspark.columns.sequence import REPEATED_ROW, ROWS_PER_BYTE, RepeatedRange, Sequence, log_number
from binspark.errors import Unsupported
from binspark.testing.builder import BinlogBuilder, insert, integer, table

Coordinates = tuple[int, int, int, int]
COORDINATES = st.tuples(
    st.integers(0, 0xFFFF), st.integers(0, 0xFFFFFFFF), st.integers(0, (1 << 48) - 1), st.integers(0, (1 << 31) - 1)
)
RESERVED = {
    # Iceberg: metadata columns of every table, org.apache.iceberg.MetadataColumns
    *("_file", "_pos", "_deleted", "_spec_id", "_partition", "_row_id", "_last_updated_sequence_number"),
    *("file_path", "pos", "row", "_change_type", "_change_ordinal", "_commit_snapshot_id"),
    # Delta: change data feed, and the metadata column of Spark's file sources
    *("_change_type", "_commit_version", "_commit_timestamp", "_metadata", "__delta_internal_row_index"),
    # Hudi
    *("_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path"),
    "_hoodie_file_name",
}


def value(coordinates: Coordinates) -> str:
    epoch, log, position, row = coordinates
    arrays = np.array([position], dtype=np.int64), np.array([row], dtype=np.int32)
    (text,) = Sequence(epoch).values(log, *arrays, Arena()).to_pylist()
    return str(text)


@given(COORDINATES)
def test_a_value_is_hexadecimal_text_of_a_fixed_width(coordinates: Coordinates) -> None:
    epoch, log, position, row = coordinates
    assert value(coordinates) == f"{epoch:04x}{log:08x}{position:012x}{row:08x}"
    assert len(value(coordinates)) == 32  # Delta keeps minimum and maximum of up to 32 characters


@given(st.lists(COORDINATES, max_size=30, unique=True))
def test_texts_sort_as_their_coordinates_do(all_coordinates: list[Coordinates]) -> None:
    texts = [value(coordinates) for coordinates in sorted(all_coordinates)]
    shuffled = pa.array(texts[::-1], pa.string())
    assert sorted(texts) == texts
    assert shuffled.take(pc.sort_indices(shuffled)).to_pylist() == texts
    assert np.sort(np.array(texts[::-1], dtype=object)).tolist() == texts
    assert sorted(text.encode() for text in texts) == [text.encode() for text in texts]


def test_data_frames_sort_them_in_the_same_way() -> None:
    pandas = pytest.importorskip("pandas")
    texts = [
        value(coordinates)
        for coordinates in [(0, 9, 4, 0), (0, 10, 4, 0), (0, 10, 4, 10), (0, 10, 1 << 33, 9), (1, 1, 4, 0)]
    ]
    frame = pandas.DataFrame({"_seq": texts[::-1]})
    assert frame.sort_values("_seq")["_seq"].tolist() == texts


def test_many_rows_have_the_offsets_of_all() -> None:
    count = 200_000
    rows = np.arange(count, dtype=np.int32)
    found = Sequence(3).values(7, np.full(count, 1 << 40, dtype=np.int64), rows, Arena())
    found.validate(full=True)
    assert found[-1].as_py() == f"{3:04x}{7:08x}{1 << 40:012x}{count - 1:08x}"


@given(st.integers(4, 1 << 33), st.integers(1, 500), st.lists(st.integers(1, 400), max_size=20))
def test_rows_that_another_server_repeats_are_in_order_inside_their_range(
    start: int, size: int, transactions: list[int]
) -> None:
    repeated = RepeatedRange(start, start + size)
    found: list[tuple[int, int]] = []
    for count in transactions:
        positions, rows = repeated.spread(np.arange(count, dtype=np.int64))
        found += zip(positions.tolist(), rows.tolist(), strict=True)
        repeated = replace(repeated, first=repeated.first + count)
    assert found == sorted(set(found))
    assert all(start <= position < start + size and row >= REPEATED_ROW for position, row in found)
    assert len(found) > ROWS_PER_BYTE * size or all(row < REPEATED_ROW + ROWS_PER_BYTE for _, row in found)


def test_too_many_epochs_are_refused() -> None:
    with pytest.raises(Unsupported, match="65536 times, at most 65535"):
        value((1 << 16, 0, 0, 0))


@pytest.mark.parametrize(
    ("file", "number"),
    [("binlog.000042", 42), ("/logs/a.b.1000000", 1_000_000), ("binlog.000042.zst", 42), ("binlog", 0), ("x.7z", 0)],
)
def test_the_number_of_a_log_is_in_its_name(file: str, number: int) -> None:
    assert log_number(file) == number


def test_rows_of_many_logs_are_in_order(tmp_path: Path) -> None:
    stock = table("shop.stock", integer("id"))
    builder = BinlogBuilder()
    for number in range(0, 60, 5):
        builder.transaction(insert(stock, *((number + row,) for row in range(5))), compress=number % 2 == 0 or None)
        builder.rotate()
    builder.save(tmp_path)
    batches = list(binspark.batches(tmp_path, table="shop.stock"))
    rows = [row for batch in batches for row in batch.select(["_seq", "id"]).to_pylist()]
    assert [row["id"] for row in sorted(rows, key=lambda row: row["_seq"])] == list(range(60))
    assert len({row["_seq"] for row in rows}) == 60


def test_no_table_format_reserves_a_name() -> None:
    names = {*metadata_names("_", Metadata), f"_{BEFORE}", "_schema", "_table", "_after"}
    assert not names & RESERVED
