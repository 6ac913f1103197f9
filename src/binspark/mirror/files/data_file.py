"""The data files of a mirrored table, and how they are reached from any process."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from binspark.files.storage.options import Storage

_FIELD_ID = b"PARQUET:field_id"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file of a table: a leaf, if it has all rows between two keys, in their order.

    path         as the target names it
    size         in bytes
    rows         how many rows it has; -1 if the program that wrote the file did not say
    low, high    the keys of the first and the last row, as bytes that sort as keys do (see `mirror.records.keys`); None
                 if another program wrote the file: then its keys have to be read
    row_groups   the keys of the first rows of its row groups: where it can be divided
    footer       its Parquet metadata, in a file that has not been committed yet, as `pyarrow.parquet.read_metadata`
                 reads it: a target takes statistics from it
    """

    path: str
    size: int
    rows: int
    low: bytes | None = None
    high: bytes | None = None
    row_groups: tuple[bytes, ...] = ()
    footer: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class TableDirectory:
    """Where the data files of a table are. It is sent to executors.

    uri          the directory of the table; the paths of data files are relative to it, or absolute URIs
    data         the directory under it, for new files; empty for the same
    storage      how it is reached
    field_ids    the numbers of the columns in the target, which data files of Iceberg contain; those of nested fields
                 too, by their paths: `location.srid`, `tags.element`. See `with_field_ids`
    """

    uri: str
    data: str = ""
    storage: Storage = field(default_factory=Storage)
    field_ids: tuple[tuple[str, int], ...] = ()


def with_field_ids(schema: pa.Schema, field_ids: tuple[tuple[str, int], ...]) -> pa.Schema:
    """Return the schema with which a data file is written: each field has its number, where the target numbers them."""
    if not field_ids:
        return schema
    numbers = dict(field_ids)
    return pa.schema([_numbered(field, field.name, numbers) for field in schema], schema.metadata)


def _numbered(field: pa.Field, path: str, numbers: dict[str, int]) -> pa.Field:
    kind = field.type
    if pa.types.is_struct(kind):
        kind = pa.struct([_numbered(child, f"{path}.{child.name}", numbers) for child in kind])
    elif pa.types.is_list(kind):
        kind = pa.list_(_numbered(kind.value_field, f"{path}.element", numbers))
    return field.with_type(kind).with_metadata({**(field.metadata or {}), _FIELD_ID: str(numbers[path])})
