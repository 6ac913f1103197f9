"""Rows of any schema version of a table, brought into one schema."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from binspark.columns.metadata import BEFORE, Metadata, metadata_names
from binspark.columns.reader import TableBatch
from binspark.columns.types import GEOMETRY
from binspark.documents.conversion import Conversion, as_text, conversion, geometry_of, struct_conversion
from binspark.errors import BinlogError, SchemaError
from binspark.event import RowOperation
from binspark.schema.lineage import WantedColumn, WantedColumns
from binspark.schema.table import TableSchema
from binspark.spark.options import DroppedColumns, SourceOptions
from binspark.spark.plan import SchemaVersion
from binspark.spark.views.schema_changes import SchemaChanges
from binspark.values.column import Column


def wanted_columns(target: pa.Schema, newest: SchemaVersion, options: SourceOptions) -> WantedColumns:
    """Return the columns of a table that a schema has, also in the structs of before images and keys."""
    prefix = options.selection.metadata_prefix
    structs = [index for name in (BEFORE, Metadata.KEY) if (index := target.get_field_index(f"{prefix}{name}")) >= 0]
    inner = [field.name for index in structs for field in target.field(index).type]
    metadata = {*metadata_names(prefix, Metadata), f"{prefix}{BEFORE}"}
    names = [name for name in target.names if name not in metadata]
    table = newest.table
    wanted = WantedColumns.of(dict.fromkeys((*names, *inner)), table.column_names, table.lineage)
    if options.dropped_columns is not DroppedColumns.KEEP:
        return wanted
    asked = {column.name for column in wanted.columns}
    dropped = (WantedColumn(name, column.name, column.lineage) for name, column in table.dropped_columns())
    return wanted.and_also(column for column in dropped if column.name in asked)


ERROR_METADATA = frozenset({Metadata.OP, Metadata.LOG_FILE, Metadata.LOG_POS})
"""The metadata that is always needed: where a row is, for errors, and whether it is a truncation."""


class Conformer:
    """Brings batches of any schema version of a table into one schema."""

    def __init__(self, target: pa.Schema, newest: SchemaVersion, options: SourceOptions) -> None:
        self._target = target
        self._options = options
        self._wanted = wanted_columns(target, newest, options)
        self._changes = SchemaChanges(newest, self._wanted, options)
        prefix = options.selection.metadata_prefix
        self._metadata = metadata_names(prefix, Metadata)
        self._before = f"{prefix}{BEFORE}"
        self._known: dict[TableSchema, list[tuple[int, Conversion] | None]] = {}

    def conform(self, found: TableBatch) -> pa.RecordBatch:
        """Return a batch in the target schema."""
        steps = self._known.get(found.table)
        if _is_truncation(found):
            version = SchemaVersion(found.table, found.position())
            steps = [self._step(field, found, version, {}) for field in self._target]
        elif steps is None:
            steps = self._known[found.table] = self._steps(found)
        rows = found.batch.num_rows
        arrays = [
            pa.nulls(rows, field.type) if step is None else _converted(found, *step)
            for field, step in zip(self._target, steps, strict=True)
        ]
        for field, array in zip(self._target, arrays, strict=True):
            if not field.nullable and array.null_count:
                position = found.position(array.is_null().index(True).as_py())
                raise SchemaError(f"{field.name} is NULL in a row, but NOT NULL in the schema of the query", position)
        return pa.RecordBatch.from_arrays(arrays, schema=self._target)

    def _steps(self, found: TableBatch) -> list[tuple[int, Conversion] | None]:
        version = SchemaVersion(found.table, found.position())
        self._changes.check_names(version)
        sources = self._wanted.sources(found.table.column_names, found.table.lineage)
        self._changes.check_columns(version, sources)
        self._check_types(found, version, sources)
        return [self._step(field, found, version, sources) for field in self._target]

    def _step(
        self, field: pa.Field, found: TableBatch, version: SchemaVersion, sources: Mapping[str, str]
    ) -> tuple[int, Conversion] | None:
        schema, name = found.batch.schema, self._metadata.get(field.name)
        is_metadata = name is not None or field.name == self._before
        index = schema.get_field_index(field.name if is_metadata else sources.get(field.name, ""))
        if index < 0:
            return None
        have = schema.field(index).type
        if name is Metadata.KEY and {sources.get(part.name) for part in field.type} != {part.name for part in have}:
            return None  # of another key, or of a truncation
        if name is Metadata.KEY or field.name == self._before:
            return index, struct_conversion(
                have,
                field.type,
                sources,
                lambda kind, child: self._conversion(kind, child, version, sources[child.name]),
            )
        if is_metadata:
            step = conversion(have, field.type)
            if step is None:
                raise SchemaError(f"{field.name} is {have}, not {field.type}")
            return index, step
        return index, self._conversion(have, field, version, sources[field.name])

    def _check_types(self, found: TableBatch, version: SchemaVersion, sources: Mapping[str, str]) -> None:
        """Refuse types that cannot become those of the target, all of them in one message."""
        schema = found.batch.schema
        wanted = [(field, sources[field.name]) for field in self._target if field.name in sources]
        conflicts = [
            field
            for field, source in wanted
            if self._find_conversion(schema.field(source).type, field, version, source) is None
        ]
        if conflicts:
            raise self._changes.conflict(version, conflicts)

    def _conversion(self, have: pa.DataType, field: pa.Field, version: SchemaVersion, source: str) -> Conversion:
        step = self._find_conversion(have, field, version, source)
        if step is None:
            raise self._changes.conflict(version, [field])
        return step

    def _find_conversion(
        self, have: pa.DataType, field: pa.Field, version: SchemaVersion, source: str
    ) -> Conversion | None:
        column = _column(version.table, source)
        if have == GEOMETRY and field.type != GEOMETRY and self._options.geometry is not None:
            return geometry_of(self._options.geometry, field.type)
        if field.type == pa.string() and field.name.lower() in self._options.selection.string_columns:
            return as_text(have, column)
        return conversion(have, field.type, column)


def _column(table: TableSchema, name: str) -> Column:
    return table.columns[table.column_names.index(name)]


def _converted(found: TableBatch, index: int, convert: Conversion) -> pa.Array:
    """Return a column in another type. A value that does not fit is an error with the position of its row."""
    array = found.batch.column(index)
    try:
        return convert(array)
    except BinlogError as error:
        raise error.at(found.position(_first_refused(array, convert))) from None


def _first_refused(array: pa.Array, convert: Conversion) -> int:
    for row in range(len(array)):
        try:
            convert(array.slice(row, 1))
        except BinlogError:
            return row
    return 0


def _is_truncation(found: TableBatch) -> bool:
    """Return whether a batch is a truncation, which has no values, whatever the schema of the table is."""
    return bool(found.batch.num_rows == 1 and found.origin(Metadata.OP)[0].as_py() == RowOperation.TRUNCATE)
