"""Leaves rewritten because the columns of their table have changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pyarrow as pa

from binspark.documents.conversion import conversion
from binspark.errors import SchemaError
from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.leaves.leaf_reader import KeyedRows, LeafReader
from binspark.mirror.leaves.leaf_writer import LeafWriter
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.leaves.rewrite import Rewritten, write_leaves
from binspark.mirror.records.keys import key_kinds, row_keys
from binspark.mirror.schema.column_changes import AddColumn, DropColumn, RenameColumn, SchemaChange
from binspark.mirror.schema.mirrored_table import MirroredTable


@dataclass(frozen=True, slots=True)
class ColumnRewrite:
    """A change of columns for which data files are rewritten. It is sent to executors.

    change     the steps
    table      the table after them
    directory  its directory after them
    fill       the values of new columns in rows that are there; NULL in those that are not named
    """

    change: SchemaChange
    table: MirroredTable
    directory: TableDirectory
    fill: Mapping[str, pa.Scalar] = field(default_factory=dict)

    def sources(self, names: Sequence[str]) -> dict[str, str | None]:
        """Return for each column of the new schema which of the old columns it was; None for a new one."""
        sources: dict[str, str | None] = {name: name for name in names}
        for step in self.change.steps:
            match step:
                case AddColumn():
                    sources[step.field.name] = None
                case DropColumn():
                    sources.pop(step.name)
                case RenameColumn():
                    sources[step.new_name] = sources.pop(step.name)
                case _:
                    pass
        return {name: sources[name] for name in self.table.schema.names}

    def keeps_order(self, table: MirroredTable) -> bool:
        """Return whether the rows of a table are in the order of keys after the change if they were before.

        Then leaves can be written one by one; else all rows of the table have to be sorted.
        """
        sources = self.sources(table.schema.names)
        old, new = key_kinds(table), key_kinds(self.table)
        return bool(table.key) and old == tuple((sources[name] or "", kind) for name, kind in new)


def rewrite_columns(
    files: Sequence[DataFile],
    directory: TableDirectory,
    table: MirroredTable,
    rewrite: ColumnRewrite,
    limits: LeafLimits,
) -> Rewritten:
    """Rewrite files of a table with other columns: some of the files if that keeps the order of rows, else all."""
    reader = LeafReader(directory, table)
    batches = (rows.rows for file in _in_order(files) for rows in reader.batches(file))
    converted = _converted(batches, table, rewrite)
    if not rewrite.keeps_order(table) or not _follow_one_another(files):
        return Rewritten(tuple(write_leaves(converted, rewrite.directory, rewrite.table, limits)), tuple(files))
    with LeafWriter(rewrite.directory, rewrite.table, limits) as writer:
        for batch in converted:
            writer.write(KeyedRows(row_keys(rewrite.table, batch), batch))
        return Rewritten(writer.finish(), tuple(files))


def _in_order(files: Sequence[DataFile]) -> list[DataFile]:
    return sorted(files, key=lambda file: (file.low or b"", file.path))


def _follow_one_another(files: Sequence[DataFile]) -> bool:
    """Return whether files are leaves, none of which has keys within the range of another."""
    ordered = _in_order(files)
    return all(file.row_groups for file in ordered) and all(
        one.high is not None and other.low is not None and one.high < other.low for one, other in pairwise(ordered)
    )


def _converted(
    batches: Iterator[pa.RecordBatch], table: MirroredTable, rewrite: ColumnRewrite
) -> Iterator[pa.RecordBatch]:
    sources, schema = rewrite.sources(table.schema.names), rewrite.table.schema
    for batch in batches:
        arrays = []
        for column in schema:
            source = sources[column.name]
            if source is not None:
                arrays.append(_column(batch.column(source), column, table))
            elif column.name in rewrite.fill:
                arrays.append(pa.repeat(rewrite.fill[column.name].cast(column.type), batch.num_rows))
            else:
                arrays.append(pa.nulls(batch.num_rows, column.type))
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _column(array: pa.Array, column: pa.Field, table: MirroredTable) -> pa.Array:
    convert = conversion(array.type, column.type)
    if convert is None:
        raise SchemaError(
            f"{table.name}: column {column.name} was {array.type} and is {column.type} now, which not every value"
            f" fits into; copy the table again with --resnapshot {table.name}"
        )
    return convert(array)
