"""Text and bytes: CHAR, VARCHAR, BINARY, VARBINARY and the TEXT and BLOB families.

A value is a length and that many bytes. The length takes one byte where a column's values have at most 255 bytes, else
two; a TEXT or BLOB column says how many it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from uuid import UUID

from binspark.errors import Malformed
from binspark.position import Position
from binspark.values.column import BINARY_COLLATION, Column
from binspark.values.options import ValueOptions
from binspark.values.text import text_or_policy
from binspark.wire import Cursor

_MAPPED = bytes(10) + b"\xff\xff"
_COMPATIBLE = bytes(12)


def notation_of(raw: bytes, notation: str) -> str:
    """Return the text of a value that has a notation of its own."""
    return _NOTATIONS[notation](raw)


def _inet6(raw: bytes) -> str:
    """Write an IPv6 address; one that stands for an IPv4 address ends like that."""
    if raw[:12] == _MAPPED:
        return f"::ffff:{IPv4Address(raw[12:])}"
    if raw[:12] == _COMPATIBLE and raw[12:14] != b"\0\0":
        return f"::{IPv4Address(raw[12:])}"
    return str(IPv6Address(raw))


_NOTATIONS: dict[str, Callable[[bytes], str]] = {
    "inet4": lambda raw: str(IPv4Address(raw)),
    "inet6": _inet6,
    "uuid": lambda raw: str(UUID(bytes=raw)),
}


_MOST_FOR_ONE_BYTE = 255


def decode_string(cursor: Cursor, column: Column, options: ValueOptions) -> str | bytes:
    """Decode CHAR and BINARY.

    The log leaves out the padding: spaces behind a CHAR, which a server does not show either, and zero bytes behind a
    BINARY, which are part of its value and are put back.
    """
    start = cursor.offset
    raw = read_limited(cursor, column)
    if column.collation == BINARY_COLLATION:
        whole = raw.ljust(column.length, b"\0")
        return whole if column.notation is None else notation_of(whole, column.notation)
    return text_or_policy(raw, column, options, start)


def decode_varchar(cursor: Cursor, column: Column, options: ValueOptions) -> str | bytes:
    """Decode VARCHAR and VARBINARY."""
    start = cursor.offset
    return text_or_policy(read_limited(cursor, column), column, options, start)


def decode_blob(cursor: Cursor, column: Column, options: ValueOptions) -> str | bytes:
    """Decode the TEXT and BLOB families."""
    start = cursor.offset
    return text_or_policy(read_sized(cursor, column), column, options, start)


def read_limited(cursor: Cursor, column: Column) -> bytes:
    """Read the bytes of a value of a column with a greatest length.

    bytes   field
    1       length; 2 bytes where the column's values can be longer than 255 bytes
    n       value
    """
    start = cursor.offset
    length = cursor.uint("length", 1 if column.length <= _MOST_FOR_ONE_BYTE else 2)
    raw = cursor.raw("value", length)
    if length > column.length:
        raise Malformed(f"a value of {length} bytes in a column of {column.length}", Position(offset=start))
    return raw


def read_sized(cursor: Cursor, column: Column) -> bytes:
    """Read the bytes of a value behind a length of as many bytes as the column says.

    bytes   field
    1-4     length
    n       value
    """
    return cursor.raw("value", cursor.uint("length", column.length))
