"""Rows of any schema version of a table, brought into one schema."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import pyarrow as pa

from binspark.columns.metadata_fields import BEFORE, Metadata
from binspark.columns.reader import TableBatch
from binspark.columns.types import GEOMETRY, ColumnOptions, form_of
from binspark.documents.conversion import Conversion, conversion, geometry_of
from binspark.errors import BinlogError, SchemaError
from binspark.event.column_types import ColumnType
from binspark.files.sources import log_order
from binspark.position import Position
from binspark.schema.table import TableSchema
from binspark.spark.options import SchemaEvolution, SourceOptions
from binspark.spark.plan import SchemaVersion
from binspark.spark.table_schemas import describe_version

ERROR_METADATA = frozenset({Metadata.LOG_FILE, Metadata.LOG_POS})
"""The metadata that errors need: where a row is."""


class Conformer:
    """Brings batches of any schema version of a table into one schema."""

    def __init__(self, target: pa.Schema, newest: SchemaVersion, options: SourceOptions) -> None:
        self._target = target
        self._newest = newest
        self._options = options
        self._known: dict[TableSchema, list[tuple[int, Conversion] | None]] = {}

    @cached_property
    def _unnamed(self) -> bool:
        return any(column.name is None for column in self._newest.table.columns)

    def conform(self, found: TableBatch) -> pa.RecordBatch:
        """Return a batch in the target schema."""
        steps = self._known.get(found.table)
        if steps is None:
            steps = self._known[found.table] = self._steps(found)
        rows = found.batch.num_rows
        arrays = [
            pa.nulls(rows, field.type) if step is None else _converted(found, *step)
            for field, step in zip(self._target, steps, strict=True)
        ]
        for field, array in zip(self._target, arrays, strict=True):
            if not field.nullable and array.null_count:
                position = _position(found, array.is_null().index(True).as_py())
                raise SchemaError(f"{field.name} is NULL in a row, but NOT NULL in the schema of the query", position)
        return pa.RecordBatch.from_arrays(arrays, schema=self._target)

    def _steps(self, found: TableBatch) -> list[tuple[int, Conversion] | None]:
        if found.table.columns:  # a truncation has none if the schema of the table is not known
            self._check_names(found)
        if found.table.columns and self._options.streaming:
            self._check_stream(found)
        names, prefix = found.batch.schema.names, self._options.selection.metadata_prefix
        types = {name: column.type for name, column in zip(found.table.column_names, found.table.columns, strict=True)}
        steps: list[tuple[int, Conversion] | None] = []
        for field in self._target:
            if field.name not in names:
                steps.append(None)
                continue
            index = names.index(field.name)
            have = found.batch.schema.field(index).type
            if field.name in (f"{prefix}{BEFORE}", f"{prefix}{Metadata.KEY}"):
                step = self._struct_conversion(have, field.type, types)
            else:
                step = self._conversion(have, field.type, types.get(field.name))
            if step is None:
                raise self._irreconcilable(found, f"{field.name} cannot become {field.type}")
            steps.append((index, step))
        return steps

    def _conversion(self, have: pa.DataType, want: pa.DataType, column_type: int | None) -> Conversion | None:
        if have == GEOMETRY and want != GEOMETRY and self._options.geometry is not None:
            return geometry_of(self._options.geometry, want)
        return conversion(have, want, is_json=column_type == ColumnType.JSON)

    def _struct_conversion(self, have: pa.DataType, want: pa.DataType, types: Mapping[str, int]) -> Conversion | None:
        """Convert before images and keys field by field; fields that they do not have are null."""
        steps: list[Conversion | None] = []
        for field in want:
            index = have.get_field_index(field.name)
            step = None if index < 0 else self._conversion(have.field(index).type, field.type, types.get(field.name))
            if index >= 0 and step is None:
                return None
            steps.append(step)

        def convert(array: pa.Array) -> pa.Array:
            children = [
                pa.nulls(len(array), field.type) if step is None else step(array.field(field.name))
                for field, step in zip(want, steps, strict=True)
            ]
            return pa.StructArray.from_arrays(children, fields=list(want), mask=array.is_null())

        return convert

    def _check_names(self, found: TableBatch) -> None:
        """Refuse to guess which column is which where names are not known and schema versions differ."""
        unnamed = self._unnamed or any(column.name is None for column in found.table.columns)
        if unnamed and found.table.columns != self._newest.table.columns:
            raise self._irreconcilable(found, "the names of the columns are not known; schemaFile can supply them")

    def _check_stream(self, found: TableBatch) -> None:
        """Stop a stream whose table changed: rows of a newer schema version would lose columns without notice."""
        if _columns(found.table) == _columns(self._newest.table):
            return
        older = SchemaVersion(found.table, _position(found))
        how = "set schemaEvolution=restart to continue with the new schema after a restart"
        if self._options.schema_evolution is SchemaEvolution.RESTART:
            if _order(older.position) < _order(self._newest.position):
                return
            how = "restart it, and it continues from the same offset with the new schema"
        changed = f"{describe_version(older)}; the query began with {describe_version(self._newest)}"
        raise SchemaError(f"the table changed while the query was running: {changed}. {how}", older.position)

    def _irreconcilable(self, found: TableBatch, why: str) -> SchemaError:
        older = SchemaVersion(found.table, _position(found))
        versions = f"{describe_version(older)} and {describe_version(self._newest)}"
        return SchemaError(f"rows of one schema version do not fit another: {why}. {versions}", older.position)


def _columns(table: TableSchema) -> list[tuple[str, pa.DataType]]:
    types = [form_of(column, ColumnOptions()).type for column in table.columns]
    return list(zip(table.column_names, types, strict=True))


def _order(position: Position) -> tuple[tuple[str, int], int]:
    return log_order((position.file or "").rpartition("/")[2]), position.offset or 0


def _converted(found: TableBatch, index: int, convert: Conversion) -> pa.Array:
    """Return a column in another type. A value that does not fit is an error with the position of its row."""
    array = found.batch.column(index)
    try:
        return convert(array)
    except BinlogError as error:
        raise error.at(_position(found, _first_refused(array, convert))) from None


def _first_refused(array: pa.Array, convert: Conversion) -> int:
    for row in range(len(array)):
        try:
            convert(array.slice(row, 1))
        except BinlogError:
            return row
    return 0


def _position(found: TableBatch, row: int = 0) -> Position:
    if not found.batch.num_rows or not ERROR_METADATA.issubset(found.metadata):
        return Position()
    file, offset = (found.origin(name)[row].as_py() for name in (Metadata.LOG_FILE, Metadata.LOG_POS))
    return Position(file=file, offset=offset)
