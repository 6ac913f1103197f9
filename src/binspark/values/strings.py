"""Text and bytes: CHAR, VARCHAR, BINARY, VARBINARY and the TEXT and BLOB families.

A value is a length and bytes. The length has one byte if the values of the column have at most 255 bytes, else two; for
a TEXT or BLOB column the type metadata has the number of its bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address
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
    """Return the text of a value of MariaDB's types INET4, INET6 and UUID."""
    return _NOTATIONS[notation](raw)


def _inet6(raw: bytes) -> str:
    """Return an IPv6 address as MariaDB prints it: the embedded IPv4 address in dotted form."""
    if raw[:12] == _MAPPED:
        return f"::ffff:{IPv4Address(raw[12:])}"
    if raw[:12] == _COMPATIBLE and raw[12:14] != b"\0\0":
        return f"::{IPv4Address(raw[12:])}"
    words = [f"{raw[at] << 8 | raw[at + 1]:x}" for at in range(0, len(raw), 2)]
    start, length = _longest_zeros(words)
    if not length:
        return ":".join(words)
    return f"{':'.join(words[:start])}::{':'.join(words[start + length :])}"


def _longest_zeros(words: list[str]) -> tuple[int, int]:
    """Return the first of the longest runs of zeros; unlike others, MariaDB also omits a single one."""
    best, run = (0, 0), 0
    for at, word in enumerate(words):
        run = run + 1 if word == "0" else 0
        if run > best[1]:
            best = (at - run + 1, run)
    return best


_NOTATIONS: dict[str, Callable[[bytes], str]] = {
    "inet4": lambda raw: str(IPv4Address(raw)),
    "inet6": _inet6,
    "uuid": lambda raw: str(UUID(bytes=raw)),
}


_MAX_FOR_ONE_BYTE = 255


def decode_string(cursor: Cursor, column: Column, options: ValueOptions) -> str | bytes:
    """Decode CHAR and BINARY.

    The log does not contain the padding: spaces after a CHAR, which a server does not show either, and zero bytes after
    a BINARY, which are part of its value and are added here.
    """
    start = cursor.offset
    raw = read_limited(cursor, column)
    if column.collation == BINARY_COLLATION:
        padded = raw.ljust(column.length, b"\0")
        return padded if column.notation is None else notation_of(padded, column.notation)
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
    """Read the bytes of a value of a column with a maximum length.

    bytes   field
    1       length; 2 bytes if values of the column can be longer than 255 bytes
    n       value
    """
    start = cursor.offset
    length = cursor.uint("length", 1 if column.length <= _MAX_FOR_ONE_BYTE else 2)
    raw = cursor.raw("value", length)
    if length > column.length:
        raise Malformed(f"value has {length} bytes, but the column has at most {column.length}", Position(offset=start))
    return raw


def read_sized(cursor: Cursor, column: Column) -> bytes:
    """Read the bytes of a value after its length; `Column.length` is the number of bytes of the length.

    bytes   field
    1-4     length
    n       value
    """
    return cursor.raw("value", cursor.uint("length", column.length))
