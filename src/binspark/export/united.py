"""One schema for all files of a table: columns that were renamed have their newest name, and none is lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from binspark.columns.metadata import Metadata
from binspark.documents.conversion import Conversion, as_text, common_type, conversion, struct_conversion
from binspark.errors import SchemaError
from binspark.schema.lineage import WantedColumn, WantedColumns, free_name
from binspark.schema.table import TableSchema
from binspark.values.column import Column


@dataclass(frozen=True, slots=True)
class FileSchema:
    """The schema of a file: that of its rows when they were written, and that of its columns.

    metadata    the metadata columns, which are the first columns
    has_before  whether the last column is the struct of before images
    """

    table: TableSchema
    schema: pa.Schema
    metadata: tuple[Metadata, ...]
    has_before: bool

    def columns(self) -> Iterator[tuple[str, pa.DataType]]:
        """Yield the columns of the table in the file."""
        for index in range(len(self.metadata), len(self.schema) - self.has_before):
            field = self.schema.field(index)
            yield field.name, field.type

    def origin(self, name: Metadata) -> pa.Field | None:
        """Return the field of a metadata column."""
        return self.schema.field(self.metadata.index(name)) if name in self.metadata else None

    @property
    def before(self) -> pa.Field | None:
        """The field of before images."""
        return self.schema.field(len(self.schema) - 1) if self.has_before else None


class UnitedSchema:
    """The schema that all files of a table are given: of the newest columns, then those that were dropped."""

    def __init__(self, files: Sequence[FileSchema], string_columns: frozenset[str] = frozenset()) -> None:
        files = [file for file in files if file.table.columns] or files  # a truncation may know no columns
        self._newest = files[-1]
        self._table = self._newest.table
        self._string_columns = string_columns
        self._wanted = _all_columns(files)
        types: dict[str, list[pa.DataType]] = {column.name: [] for column in self._wanted.columns}
        for file in files:
            held = dict(file.columns())
            for name, source in self._sources(file).items():
                types[name].append(held[source])
        fields = [pa.field(name, self._type(name, kinds)) for name, kinds in types.items()]
        by_name = {field.name: field for field in fields}
        self._structs: set[str] = set()
        self._metadata: set[str] = set()
        self.schema = pa.schema(self._ordered(files, by_name))

    def conform(self, file: FileSchema, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch of a file with all columns of the table."""
        sources = self._sources(file)
        arrays = []
        for field in self.schema:
            is_metadata = field.name in self._metadata
            index = batch.schema.get_field_index(field.name if is_metadata else sources.get(field.name, ""))
            step = None if index < 0 else self._convert(file, field, sources)
            arrays.append(pa.nulls(batch.num_rows, field.type) if step is None else step(batch.column(index)))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _sources(self, file: FileSchema) -> Mapping[str, str]:
        return self._wanted.sources([name for name, _ in file.columns()], file.table.lineage)

    def _ordered(self, files: Sequence[FileSchema], columns: Mapping[str, pa.Field]) -> Iterator[pa.Field]:
        """Yield the fields: metadata columns, the columns of the table, the struct of before images."""
        with_key = next((file for file in reversed(files) if Metadata.KEY in file.metadata), self._newest)
        for name in with_key.metadata:
            field = with_key.origin(name)
            assert field is not None
            if name is Metadata.KEY:
                spelled = {source: target for target, source in self._sources(with_key).items()}
                parts = [columns[spelled[part.name]] if part.name in spelled else part for part in field.type]
                field = field.with_type(pa.struct(parts))
                self._structs.add(field.name)
            self._metadata.add(field.name)
            yield field
        yield from columns.values()
        before = self._newest.before
        if before is not None:
            self._structs.add(before.name)
            self._metadata.add(before.name)
            yield before.with_type(pa.struct(list(columns.values())))

    def _type(self, name: str, types: list[pa.DataType]) -> pa.DataType:
        united = None if name.lower() in self._string_columns else common_type(types)
        if united is not None:
            return united
        if all(as_text(kind) is not None for kind in types):
            return pa.string()
        listed = " and ".join(str(kind) for kind in dict.fromkeys(types))
        message = f"{self._table.name}.{name} is {listed} in different parts of the logs, which have no type in common"
        raise SchemaError(f"{message}; export them apart, with --start-position and --stop-position")

    def _convert(self, file: FileSchema, field: pa.Field, sources: Mapping[str, str]) -> Conversion | None:
        is_metadata = field.name in self._metadata
        have = file.schema.field(field.name if is_metadata else sources[field.name]).type
        key = file.origin(Metadata.KEY)
        if key is not None and field.name == key.name:
            named = {sources.get(part.name, part.name) for part in field.type}
            if named != {part.name for part in have}:
                return None  # the key was another one then
            sources = {**{part.name: part.name for part in field.type}, **sources}
        if field.name in self._structs:
            return struct_conversion(have, field.type, sources, lambda kind, child: _step(file, kind, child, sources))
        return _step(file, have, field, sources)


def _step(file: FileSchema, have: pa.DataType, field: pa.Field, sources: Mapping[str, str]) -> Conversion:
    column = _column(file.table, sources.get(field.name, ""))
    step = conversion(have, field.type, column) or as_text(have, column)
    assert step is not None  # the type was chosen so
    return step


def _column(table: TableSchema, name: str) -> Column | None:
    names = table.column_names
    return table.columns[names.index(name)] if name in names else None


def _all_columns(files: Sequence[FileSchema]) -> WantedColumns:
    """Return the columns of the newest file, and those that only earlier ones have."""
    newest = files[-1]
    names = [name for name, _ in newest.columns()]
    wanted = WantedColumns.of(names, names, newest.table.lineage)
    for file in reversed(files[:-1]):
        held = [name for name, _ in file.columns()]
        known = set(wanted.sources(held, file.table.lineage).values())
        for name in held:
            if name not in known:
                free = free_name(name, (column.name for column in wanted.columns))
                wanted = wanted.and_also([WantedColumn(free, name.lower(), file.table.lineage)])
    return wanted
