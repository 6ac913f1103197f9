"""The type codes of columns as TABLE_MAP lists them, and how much each adds to the type metadata."""

from __future__ import annotations

from enum import IntEnum

from binspark.wire.meaning import quantity, type_of_meaning


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


METADATA_LENGTHS: dict[int, int] = {
    ColumnType.FLOAT: 1,
    ColumnType.DOUBLE: 1,
    ColumnType.VARCHAR: 2,
    ColumnType.BIT: 2,
    ColumnType.TIMESTAMP2: 1,
    ColumnType.DATETIME2: 1,
    ColumnType.TIME2: 1,
    ColumnType.BLOB_COMPRESSED: 1,
    ColumnType.VARCHAR_COMPRESSED: 2,
    ColumnType.VECTOR: 1,
    ColumnType.JSON: 1,
    ColumnType.NEWDECIMAL: 2,
    ColumnType.ENUM: 2,
    ColumnType.SET: 2,
    ColumnType.TINY_BLOB: 1,
    ColumnType.MEDIUM_BLOB: 1,
    ColumnType.LONG_BLOB: 1,
    ColumnType.BLOB: 1,
    ColumnType.VAR_STRING: 2,
    ColumnType.STRING: 2,
    ColumnType.GEOMETRY: 1,
}


def column_type_name(type_code: int) -> str:
    """Return the name of a column type, `UNKNOWN_n` for one that nobody documented."""
    known = type_code in ColumnType._value2member_map_
    return ColumnType(type_code).name if known else f"UNKNOWN_{type_code}"


_bytes = quantity("byte")


def _fraction(digits: int) -> str:
    return f"{digits} digits of a second's fraction"


def _longest(length: int) -> str:
    return f"at most {_bytes(length)}"


def _length_bytes(count: int) -> str:
    return f"the length of a value takes {_bytes(count)}"


def _value_bytes(count: int) -> str:
    return f"a value takes {_bytes(count)}"


def _bit_count(value: int) -> str:
    return f"{(value >> 8) * 8 + (value & 0xFF)} bits"


def _digits(value: int) -> str:
    return f"{value & 0xFF} digits, {value >> 8} of them behind the point"


def _string(value: int) -> str:
    """Say what a STRING really is: its type is the first byte, but two bits of that belong to the length."""
    real_type, length = value & 0xFF, value >> 8
    if real_type in (ColumnType.ENUM, ColumnType.SET):
        return f"{ColumnType(real_type).name}, {_value_bytes(length)}"
    return f"{column_type_name(real_type | 0x30)}, {_longest(length | (real_type & 0x30 ^ 0x30) << 4)}"


METADATA_MEANINGS: dict[int, type_of_meaning] = {
    ColumnType.FLOAT: _value_bytes,
    ColumnType.DOUBLE: _value_bytes,
    ColumnType.VARCHAR: _longest,
    ColumnType.VAR_STRING: _string,
    ColumnType.STRING: _string,
    ColumnType.VARCHAR_COMPRESSED: _longest,
    ColumnType.BIT: _bit_count,
    ColumnType.NEWDECIMAL: _digits,
    ColumnType.TIMESTAMP2: _fraction,
    ColumnType.DATETIME2: _fraction,
    ColumnType.TIME2: _fraction,
    ColumnType.BLOB: _length_bytes,
    ColumnType.BLOB_COMPRESSED: _length_bytes,
    ColumnType.JSON: _length_bytes,
    ColumnType.GEOMETRY: _length_bytes,
    ColumnType.VECTOR: _length_bytes,
}
"""What the type metadata of a column says, for people."""
