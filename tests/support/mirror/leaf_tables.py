"""Mirrored tables in a directory, without a target: their data files, changes to them, and their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.leaves import LeafLimits, Rewritten, plan_tasks, rewrite, route
from binspark.mirror.leaves.leaf_reader import LeafReader
from binspark.mirror.records.format import RecordOp, absent_lists, record_schema
from binspark.mirror.records.keys import row_keys
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.schema.table import TableSchema

SMALL = LeafLimits(leaf_bytes=500, row_group_rows=7, row_group_bytes=1000, memory_bytes=4000)
"""Limits so small that a few rows are many leaves, and changes are spilled."""

Row = Mapping[str, Any]
Change = tuple[RecordOp, Row]
"""An operation, and the columns that the log has of its row."""


def mirrored(columns: Mapping[str, pa.DataType], key: Sequence[str] = ()) -> MirroredTable:
    """Return a mirrored table with these columns."""
    return MirroredTable(TableSchema("shop", "orders", ()), pa.schema(list(columns.items())), tuple(key))


def rows_of(table: MirroredTable, rows: Iterable[Row]) -> pa.RecordBatch:
    """Return rows as a batch."""
    return pa.RecordBatch.from_pylist([dict(row) for row in rows], schema=table.schema)


def records_of(table: MirroredTable, changes: Sequence[Change], first: int = 0) -> pa.RecordBatch:
    """Return changes as change records, with sequences from a number on."""
    rows = rows_of(table, [row for _, row in changes])
    names = table.schema.names
    absent = np.array([[name not in row for name in names] for _, row in changes], bool).reshape(-1, len(names))
    absent[[op < RecordOp.MERGE for op, _ in changes]] = False
    arrays = [
        row_keys(table, rows),
        pa.array([f"{first + number:032x}" for number in range(len(changes))]),
        pa.array([int(op) for op, _ in changes], pa.int8()),
        absent_lists(absent),
        pa.nulls(len(changes), pa.binary()),
        *rows.columns,
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=record_schema(table.schema))


def incomplete_keys(results: Iterable[Rewritten]) -> list[int]:
    """Return the keys, of one column, of which only some columns are known, in their order."""
    found = (result.incomplete for result in results)
    return sorted(key for keys in found if keys is not None for key in keys.column(0).to_pylist())


class LeafTable:
    """The data files of a table, and what applies changes to them as the mirror does, but without commits."""

    def __init__(self, path: Path, table: MirroredTable, limits: LeafLimits) -> None:
        self.directory = TableDirectory(str(path))
        self.table = table
        self.limits = limits
        self.files: list[DataFile] = []

    def apply(self, batches: Iterable[pa.RecordBatch]) -> list[Rewritten]:
        """Rewrite what these changes are in."""
        tasks = plan_tasks(self.files, self.limits)
        routed: dict[int, list[pa.RecordBatch]] = {}
        for batch in batches:
            for number, records in route(tasks, batch):
                routed.setdefault(number, []).append(records)
        groups = {tasks[number].group for number in routed}
        results = [
            rewrite(task, self.directory, self.table, routed.get(task.number, []), self.limits)
            for task in tasks
            if task.group in groups
        ]
        removed = {file.path for result in results for file in result.removed}
        self.files = [file for file in self.files if file.path not in removed]
        self.files += [file for result in results for file in result.added]
        return results

    def rows(self) -> list[dict[str, Any]]:
        """Return all rows, in the order of the files."""
        reader = LeafReader(self.directory, self.table)
        return [row for file in self.files for part in reader.batches(file) for row in part.rows.to_pylist()]

    def leaves(self) -> Iterator[tuple[DataFile, list[bytes]]]:
        """Yield the files, and the keys of their rows."""
        reader = LeafReader(self.directory, self.table)
        for file in self.files:
            yield file, [key for part in reader.batches(file) for key in part.keys.to_pylist()]
