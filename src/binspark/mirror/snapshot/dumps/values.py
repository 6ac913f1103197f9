r"""Values of INSERT statements, as a server sends them in the binary protocol.

'text'            with \0 \b \n \r \t \Z and any other character after a backslash; '' is one quote
_binary 'bytes'   likewise
0x00ff, x'00ff'   bytes
b'0101'           bits
NULL, -1.5e3      without quotes
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace

from binspark.columns.result_forms import result_form
from binspark.errors import Malformed, SchemaError
from binspark.event.column_types import ColumnType as T
from binspark.schema.table import TableSchema
from binspark.values.column import BINARY_COLLATION, Column

Value = bytes | None
"""The text or bytes of a value; None for NULL."""

_VALUE = re.compile(
    rb"""\s*(?:(?:_\w+\s*)?'([^'\\]*(?:(?:\\.|'')[^'\\]*)*)'"""
    rb"""|(?:0x|0X)([0-9A-Fa-f]*)|[xX]'([0-9A-Fa-f]*)'|[bB]'([01]*)'|(NULL|null)|([-+0-9.eE]+))\s*([,)])""",
    re.DOTALL,
)
_ROW_START = re.compile(rb"\s*,?\s*\(")
_ESCAPED = re.compile(rb"\\(.)|''", re.DOTALL)
_ESCAPES = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a"}
_UTF8MB4 = 45
_ANY_LENGTH = 4
_TEXT_TYPES = frozenset({T.STRING, T.VARCHAR, T.VAR_STRING, T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB})
_COMPRESSED = frozenset({T.BLOB_COMPRESSED, T.VARCHAR_COMPRESSED})
_DATE = re.compile(rb"(\d+)-(\d+)-(\d+)(?:[ T](\d+):(\d+):(\d+)(?:\.(\d+))?)?")
_TIME = re.compile(rb"(-?)(\d+):(\d+):(\d+)(?:\.(\d+))?")
_FRACTION = 6
_SHORT, _MEDIUM, _LONG = 0xFB, 1 << 16, 1 << 24
_BITS_OF_NULLS = 9  # seven to round up, and two before the first column


def parse_rows(statement: bytes, start: int, columns: int) -> list[list[Value]]:
    """Return the rows of an INSERT statement, from the offset after VALUES on."""
    rows: list[list[Value]] = []
    while (opened := _ROW_START.match(statement, start)) is not None:
        row: list[Value] = []
        start = opened.end()
        while True:
            found = _VALUE.match(statement, start)
            if found is None:
                near = statement[start : start + 40].decode("utf-8", "replace")
                raise Malformed(f"not a value of an INSERT statement: {near!r}")
            row.append(_value(found))
            start = found.end()
            if found[7] == b")":
                break
        if len(row) != columns:
            raise Malformed(f"a row of an INSERT statement has {len(row)} values, expected {columns}")
        rows.append(row)
    return rows


def _value(found: re.Match[bytes]) -> Value:
    text, digits, more_digits, bits, null, plain = found.groups()[:6]
    if text is not None:
        return _ESCAPED.sub(_unescaped, text) if b"\\" in text or b"''" in text else text
    if plain is not None:
        return plain
    if null is not None:
        return None
    if bits is not None:
        return int(bits or b"0", 2).to_bytes((len(bits) + 7) // 8, "big")
    return bytes.fromhex((digits if digits is not None else more_digits).decode())


def _unescaped(found: re.Match[bytes]) -> bytes:
    escaped = found[1]
    return b"'" if escaped is None else _ESCAPES.get(escaped, escaped)


# --- As a server sends them -------------------------------------------------------------------------------------------


def dumped_schema(table: TableSchema, *, converted: bool) -> TableSchema:
    """Return a table with text as it is in a dump: `converted` to UTF-8, or in the character sets of its columns."""
    return replace(table, columns=tuple(_dumped(column, converted=converted) for column in table.columns))


def sent_types(table: TableSchema) -> list[int]:
    """Return the types under which the values of a dump are sent."""
    forms = [result_form(column) for column in table.columns]
    return [T.LONGLONG if T.LONGLONG in form.sent else min(form.sent) for form in forms]


class RowEncoder:
    """Encodes rows as a server sends them."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = [(column.name, _encoder(column)) for column in columns]
        self._nulls = (len(columns) + _BITS_OF_NULLS) // 8

    def encode(self, row: Sequence[Value]) -> bytes:
        """Return the payload of a packet with a row."""
        nulls, parts = 0, [b""]
        for index, (value, (name, encode)) in enumerate(zip(row, self._columns, strict=True)):
            if value is None:
                nulls |= 4 << index
                continue
            try:
                parts.append(encode(value))
            except (ValueError, struct.error, OverflowError):
                shown = value[:40].decode("utf-8", "replace")
                raise Malformed(f"{shown!r} is not a value of column {name}") from None
        parts[0] = b"\0" + nulls.to_bytes(self._nulls, "little")
        return b"".join(parts)


