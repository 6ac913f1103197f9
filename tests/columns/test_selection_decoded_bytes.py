"""What is not selected is skipped, as the number of decoded bytes shows."""

from __future__ import annotations

import io
from itertools import chain
from typing import Any

import pytest

from binspark.columns import tables
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Operations, Selection
from binspark.event.column_types import ColumnType as T
from binspark.frames import ChecksumAlgorithm, Framer
from binspark.gtid import GtidSet
from binspark.testing.builder import MYSQL_9_7, BinlogBuilder, Column, delete, insert, integer, table, update

ITEMS = table("shop.items", integer("id"))
OTHERS = table("shop.others", integer("id"))
NOON = 1_750_000_000
ROWS = (30, 31, 32)
checksums = pytest.mark.parametrize("checksum", list(ChecksumAlgorithm)[:2], ids=lambda kind: kind.name)


def log_of(compress: bool, checksum: ChecksumAlgorithm = ChecksumAlgorithm.CRC32) -> BinlogBuilder:
    """Four transactions, each with rows of two tables, at another time, of another server."""
    log = BinlogBuilder(MYSQL_9_7, checksum=checksum)
    for number in range(4):
        log.timestamp, log.server_id = NOON + number, 1 + number
        rows = (insert(ITEMS, (number,)), insert(OTHERS, (number,), (number,)), insert(ITEMS, (number + 100,)))
        log.transaction(*rows, compress=compress or None)
    return log


def read(log: BinlogBuilder, **choice: Any) -> tuple[int, list[tuple[int, int, int]]]:
    """Return how many bytes were decoded, and where the rows of items are: position, number, value."""
    part = {name: choice.pop(name) for name in ("start", "stop") if name in choice}
    reader = BatchReader(Selection(**choice))
    found = list(reader.read(io.BytesIO(log.content).readinto, **part))
    of_items = [one.batch for one in found if one.table.table == "items"]
    rows = [row for batch in of_items for row in batch.select(["_log_pos", "_log_row", "id"]).to_pylist()]
    return reader.decoded_bytes, [(row["_log_pos"], row["_log_row"], row["id"]) for row in rows]


def choices(log: BinlogBuilder) -> dict[str, tuple[dict[str, Any], list[int]]]:
    """Return ways to choose transactions, and the rows of items that they choose."""
    third = [frame.offset for frame in Framer().feed(log.content) if frame.type_code == 33][2]
    name = f"{log.server_uuid}:2"
    return {
        "start_time": ({"start_time": NOON + 2}, [2, 102, 3, 103]),
        "server_id": ({"server_id": 2}, [1, 101]),
        "start": ({"start": third}, [2, 102, 3, 103]),
        "stop": ({"stop": third}, [0, 100, 1, 101]),
        "committed_from": ({"committed_from": (NOON + 3) * 1_000_000}, [3, 103]),
        "committed_before": ({"committed_before": (NOON + 1) * 1_000_000}, [0, 100]),
        "include_gtids": ({"include_gtids": GtidSet(name)}, [1, 101]),
        "exclude_gtids": ({"exclude_gtids": GtidSet(name)}, [0, 100, 2, 102, 3, 103]),
    }


@pytest.mark.parametrize("compress", [False, True], ids=["rows", "payloads"])
@pytest.mark.parametrize("choice", choices(log_of(False)))
@checksums
def test_transactions_that_are_not_selected_are_not_decoded(
    checksum: ChecksumAlgorithm, choice: str, compress: bool
) -> None:
    log = log_of(compress, checksum)
    everything, all_rows = read(log)
    options, chosen = choices(log)[choice]
    decoded, rows = read(log, **options)
    assert [value for _, _, value in rows] == chosen
    assert decoded * len(all_rows) == everything * len(chosen)


