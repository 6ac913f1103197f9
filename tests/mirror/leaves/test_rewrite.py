"""Changes in leaves: the rows are those of a dictionary with the same changes."""

from __future__ import annotations

import tempfile
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.errors import SourceError
from binspark.mirror.leaves import LeafLimits
from binspark.mirror.records.format import RecordOp
from tests.support.examples import examples
from tests.support.mirror.leaf_tables import Change, LeafTable, incomplete_keys, mirrored, records_of

ORDERS = mirrored({"id": pa.int64(), "name": pa.string(), "price": pa.float64()}, ["id"])
DELETE, PUT, MERGE = RecordOp.DELETE, RecordOp.PUT, RecordOp.MERGE

IDS = st.integers(0, 60)
NAMES = st.none() | st.text(max_size=20)
PRICES = st.none() | st.floats(allow_nan=False)
CHANGES = st.one_of(
    st.tuples(st.just(PUT), st.fixed_dictionaries({"id": IDS, "name": NAMES, "price": PRICES})),
    st.tuples(st.just(DELETE), st.fixed_dictionaries({"id": IDS})),
    st.tuples(st.just(MERGE), st.fixed_dictionaries({"id": IDS}, optional={"name": NAMES, "price": PRICES})),
)
LIMITS = st.builds(
    LeafLimits,
    leaf_bytes=st.sampled_from([1, 2000, 1 << 20]),
    row_group_rows=st.integers(1, 20),
    row_group_bytes=st.sampled_from([1, 300, 1 << 20]),
    memory_bytes=st.sampled_from([1, 3000, 1 << 20]),
)
Model = dict[int, dict[str, Any]]


def apply_to_model(model: Model, changes: list[Change]) -> set[int]:
    """Make changes in a dictionary; return the keys whose rows are not known completely."""
    incomplete: Model = {}
    for op, row in changes:
        key = row["id"]
        if op is not MERGE:
            incomplete.pop(key, None)
            model.pop(key, None)
        known = model if op is PUT or key in model else incomplete
        if op is not DELETE:
            known[key] = {**known.get(key, {}), **row}
        if len(incomplete.get(key, {})) == len(ORDERS.schema):
            model[key] = incomplete.pop(key)
    return set(incomplete)


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(st.lists(st.lists(CHANGES, max_size=25), max_size=5), max_size=6), LIMITS, st.randoms())
def test_rows_are_those_of_a_model(batches: list[list[list[Change]]], limits: LeafLimits, random: Any) -> None:
    model: Model = {}
    with TemporaryDirectory() as path:
        table = LeafTable(Path(path), ORDERS, limits)
        for parts in batches:
            records = [records_of(ORDERS, part, 1000 * number) for number, part in enumerate(parts)]
            random.shuffle(records)
            results = table.apply(records)
            incomplete = apply_to_model(model, [change for part in parts for change in part])
            assert incomplete_keys(results) == sorted(incomplete)
            assert sorted(table.rows(), key=lambda row: row["id"]) == [row for _, row in sorted(model.items())]
            check_leaves(table)


def check_leaves(table: LeafTable) -> None:
    """Check that each file has the rows between its bounds, in their order, and no other file has any of them."""
    last: bytes | None = None
    for file, keys in sorted(table.leaves(), key=lambda leaf: leaf[0].low or b""):
        assert keys == sorted(keys)
        assert (file.low, file.high, file.rows) == (keys[0], keys[-1], len(keys))
        assert last is None or last < keys[0]
        last = file.high


@pytest.mark.parametrize("memory_bytes", [1, 4000, 1 << 20])
def test_records_of_a_key_come_in_any_order(tmp_path: Path, memory_bytes: int) -> None:
    changes: list[Change] = [
        (MERGE, {"id": 1, "name": "too early"}),
        (PUT, {"id": 1, "name": "a", "price": 1.0}),
        (MERGE, {"id": 1, "price": 2.0}),
    ]
    # Large enough that a run has two of these batches, but not three.
    others: list[Change] = [(PUT, {"id": 100 + number, "name": "x", "price": 0.0}) for number in range(8)]
    records = [records_of(ORDERS, [change, *others], 100 * number) for number, change in enumerate(changes)]
    assert 4000 // 4 // 3 < records[0].nbytes < 4000 // 4
    for number, order in enumerate(permutations(records)):
        table = LeafTable(tmp_path / str(number), ORDERS, LeafLimits(memory_bytes=memory_bytes))
        table.apply(order)
        assert table.rows()[0] == {"id": 1, "name": "a", "price": 2.0}


def test_temporary_files_that_cannot_be_written_are_an_error_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = LeafTable(tmp_path / "table", ORDERS, LeafLimits(memory_bytes=1))
    folder = tmp_path / "temporary"
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with pytest.raises(SourceError, match=r"temporary.* set TMPDIR to"):
        table.apply([records_of(ORDERS, [(PUT, {"id": 1, "name": "a", "price": 1.0})])])


def test_many_runs_are_merged_before_they_are_read(tmp_path: Path) -> None:
    rows = [(PUT, {"id": number * 37 % 100, "name": f"{number}", "price": None}) for number in range(300)]
    table = LeafTable(tmp_path, ORDERS, LeafLimits(memory_bytes=1))
    table.apply(records_of(ORDERS, [row], number) for number, row in enumerate(rows))
    assert table.rows() == [
        {"id": number, "name": f"{200 + number * 73 % 100}", "price": None} for number in range(100)
    ]
