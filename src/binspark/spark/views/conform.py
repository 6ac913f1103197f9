"""Rows of any schema version of a table, brought into one schema."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from binspark.columns.metadata_fields import METADATA_NAMES
from binspark.columns.reader import TableBatch
from binspark.columns.types import GEOMETRY
from binspark.documents.conversion import Conversion, as_text, conversion, geometry_of, struct_conversion
from binspark.errors import BinlogError, SchemaError
from binspark.position import Position
from binspark.schema.lineage import WantedColumn, WantedColumns
from binspark.schema.table import TableSchema
from binspark.spark.options import DroppedColumns, SourceOptions
from binspark.spark.plan import SchemaVersion
from binspark.spark.schemas import BEFORE
from binspark.spark.views.schema_changes import SchemaChanges
from binspark.values.column import Column


def wanted_columns(target: pa.Schema, newest: SchemaVersion, options: SourceOptions) -> WantedColumns:
    """Return the columns of a table that a schema has, also in the struct of before images."""
    before = target.get_field_index(BEFORE)
    old = () if before < 0 else tuple(field.name for field in target.field(before).type)
    names = tuple(name for name in target.names if name not in METADATA_NAMES and name != BEFORE)
    table = newest.table
    wanted = WantedColumns.of(dict.fromkeys((*names, *old)), table.column_names, table.lineage)
    if options.dropped_columns is not DroppedColumns.KEEP:
        return wanted
    asked = {column.name for column in wanted.columns}
    dropped = (WantedColumn(name, column.name, column.lineage) for name, column in table.dropped_columns())
    return wanted.and_also(column for column in dropped if column.name in asked)


class Conformer:
    """Brings batches of any schema version of a table into one schema."""

    def __init__(self, target: pa.Schema, newest: SchemaVersion, options: SourceOptions) -> None:
        self._target = target
        self._options = options
        self._wanted = wanted_columns(target, newest, options)
        self._changes = SchemaChanges(newest, self._wanted, options)
        self._known: dict[TableSchema, list[tuple[int, Conversion] | None]] = {}

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
        version = SchemaVersion(found.table, _position(found))
        self._changes.check_names(version)
        sources = self._wanted.sources(found.table.column_names, found.table.lineage)
        self._changes.check_columns(version, sources)
        self._check_types(found, version, sources)
        return [self._step(field, found, version, sources) for field in self._target]

    def _step(
        self, field: pa.Field, found: TableBatch, version: SchemaVersion, sources: Mapping[str, str]
    ) -> tuple[int, Conversion] | None:
        schema = found.batch.schema
        is_metadata = field.name in METADATA_NAMES or field.name == BEFORE
        index = schema.get_field_index(field.name if is_metadata else sources.get(field.name, ""))
        if index < 0:
            return None
        have = schema.field(index).type
        if field.name == BEFORE:
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
        if field.name.lower() in self._options.selection.string_columns:
            return as_text(have, column)
        return conversion(have, field.type, column)


def _column(table: TableSchema, name: str) -> Column:
    return table.columns[table.column_names.index(name)]


def _converted(found: TableBatch, index: int, convert: Conversion) -> pa.Array:
    """Return a column in another type. A value that does not fit is an error with the position of its row."""
    array = found.batch.column(index)
    if found.batch.schema.field(index).name == BEFORE:
        array = _before_images(array, found.batch.column("_op"))
    try:
        return convert(array)
    except BinlogError as error:
        raise error.at(_position(found, _first_refused(array, convert))) from None


def _before_images(array: pa.StructArray, operations: pa.DictionaryArray) -> pa.StructArray:
    """Return before images, NULL where there is none: only an update has one besides its row."""
    others = pc.not_equal(operations.dictionary_decode(), "update")
    return pa.StructArray.from_arrays(array.flatten(), fields=list(array.type), mask=others)


def _first_refused(array: pa.Array, convert: Conversion) -> int:
    for row in range(len(array)):
        try:
            convert(array.slice(row, 1))
        except BinlogError:
            return row
    return 0


def _position(found: TableBatch, row: int = 0) -> Position:
    batch = found.batch
    if not batch.num_rows or "_log_pos" not in batch.schema.names:
        return Position()
    return Position(file=batch.column("_log_file")[row].as_py(), offset=batch.column("_log_pos")[row].as_py())