@pytest.mark.parametrize(
    "options", [{"server_id": 99}, {"start_time": NOON + 9}, {"include_gtids": GtidSet()}], ids=str
)
def test_a_payload_that_is_not_selected_is_not_expanded(options: dict[str, Any]) -> None:
    """Its bytes are no longer what zstd makes of them, so that expanding it would be an error."""
    log = BinlogBuilder(MYSQL_9_7, checksum=ChecksumAlgorithm.NONE)
    log.transaction(insert(ITEMS, (1,)), compress=True)
    log.stop()
    content = log.content.replace(b"\x28\xb5\x2f\xfd", bytes(4))
    reader = BatchReader(Selection(**options))
    assert list(reader.read(io.BytesIO(content).readinto)) == []
    assert reader.decoded_bytes == 0


@pytest.mark.parametrize(
    "options",
    [{"tables": frozenset({"shop.items"})}, {"excluded": frozenset({"shop.others"})}, {"tables": frozenset({"*.it*"})}],
    ids=["named", "excluded", "pattern"],
)
@checksums
def test_rows_of_other_tables_are_not_decoded(checksum: ChecksumAlgorithm, options: dict[str, object]) -> None:
    log = log_of(False, checksum)
    sizes = {frame.offset: len(frame.data) for frame in Framer().feed(log.content) if frame.type_code in ROWS}
    decoded, rows = read(log, **options)
    assert rows == read(log)[1]
    assert decoded == sum(sizes[position] for position, _, _ in rows)
    assert decoded < sum(sizes.values()) == read(log)[0]


@pytest.mark.parametrize("compress", [False, True], ids=["rows", "payloads"])
def test_numbers_of_rows_do_not_depend_on_what_else_is_read(compress: bool) -> None:
    log = log_of(compress)
    _, everything = read(log)
    for options in (
        {"tables": frozenset({"shop.items"})},
        {"excluded": frozenset({"shop.others"})},
        {"columns": ("id",)},
    ):
        assert read(log, **options)[1] == everything


def test_rows_inside_a_payload_are_numbered_through_all_of_its_tables() -> None:
    log = log_of(True)
    _, rows = read(log, tables=frozenset({"shop.items"}))
    assert [number for _, number, _ in rows] == [0, 3] * 4


@pytest.mark.parametrize("compress", [False, True], ids=["rows", "payloads"])
def test_numbers_of_rows_do_not_depend_on_operations(compress: bool) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(
        insert(ITEMS, (1,), (2,)), update(ITEMS, ((1,), (3,))), delete(ITEMS, (2,)), compress=compress or None
    )
    everything = read(log)[1]
    each = [read(log, operations=one)[1] for one in (Operations.INSERT, Operations.UPDATE, Operations.DELETE)]
    assert list(chain.from_iterable(each)) == everything
    assert [[value for _, _, value in rows] for rows in each] == [[1, 2], [3], [2]]


def test_with_rows_numbered_through_transactions_all_are_looked_at() -> None:
    log = log_of(False)
    decoded, rows = read(log, tables=frozenset({"shop.items"}), tx_rows=True)
    assert decoded == read(log)[0]
    assert rows == read(log)[1]


def test_bytes_of_tables_are_counted_once_however_many_tables_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """More tables than a reader keeps at a time, and all of them decoded by the reference."""
    monkeypatch.setattr(tables, "_MAX_TABLES", 10)
    by_reference = Column("n", T.NULL, 0, lambda _value: b"")
    log = BinlogBuilder(MYSQL_9_7)
    log.full_metadata = False
    schemas = [table(f"shop.t{number}", integer("id"), by_reference) for number in range(25)]
    for schema in [*schemas, *schemas[:5]]:
        log.table_map(schema)
        log.rows(insert(schema, (1, None)))
    reader = BatchReader(Selection())
    assert sum(found.batch.num_rows for found in reader.read(io.BytesIO(log.content).readinto)) == 30
    counted = {name: int(numbers.sum()) for name, numbers in reader.tables.event_bytes().items()}
    size = next(len(frame.data) for frame in Framer().feed(log.content) if frame.type_code == 30)
    assert counted == {f"shop.t{number}": size * (2 if number < 5 else 1) for number in range(25)}
    assert sum(counted.values()) == reader.decoded_bytes