def _dumped(column: Column, *, converted: bool) -> Column:
    is_text = converted and column.collation != BINARY_COLLATION
    if (column.type in _TEXT_TYPES and is_text) or column.notation is not None:
        return replace(column, type=T.LONG_BLOB, length=_ANY_LENGTH, collation=_UTF8MB4, notation=None)
    if column.type in _COMPRESSED and is_text:
        return replace(column, collation=_UTF8MB4)
    return column


Encoder = Callable[[bytes], bytes]


def _encoder(column: Column) -> Encoder:
    kind = column.type
    if kind in _SIZES:
        size = _SIZES[kind]
        return lambda value: int(value).to_bytes(size, "little", signed=not column.unsigned)
    if kind == T.ENUM:
        return _enum(column)
    if kind == T.SET:
        return _set(column)
    if kind == T.BIT:
        return lambda value: _counted(_bits(value, column))
    return _ENCODERS.get(kind, _counted)


def _counted(value: bytes) -> bytes:
    """Return bytes after their length."""
    length = len(value)
    if length < _SHORT:
        return bytes((length,)) + value
    if length < _MEDIUM:
        return b"\xfc" + length.to_bytes(2, "little") + value
    if length < _LONG:
        return b"\xfd" + length.to_bytes(3, "little") + value
    return b"\xfe" + length.to_bytes(8, "little") + value


def _bits(value: bytes, column: Column) -> bytes:
    """Return BIT, which is written as bytes, or as a number by other programs."""
    size = (column.length + 7) // 8
    return value if len(value) <= size else int(value).to_bytes(size, "big")


def _members(column: Column) -> list[bytes]:
    if column.members is None:
        raise SchemaError(f"the members of column {column.name} are not known")
    return [member.encode() for member in column.members]


def _enum(column: Column) -> Encoder:
    numbers = {member: number for number, member in reversed(list(enumerate(_members(column), 1)))}
    numbers.setdefault(b"", 0)
    return lambda value: _word(_found(numbers, value))


def _set(column: Column) -> Encoder:
    bits = {member: 1 << number for number, member in enumerate(_members(column))}
    return lambda value: _word(sum(_found(bits, member) for member in value.split(b",")) if value else 0)


def _found(numbers: dict[bytes, int], member: bytes) -> int:
    if member not in numbers:
        raise ValueError(member)
    return numbers[member]


def _word(number: int) -> bytes:
    return number.to_bytes(8, "little")


def _moment(value: bytes) -> bytes:
    found = _DATE.fullmatch(value)
    if found is None:
        raise ValueError(value)
    *numbers, fraction = found.groups(b"0")
    parts = (*map(int, numbers), int(fraction.ljust(_FRACTION, b"0")))
    return b"\x0b" + struct.pack("<HBBBBBI", *parts) if any(parts) else b"\0"


def _time(value: bytes) -> bytes:
    found = _TIME.fullmatch(value)
    if found is None:
        raise ValueError(value)
    hours, fraction = int(found[2]), (found[5] or b"").ljust(_FRACTION, b"0")
    packed = (found[1] == b"-", hours // 24, hours % 24, int(found[3]), int(found[4]), int(fraction))
    return b"\x0c" + struct.pack("<?IBBBI", *packed)


_SIZES: dict[int, int] = {T.TINY: 1, T.SHORT: 2, T.INT24: 4, T.LONG: 4, T.LONGLONG: 8}
_ENCODERS: dict[int, Encoder] = {
    T.FLOAT: lambda value: struct.pack("<f", float(value)),
    T.DOUBLE: lambda value: struct.pack("<d", float(value)),
    T.YEAR: lambda value: int(value).to_bytes(2, "little"),
    **dict.fromkeys((T.DATE, T.NEWDATE, T.DATETIME, T.DATETIME2, T.TIMESTAMP, T.TIMESTAMP2), _moment),
    **dict.fromkeys((T.TIME, T.TIME2), _time),
}
