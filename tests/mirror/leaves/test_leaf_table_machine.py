"""A table through its life, with whatever may happen to it: it has the rows of a dictionary after each step."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from binspark.mirror.files.data_file import DataFile
from binspark.mirror.leaves import (
    ColumnRewrite,
    LeafLimits,
    MoveResolver,
    read_stored_rows,
    rewrite_columns,
    with_bounds,
    write_leaves,
)
from binspark.mirror.records.format import FROM, SEQ, RecordOp
from binspark.mirror.records.keys import row_keys
from binspark.mirror.schema.column_changes import AddColumn, ChangeType, RenameColumn, SchemaChange
from binspark.mirror.schema.mirrored_table import MirroredTable
from tests.support.examples import examples
from tests.support.mirror.leaf_tables import Change, LeafTable, mirrored, records_of, rows_of

LIMITS = st.builds(
    LeafLimits,
    leaf_bytes=st.sampled_from([1, 400, 1500, 1 << 20]),
    row_group_rows=st.integers(1, 12),
    row_group_bytes=st.sampled_from([1, 300, 1 << 20]),
    memory_bytes=st.sampled_from([1, 2000, 1 << 20]),
)
KEYS = st.tuples(st.sampled_from(["", "a", "a\0", "b"]), st.integers(-3, 3))
VALUES = st.none() | st.text(max_size=5)
ACTIONS = st.tuples(KEYS, KEYS, VALUES, st.booleans())
Key = tuple[str, int]


class LeafTableMachine(RuleBasedStateMachine):
    """A source that logs complete or partial rows, and the leaves of its mirrored table."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = TemporaryDirectory()
        self._path = Path(self._folder.name)
        self._model: dict[Key, dict[str, Any]] = {}
        self._columns: dict[str, pa.DataType] = {"place": pa.string(), "number": pa.int32(), "note": pa.string()}
        self._table = LeafTable(self._path, self._mirrored(), LeafLimits())
        self._added = 0

    def teardown(self) -> None:
        self._folder.cleanup()

    def _mirrored(self) -> MirroredTable:
        return mirrored(self._columns, ["place", "number"])

    @initialize(limits=LIMITS, keys=st.lists(KEYS, max_size=30))
    def snapshot(self, limits: LeafLimits, keys: list[Key]) -> None:
        """Copy rows, in any order."""
        self._table.limits = limits
        self._model = {key: {"place": key[0], "number": key[1], "note": "snapshot"} for key in keys}
        rows = rows_of(self._table.table, self._model.values())
        self._table.files = write_leaves([rows], self._table.directory, self._table.table, limits)

    @rule(actions=st.lists(ACTIONS, min_size=1, max_size=25), parts=st.integers(1, 4))
    def apply(self, actions: list[tuple[Key, Key, Any, bool]], parts: int) -> None:
        """Change rows of the source, and apply its log: some changes with all columns, some with a few."""
        log: list[tuple[Change, Key | None]] = []
        for key, new_key, value, is_partial in actions:
            self._change(log, key, new_key, value, is_partial=is_partial)
        with MoveResolver(self._stored, self._table.limits.memory_bytes) as resolver:
            resolver.add(self._records(log))
            resolved = list(resolver.resolved())
        batches: list[pa.RecordBatch] = []
        for records in resolved:
            cuts = np.linspace(0, records.num_rows, parts + 1).astype(int)
            batches += [records.slice(begin, end - begin) for begin, end in pairwise(cuts)]
        results = self._table.apply(batches[::-1])  # the last part first: tasks of Spark finish in any order
        assert all(result.incomplete is None for result in results)

    def _change(
        self, log: list[tuple[Change, Key | None]], key: Key, new_key: Key, value: Any, *, is_partial: bool
    ) -> None:
        names = {"place": key[0], "number": key[1]}
        if key not in self._model:
            self._model[key] = {**dict.fromkeys(self._columns), **names, self._value: value}
            log.append(((RecordOp.PUT, dict(self._model[key])), None))
        elif new_key in self._model and new_key != key:
            del self._model[key]
            log.append(((RecordOp.DELETE, names), None))
        else:
            new_names = {"place": new_key[0], "number": new_key[1]}
            row = self._model[new_key] = {**self._model.pop(key), **new_names, self._value: value}
            moved_from = key if new_key != key else None
            if moved_from is not None:
                log.append(((RecordOp.DELETE, names), None))
            if is_partial:
                log.append(((RecordOp.MERGE, {**new_names, self._value: value}), moved_from))
            else:
                log.append(((RecordOp.PUT, dict(row)), None))

    @property
    def _value(self) -> str:
        """The column that updates change: the newest."""
        return list(self._columns)[-1]

    def _records(self, log: list[tuple[Change, Key | None]]) -> pa.RecordBatch:
        records = records_of(self._table.table, [change for change, _ in log])
        old = [{"place": key[0], "number": key[1]} for _, key in log if key is not None]
        keys = iter(row_keys(self._table.table, rows_of(self._table.table, old)).to_pylist())
        moved = pa.array([None if key is None else next(keys) for _, key in log], pa.binary())
        columns = dict(zip(records.schema.names, records.columns, strict=True)) | {FROM: moved}
        # Both records of a move have the same sequence.
        columns[SEQ] = pa.array([f"{index - (key is not None):032x}" for index, (_, key) in enumerate(log)])
        return pa.RecordBatch.from_arrays(list(columns.values()), schema=records.schema)

    def _stored(self, keys: Any) -> Any:
        return read_stored_rows(self._table.files, self._table.directory, self._table.table, keys)

    @rule()
    def truncate(self) -> None:
        """Remove all files."""
        self._model = {}
        self._table.files = []

    @rule(limits=LIMITS)
    def restart(self, limits: LeafLimits) -> None:
        """Forget the bounds of files, and read them again."""
        self._table.limits = limits
        forgotten = [DataFile(file.path, file.size, -1) for file in self._table.files]
        known = [replace(file, footer=b"") for file in self._table.files]
        found = with_bounds(forgotten, self._table.directory, self._table.table)
        assert [(file.low, file.high, file.rows) for file in found] == [
            (file.low, file.high, file.rows) for file in known
        ]
        self._table.files = found

    @rule(count=st.integers(1, 3), is_reversed=st.booleans())
    def optimize(self, count: int, is_reversed: bool) -> None:
        """Let another program move the rows of some files to one file."""
        chosen, kept = self._table.files[::count], self._table.files[:]
        for file in chosen:
            kept.remove(file)
        if chosen:
            rows = pa.concat_tables(pq.read_table(self._path / file.path) for file in chosen)
            order = np.arange(rows.num_rows)[:: -1 if is_reversed else 1]
            self._added += 1
            name = f"part-{self._added}.parquet"
            pq.write_table(rows.take(pa.array(order)), self._path / name, row_group_size=5)
            kept.append(DataFile(name, (self._path / name).stat().st_size, -1))
        self._table.files = with_bounds(kept, self._table.directory, self._table.table)

    @rule(value=VALUES)
    def add_column(self, value: Any) -> None:
        """Add a column; leaves are rewritten only if rows have a value in it."""
        self._added += 1
        name = f"new{self._added}"
        self._columns[name] = pa.string()
        for row in self._model.values():
            row[name] = value
        if value is None:
            self._table.table = self._mirrored()
            return
        step = AddColumn(pa.field(name, pa.string()))
        self._rewrite(SchemaChange(self._mirrored().schema, (step,)), {name: pa.scalar(value)})

    @rule()
    def change_columns(self) -> None:
        """Rename a column, and widen one of the key."""
        self._added += 1
        name, new_name = self._value, f"renamed{self._added}"
        del self._columns[name]
        self._columns |= {"number": pa.int64(), new_name: pa.string()}
        self._model = {
            key: {new_name if column == name else column: value for column, value in row.items()}
            for key, row in self._model.items()
        }
        steps = (RenameColumn(name, new_name), ChangeType("number", pa.int64()))
        self._rewrite(SchemaChange(self._mirrored().schema, steps), {})

    def _rewrite(self, change: SchemaChange, fill: dict[str, pa.Scalar]) -> None:
        table = self._table
        rewrite = ColumnRewrite(change, self._mirrored(), table.directory, fill)
        result = rewrite_columns(table.files, table.directory, table.table, rewrite, table.limits)
        table.table, table.files = rewrite.table, list(result.added)

    @invariant()
    def has_the_rows_of_the_model(self) -> None:
        """Compare all rows, and their columns."""
        found = sorted(self._table.rows(), key=lambda row: (row["place"], row["number"]))
        assert found == [{name: row.get(name) for name in self._columns} for _, row in sorted(self._model.items())]


LeafTableMachine.TestCase.settings = settings(max_examples=examples(40), stateful_step_count=12, deadline=None)
TestLeafTable = LeafTableMachine.TestCase
