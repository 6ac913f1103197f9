"""The types of columns as TABLE_MAP lists them: type codes, the metadata that completes each, and their classes."""

from __future__ import annotations

from enum import Enum, IntEnum

from binspark.wire.meaning import Meaning, quantity

MAX_COLUMNS = 4096
"""How many columns a table has at most, on servers of both families."""


class ColumnType(IntEnum):
    """Type codes; 140 and 141 are MariaDB's."""

    DECIMAL = 0
    TINY = 1
    SHORT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    NULL = 6
    TIMESTAMP = 7
    LONGLONG = 8
    INT24 = 9
    DATE = 10
    TIME = 11
    DATETIME = 12
    YEAR = 13
    NEWDATE = 14
    VARCHAR = 15
    BIT = 16
    TIMESTAMP2 = 17
    DATETIME2 = 18
    TIME2 = 19
    TYPED_ARRAY = 20
    BLOB_COMPRESSED = 140
    VARCHAR_COMPRESSED = 141
    VECTOR = 242
    INVALID = 243
    BOOL = 244
    JSON = 245
    NEWDECIMAL = 246
    ENUM = 247
    SET = 248
    TINY_BLOB = 249
    MEDIUM_BLOB = 250
    LONG_BLOB = 251
    BLOB = 252
    VAR_STRING = 253
    STRING = 254
    GEOMETRY = 255


def column_type_name(type_code: int) -> str:
    """Return the name of a column type, `UNKNOWN_n` for a code that is not documented."""
    known = type_code in ColumnType._value2member_map_
    return ColumnType(type_code).name if known else f"UNKNOWN_{type_code}"


_bytes = quantity("byte")


def _value_size(size: int) -> str:
    return f"a value takes {_bytes(size)}"


def _max_length(length: int) -> str:
    return f"at most {_bytes(length)}"


def _length_bytes(count: int) -> str:
    return f"the length of a value takes {_bytes(count)}"


def _fraction(digits: int) -> str:
    return f"fractional seconds of {digits} digits"


def _bit_count(value: int) -> str:
    return f"{(value >> 8) * 8 + (value & 0xFF)} bits"


def _decimal(value: int) -> str:
    return f"precision {value & 0xFF}, scale {value >> 8}"


def _string(value: int) -> str:
    """Spell out the metadata of a STRING: its first byte is the real type, with two bits of the length in it."""
    real_type, length = value & 0xFF, value >> 8
    if real_type in (ColumnType.ENUM, ColumnType.SET):
        return f"{ColumnType(real_type).name}, {_value_size(length)}"
    return f"{column_type_name(real_type | 0x30)}, {_max_length(length | (real_type & 0x30 ^ 0x30) << 4)}"


class TypeMetadata(Enum):
    """The layouts of type metadata: how many bytes a TABLE_MAP has for a column, and what they mean."""

    NONE = (0, None)
    VALUE_SIZE = (1, _value_size)
    """FLOAT, DOUBLE: bytes of a value."""
    MAX_LENGTH = (2, _max_length)
    """VARCHAR: the maximum length of a value in bytes."""
    LENGTH_BYTES = (1, _length_bytes)
    """BLOB and all others with a length before each value: bytes of that length."""
    FRACTION = (1, _fraction)
    """TIME, DATETIME, TIMESTAMP: digits of the fractional seconds."""
    BITS = (2, _bit_count)
    """BIT: bits beyond the full bytes, then full bytes."""
    DECIMAL = (2, _decimal)
    """DECIMAL: precision, then scale."""
    STRING = (2, _string)
    """CHAR, ENUM, SET: the real type, then the length (see `binspark.schema.table_map`)."""
    ELEMENT = (1, None)
    """TYPED_ARRAY: the type of the elements, followed by the metadata of that type (see `element_metadata_length`)."""

    def __init__(self, length: int, meaning: Meaning) -> None:
        self.length = length
        self.meaning = meaning


TYPE_METADATA: dict[int, TypeMetadata] = {
    ColumnType.FLOAT: TypeMetadata.VALUE_SIZE,
    ColumnType.DOUBLE: TypeMetadata.VALUE_SIZE,
    ColumnType.VARCHAR: TypeMetadata.MAX_LENGTH,
    ColumnType.BIT: TypeMetadata.BITS,
    ColumnType.TIMESTAMP2: TypeMetadata.FRACTION,
    ColumnType.DATETIME2: TypeMetadata.FRACTION,
    ColumnType.TIME2: TypeMetadata.FRACTION,
    ColumnType.TYPED_ARRAY: TypeMetadata.ELEMENT,
    ColumnType.BLOB_COMPRESSED: TypeMetadata.LENGTH_BYTES,
    ColumnType.VARCHAR_COMPRESSED: TypeMetadata.MAX_LENGTH,
    ColumnType.VECTOR: TypeMetadata.LENGTH_BYTES,
    ColumnType.JSON: TypeMetadata.LENGTH_BYTES,
    ColumnType.NEWDECIMAL: TypeMetadata.DECIMAL,
    ColumnType.ENUM: TypeMetadata.STRING,
    ColumnType.SET: TypeMetadata.STRING,
    ColumnType.TINY_BLOB: TypeMetadata.LENGTH_BYTES,
    ColumnType.MEDIUM_BLOB: TypeMetadata.LENGTH_BYTES,
    ColumnType.LONG_BLOB: TypeMetadata.LENGTH_BYTES,
    ColumnType.BLOB: TypeMetadata.LENGTH_BYTES,
    ColumnType.VAR_STRING: TypeMetadata.STRING,
    ColumnType.STRING: TypeMetadata.STRING,
    ColumnType.GEOMETRY: TypeMetadata.LENGTH_BYTES,
}
"""The layout of each type's metadata; types that are not here have none."""


def type_metadata(type_code: int) -> TypeMetadata:
    """Return the layout of a type's metadata."""
    return TYPE_METADATA.get(type_code, TypeMetadata.NONE)


_ARRAY_OF_VARCHAR = 3


def element_metadata_length(type_code: int) -> int:
    """Return how many bytes of metadata the elements of a TYPED_ARRAY have: of VARCHAR, the length takes three."""
    return _ARRAY_OF_VARCHAR if type_code == ColumnType.VARCHAR else type_metadata(type_code).length


NUMERIC_TYPES = frozenset(
    {
        ColumnType.TINY,
        ColumnType.SHORT,
        ColumnType.INT24,
        ColumnType.LONG,
        ColumnType.LONGLONG,
        ColumnType.NEWDECIMAL,
        ColumnType.FLOAT,
        ColumnType.DOUBLE,
        ColumnType.YEAR,
    }
)
"""Types for which the optional metadata has a sign."""

CHARACTER_TYPES = frozenset(
    {
        ColumnType.STRING,
        ColumnType.VARCHAR,
        ColumnType.BLOB,
        ColumnType.TINY_BLOB,
        ColumnType.MEDIUM_BLOB,
        ColumnType.LONG_BLOB,
        ColumnType.VARCHAR_COMPRESSED,
        ColumnType.BLOB_COMPRESSED,
    }
)
"""Types for which the optional metadata has a collation."""

MEMBER_TYPES = frozenset({ColumnType.ENUM, ColumnType.SET})
"""Types for which the optional metadata has members, and a collation in lists of their own."""

# The families count columns for their lists of collations by different rules, and each counts one type that has none.
COUNTED_FOR_COLLATIONS_BY_MYSQL = CHARACTER_TYPES | {ColumnType.VECTOR}
COUNTED_FOR_COLLATIONS_BY_MARIADB = CHARACTER_TYPES | {ColumnType.GEOMETRY}
