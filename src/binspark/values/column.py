"""The description of a column that decoders of its values need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from binspark.errors import SchemaError
from binspark.event.column_types import TYPE_METADATA, ColumnType, TypeMetadata, column_type_name
from binspark.event.column_types import ColumnType as T
from binspark.wire.decimals import MAX_PRECISION, MAX_SCALE

_LENGTHS_BY_METADATA = {
    TypeMetadata.MAX_LENGTH: range(1 << 16),
    TypeMetadata.LENGTH_BYTES: range(1, 5),
    TypeMetadata.BITS: range(1, 65),
}
_LENGTHS: dict[int, range | tuple[int, ...]] = {
    **{
        kind: _LENGTHS_BY_METADATA[metadata]
        for kind, metadata in TYPE_METADATA.items()
        if metadata in _LENGTHS_BY_METADATA
    },
    T.ENUM: (1, 2),
    T.SET: (1, 2, 3, 4, 8),
    T.DECIMAL: range(256),
    T.STRING: range(1024),
    T.VAR_STRING: range(1 << 16),
}
# MariaDB stores fractions under the old type codes too.
_WITH_FRACTION = frozenset(
    (
        *(kind for kind, metadata in TYPE_METADATA.items() if metadata is TypeMetadata.FRACTION),
        *(T.TIME, T.DATETIME, T.TIMESTAMP),
    )
)
_MAX_FRACTION = 6


@lru_cache(maxsize=4096)
def check_column(column: Column) -> None:
    """Raise `SchemaError` for a column whose description is not valid for its type."""
    if column.type not in T._value2member_map_:
        raise SchemaError(f"unknown column type {column_type_name(column.type)}")
    if column.type in _LENGTHS and column.length not in _LENGTHS[column.type]:
        raise SchemaError(f"invalid length {column.length} of type {column_type_name(column.type)}")
    if column.type in _WITH_FRACTION and not 0 <= column.scale <= _MAX_FRACTION:
        raise SchemaError(f"invalid fractional seconds of {column.scale} digits, expected 0 to {_MAX_FRACTION}")
    if column.type == T.NEWDECIMAL and not _is_decimal(column.precision, column.scale):
        raise SchemaError(f"invalid type DECIMAL({column.precision},{column.scale})")


def _is_decimal(precision: int, scale: int) -> bool:
    return 1 <= precision <= MAX_PRECISION and 0 <= scale <= min(precision, MAX_SCALE)


BINARY_COLLATION = 63


DOCUMENT_TYPES = (ColumnType.JSON, ColumnType.TYPED_ARRAY)
"""Types whose values are JSON documents."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table at the position of a rows event. None means that it is not known.

    type        the real type: ENUM and SET are distinguished from STRING, whichever type code the log has
    length      CHAR, VARCHAR: maximum bytes of a value; BLOB, TEXT, JSON, TYPED_ARRAY, GEOMETRY, VECTOR: bytes of the
                length field;
                ENUM, SET: bytes of the number; BIT: bits; FLOAT, DOUBLE: bytes; DECIMAL of tables created before
                5.0.3: characters, 0 if not known; else 0
    precision   DECIMAL: number of digits
    scale       DECIMAL: digits after the decimal point; TIME, DATETIME, TIMESTAMP: digits of the fractional seconds
    nullable    whether the column can be NULL
    unsigned    of a number; in neither the log nor the schema history: None
    collation   of text, ENUM and SET; 63 is binary
    members     of an ENUM or SET, as text
    name        shown as @1, @2, ... if not known
    notation    the text form of MariaDB's types INET4, INET6 and UUID, which the log stores as BINARY: only a schema
                has it
    generated   whether the server computes the values, so that no statement may set them: only a schema has it
    row_end     whether MariaDB writes there when a row of a versioned table ended (AS ROW END): only a schema has it
    """

    type: ColumnType
    length: int = 0
    precision: int = 0
    scale: int = 0
    nullable: bool = True
    unsigned: bool | None = None
    collation: int | None = None
    members: tuple[str, ...] | None = None
    name: str | None = None
    visible: bool = True
    geometry_type: int | None = None
    dimensions: int | None = None
    notation: str | None = None
    generated: bool = False
    row_end: bool = False

    @property
    def is_document(self) -> bool:
        """Whether values are JSON documents: of JSON, and of the hidden column of a multi-valued index."""
        return self.type in DOCUMENT_TYPES
