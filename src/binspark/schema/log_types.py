"""Types as a TABLE_MAP writes them, a code and a number, into columns."""

from __future__ import annotations

from collections.abc import Callable

from binspark.errors import Malformed, SchemaError, Unsupported
from binspark.event.column_types import ColumnType, column_type_name
from binspark.values.check import check_column
from binspark.values.column import Column

_LONGEST_LENGTH_FIELD = 4
_LENGTH_BITS = 0x30
_BYTE = 0xFF


def column_of(type_code: int, metadata: int, nullable: bool) -> Column:
    """Return what a type code and its metadata (little-endian, as it stands in the log) say about a column."""
    if type_code not in ColumnType._value2member_map_:
        raise Unsupported(f"{column_type_name(type_code)} is not a type of column that is known")
    column = _READERS.get(type_code, _plain)(ColumnType(type_code), metadata, nullable)
    try:
        check_column(column)
    except SchemaError as error:
        raise Malformed(f"the type metadata 0x{metadata:x} describes {error.message}") from None
    return column


def _plain(kind: ColumnType, _metadata: int, nullable: bool) -> Column:
    return Column(kind, nullable=nullable)


def _length(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    """VARCHAR: the most bytes of a value. BLOB and its kin: bytes of the length field. FLOAT, DOUBLE: bytes."""
    return Column(kind, length=metadata, nullable=nullable)


def _fraction(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    return Column(kind, scale=metadata, nullable=nullable)


def _floating(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    size = 4 if kind is ColumnType.FLOAT else 8
    if metadata != size:
        raise Malformed(f"a {kind.name} of {metadata} bytes instead of {size}")
    return Column(kind, length=size, nullable=nullable)


def _bits(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    """BIT: bits beyond the whole bytes, then whole bytes."""
    return Column(kind, length=(metadata & _BYTE) + 8 * (metadata >> 8), nullable=nullable)


def _decimal(kind: ColumnType, metadata: int, nullable: bool) -> Column:
    """NEWDECIMAL: digits in all, then digits after the point."""
    return Column(kind, precision=metadata & _BYTE, scale=metadata >> 8, nullable=nullable)


def _string(_kind: ColumnType, metadata: int, nullable: bool) -> Column:
    """STRING: the real type, then the length, whose bits 8 and 9 are hidden in the type's byte, turned over.

    byte  bits  field
    0     0x30  bits 8 and 9 of the length, inverted: 11 for a length below 256
    0     rest  STRING, ENUM or SET, all of which have both of these bits set
    1     all   bits 0-7 of the length
    """
    first, second = metadata & _BYTE, metadata >> 8
    if not first:  # pre-releases of 5.1 wrote the length alone
        return Column(ColumnType.STRING, length=second, nullable=nullable)
    real_type = first | _LENGTH_BITS
    length = second | (first & _LENGTH_BITS ^ _LENGTH_BITS) << 4
    if real_type in (ColumnType.ENUM, ColumnType.SET):
        return Column(ColumnType(real_type), length=length, nullable=nullable)
    if real_type in (ColumnType.STRING, ColumnType.VAR_STRING):
        return Column(ColumnType.STRING, length=length, nullable=nullable)
    raise Malformed(f"a STRING whose real type is {column_type_name(real_type)}")


def _typed_array(kind: ColumnType, _metadata: int, nullable: bool) -> Column:
    """TYPED_ARRAY: stored as JSON is, whatever its elements are."""
    return Column(kind, length=_LONGEST_LENGTH_FIELD, nullable=nullable)


_READERS: dict[int, Callable[[ColumnType, int, bool], Column]] = {
    ColumnType.FLOAT: _floating,
    ColumnType.DOUBLE: _floating,
    ColumnType.VARCHAR: _length,
    ColumnType.VARCHAR_COMPRESSED: _length,
    ColumnType.BLOB: _length,
    ColumnType.TINY_BLOB: _length,
    ColumnType.MEDIUM_BLOB: _length,
    ColumnType.LONG_BLOB: _length,
    ColumnType.BLOB_COMPRESSED: _length,
    ColumnType.JSON: _length,
    ColumnType.GEOMETRY: _length,
    ColumnType.VECTOR: _length,
    ColumnType.TIME2: _fraction,
    ColumnType.DATETIME2: _fraction,
    ColumnType.TIMESTAMP2: _fraction,
    ColumnType.BIT: _bits,
    ColumnType.NEWDECIMAL: _decimal,
    ColumnType.STRING: _string,
    ColumnType.VAR_STRING: _string,
    ColumnType.ENUM: _string,
    ColumnType.SET: _string,
    ColumnType.TYPED_ARRAY: _typed_array,
}
