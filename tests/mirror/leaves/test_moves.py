"""Updates with some columns that change the key of their row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.mirror.leaves import MoveResolver, read_stored_rows
from binspark.mirror.leaves.leaf_reader import KeyedRows
from binspark.mirror.records.format import FROM, OP, SEQ, RecordOp
from binspark.mirror.records.keys import key_bytes
from tests.support.examples import examples
from tests.support.mirror.leaf_tables import SMALL, Change, LeafTable, incomplete_keys, mirrored, records_of

ORDERS = mirrored({"id": pa.int64(), "name": pa.string(), "price": pa.float64()}, ["id"])
DELETE, PUT, MERGE = RecordOp.DELETE, RecordOp.PUT, RecordOp.MERGE
Row = dict[str, Any]
NEW_VALUES = st.fixed_dictionaries({}, optional={"name": st.text(max_size=3), "price": st.integers(0, 9).map(float)})


class Source:
    """A table in a server that logs only the columns that were changed."""

    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}
        self.log: list[tuple[Change, int | None]] = []

    def change(self, key: int, new_key: int, values: Row) -> None:
        """Insert a row, update it, or, with a key that another row has, delete it."""
        if key not in self.rows:
            self.rows[key] = {"id": key, "name": None, "price": None} | values
            self.log.append(((PUT, self.rows[key]), None))
        elif key == new_key:
            self.rows[key] = self.rows[key] | values
            self.log.append(((MERGE, {"id": key} | values), None))
        elif new_key in self.rows:
            del self.rows[key]
            self.log.append(((DELETE, {"id": key}), None))
        else:
            self.rows[new_key] = self.rows.pop(key) | {"id": new_key} | values
            self.log.append(((DELETE, {"id": key}), None))
            self.log.append(((MERGE, {"id": new_key} | values), key))

    def batches(self, random: Random) -> list[pa.RecordBatch]:
        """Return the changes since the last call in batches, in any order. Both records of an update are in one."""
        records = self.records()
        is_second = records.column(FROM).is_valid().to_pylist()
        cuts = [cut for cut in sorted(random.sample(range(len(is_second)), len(is_second) // 3)) if not is_second[cut]]
        bounds = sorted({0, *cuts, len(is_second)})
        batches = [records.slice(begin, end - begin) for begin, end in pairwise(bounds)]
        random.shuffle(batches)
        return batches

    def records(self) -> pa.RecordBatch:
        """Return the changes since the last call. The two records of an update have the same sequence."""
        records = records_of(ORDERS, [change for change, _ in self.log])
        old = [key for _, key in self.log]
        sequences = [f"{index - (key is not None):032x}" for index, key in enumerate(old)]
        moved = pa.array([None if key is None else key_bytes([pa.array([key])])[0].as_py() for key in old], pa.binary())
        self.log = []
        columns = dict(zip(records.schema.names, records.columns, strict=True))
        columns |= {SEQ: pa.array(sequences, pa.string()), FROM: moved}
        return pa.RecordBatch.from_arrays(list(columns.values()), schema=records.schema)


def resolved(
    batches: Sequence[pa.RecordBatch], stored: Callable[[Sequence[bytes]], Iterable[KeyedRows]], memory_bytes: int
) -> list[pa.RecordBatch]:
    with MoveResolver(stored, memory_bytes) as resolver:
        for batch in batches:
            resolver.add(batch)
        return list(resolver.resolved())


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), NEW_VALUES), min_size=1, max_size=30), max_size=4
    ),
    st.sampled_from([1, 3_000, 20_000, 1 << 20]),
    st.randoms(use_true_random=False),
)
def test_rows_that_move_keep_the_columns_that_the_log_does_not_have(
    ranges: list[list[tuple[int, int, Row]]], memory_bytes: int, random: Random
) -> None:
    source = Source()
    with TemporaryDirectory() as path:
        table = LeafTable(Path(path), ORDERS, SMALL)
        for changes in ranges:
            for key, new_key, values in changes:
                source.change(key, new_key, values)
            batches = source.batches(random)
            results = table.apply(
                resolved(batches, partial(read_stored_rows, table.files, table.directory, ORDERS), memory_bytes)
            )
            assert not incomplete_keys(results)
            assert sorted(table.rows(), key=lambda row: row["id"]) == [row for _, row in sorted(source.rows.items())]


MANY = 200
EVERY = range(1, MANY + 1)
NOTHING: Row = {}
CHAINS: dict[str, list[tuple[int, int, Row]]] = {
    "to free keys": [(key, key + MANY, NOTHING) for key in EVERY],
    "one up, the last first": [(key, key + 1, NOTHING) for key in reversed(EVERY)],
    "one down, the first first": [(key, key - 1, NOTHING) for key in EVERY],
    "one row through all": [(1, MANY + 1, NOTHING)] + [(MANY + key, MANY + key + 1, NOTHING) for key in EVERY],
    "there and back": [(key, -key, NOTHING) for key in EVERY] + [(-key, key, {"name": "back"}) for key in EVERY],
    "swapped": [(key, -key, NOTHING) for key in EVERY] + [(-key, MANY + 1 - key, NOTHING) for key in EVERY],
    "changed, moved, changed": [
        step
        for key in EVERY
        for step in ((key, key, {"name": "a"}), (key, -key, NOTHING), (-key, -key, {"price": 9.0}))
    ],
    "moved, then deleted": [(key, -key, NOTHING) for key in EVERY]
    + [(-key, -MANY, NOTHING) for key in EVERY if key < MANY],
    "deleted, then taken by another": [
        step for key in range(1, MANY, 2) for step in ((key, key + 1, NOTHING), (key + 1, key, {"name": "taken"}))
    ],
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains_of_moves_that_are_larger_than_memory_are_followed(name: str, tmp_path: Path) -> None:
    source = Source()
    table = LeafTable(tmp_path, ORDERS, replace(SMALL, leaf_bytes=5_000, row_group_rows=100, memory_bytes=12_000))
    for key in EVERY:
        source.change(key, key, {"name": f"name {key}", "price": float(key)})
    table.apply([source.records()])
    for change in CHAINS[name]:
        source.change(*change)
    table.apply(resolved([source.records()], partial(read_stored_rows, table.files, table.directory, ORDERS), 12_000))
    assert sorted(table.rows(), key=lambda row: row["id"]) == [row for _, row in sorted(source.rows.items())]


def test_rows_that_are_large_are_completed_a_few_at_a_time(tmp_path: Path) -> None:
    """The log has small records, and the rows that they need are larger than what may be in memory."""
    source, sizes = Source(), []
    for key in range(200):
        source.change(key, key, {"name": f"{key:03}" * 2_000})
    table = LeafTable(tmp_path, ORDERS, replace(SMALL, row_group_rows=10))
    table.apply([source.records()])
    for key in range(200):
        source.change(key, key + 1000, {"price": 1.0})

    def stored(keys: Sequence[bytes]) -> Iterator[KeyedRows]:
        sizes.append(0)
        for part in read_stored_rows(table.files, table.directory, ORDERS, keys):
            sizes[-1] += part.nbytes
            yield part

    parts = resolved([source.records()], stored, 1 << 20)
    assert max(sizes) < 1 << 18
    assert max(part.nbytes for part in parts) < 1 << 18
    table.apply(parts)
    assert sorted(table.rows(), key=lambda row: row["id"]) == [row for _, row in sorted(source.rows.items())]


def test_a_row_that_moves_from_an_unknown_key_is_an_orphan(tmp_path: Path) -> None:
    source = Source()
    source.rows = {1: {"id": 1, "name": "a", "price": 1.0}}
    source.change(1, 2, {"name": "b"})
    table = LeafTable(tmp_path, ORDERS, SMALL)
    (records,) = resolved([source.records()], lambda _keys: (), 1 << 20)
    assert records.column(OP).to_pylist() == [DELETE, RecordOp.ORPHAN]
    (result,) = table.apply([records])
    assert incomplete_keys([result]) == [2]


def test_a_row_of_an_unknown_key_that_moves_on_stays_an_orphan(tmp_path: Path) -> None:
    source = Source()
    source.rows = {1: {"id": 1, "name": "a", "price": 1.0}}
    for key in (1, 2, 3):
        source.change(key, key + 1, {"name": "b"})
    table = LeafTable(tmp_path, ORDERS, SMALL)
    records = source.records()
    for memory_bytes in (1, 1 << 20):
        (result,) = table.apply(resolved([records], lambda _keys: (), memory_bytes))
        assert incomplete_keys([result]) == [4]


@pytest.mark.parametrize("memory_bytes", [1, 1 << 20])
def test_a_row_that_may_have_been_replaced_before_it_moves_is_an_orphan(tmp_path: Path, memory_bytes: int) -> None:
    source = Source()
    source.change(1, 1, {"name": "a", "price": 1.0})
    table = LeafTable(tmp_path, ORDERS, SMALL)
    table.apply([source.records()])
    source.log = [((RecordOp.ORPHAN, {"id": 1, "name": "b"}), None)]
    for key in (1, 2):
        source.change(key, key + 1, {})
    stored = partial(read_stored_rows, table.files, table.directory, ORDERS)
    results = table.apply(resolved([source.records()], stored, memory_bytes))
    assert incomplete_keys(results) == [3]
    assert table.rows() == []
