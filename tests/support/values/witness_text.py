"""Values as the servers' own log readers print them, and what those printed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from binspark.event.column_types import ColumnType as T
from binspark.values import Absent, Column, Date, DateTime, Row, Time, Timestamp, Value
from binspark.values.charsets import encode_text

_STATEMENT = re.compile(rb"### (?:INSERT INTO|UPDATE|DELETE FROM) `(\w+)`\.`(\w+)`")
_VALUE = re.compile(rb"###   @(\d+)=(.*?) */\* [^*]* is_null=[01] \*/", re.DOTALL)


UTF8MB4 = 45


class WitnessImage(NamedTuple):
    """One row image as a log reader printed it: the text of each column that is in it, by its number."""

    table: str
    values: dict[int, bytes]


def witness_images(text: str) -> Iterator[WitnessImage]:
    """Yield the row images that a log reader printed, in the order of the log."""
    table = ""
    image: WitnessImage | None = None
    for line in text.encode(errors="surrogateescape").split(b"\n"):
        statement, value = _STATEMENT.match(line), _VALUE.match(line)
        if statement:
            table = statement[2].decode()
        elif line in (b"### SET", b"### WHERE"):
            if image:
                yield image
            image = WitnessImage(table, {})
        elif value and image:
            image.values[int(value[1])] = value[2]
    if image:
        yield image


Escapes = dict[int, bytes]
"""Bytes that a log reader does not print as they are."""

MARIADB_ESCAPES: Escapes = {byte: b"\\x%02x" % byte for byte in range(0x20)}
MYSQL_ESCAPES: Escapes = {**MARIADB_ESCAPES, 0x09: b"\\t", 0x0A: b"\\n", 0x27: b"\\'", 0x5C: b"\\\\"}


def spoken(row: Row, columns: tuple[Column, ...], escapes: Escapes) -> dict[int, bytes]:
    """Return a row image as a log reader prints it."""
    return {
        number: _say(value, column, escapes)
        for number, (value, column) in enumerate(zip(row, columns, strict=True), 1)
        if not isinstance(value, Absent)
    }


def _say(value: Value, column: Column, escapes: Escapes) -> bytes:
    if value is None:
        return b"NULL"
    if column.type in _QUOTED:
        raw = _QUOTED[column.type](value, column)
        return b"'" + b"".join(escapes.get(byte, bytes((byte,))) for byte in raw) + b"'"
    return _UNQUOTED[column.type](value, column).encode()


def _integer(value: int, column: Column) -> str:
    """Log readers do not know the sign: they print both readings of a negative number."""
    bits = {T.TINY: 8, T.SHORT: 16, T.INT24: 24, T.LONG: 32, T.LONGLONG: 64}[column.type]
    unsigned = value % (1 << bits)
    return f"{unsigned - (1 << bits)} ({unsigned})" if unsigned >> (bits - 1) else str(unsigned)


def _timestamp(value: Timestamp, column: Column) -> str:
    fraction = f".{value.microsecond:06d}"[: column.scale + 1] if column.scale else ""
    return f"{value.seconds}{fraction}"


def _set(value: int, column: Column) -> str:
    """The bytes of the number, lowest first."""
    return "b'" + "".join(f"{byte:08b}" for byte in value.to_bytes(column.length, "little")) + "'"


def _string(value: bytes | str, column: Column) -> bytes:
    if isinstance(value, bytes):  # of the collation `binary`
        return value.rstrip(b"\0") if column.type == T.STRING else value
    return encode_text(value, UTF8MB4 if column.collation is None else column.collation)


def _document(value: str, column: Column) -> bytes:
    """A document that is a string is printed without its quotes."""
    text: str = json.loads(value) if value.startswith('"') else value
    return text.encode()


def _text(value: Date | Time | DateTime, column: Column) -> bytes:
    return value.text().encode()


_QUOTED: dict[T, Callable[[Any, Column], bytes]] = {
    **dict.fromkeys((T.STRING, T.VARCHAR, T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB), _string),
    **dict.fromkeys((T.TIME, T.TIME2, T.DATETIME, T.DATETIME2), _text),
    T.DATE: lambda value, column: _text(value, column).replace(b"-", b":"),
    T.JSON: _document,
    T.GEOMETRY: lambda value, column: value.srid.to_bytes(4, "little") + value.wkb,
}

_UNQUOTED: dict[T, Callable[[Any, Column], str]] = {
    **dict.fromkeys((T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG), _integer),
    **dict.fromkeys((T.TIMESTAMP, T.TIMESTAMP2), _timestamp),
    T.YEAR: lambda value, column: str(value or 1900),  # they print the year 0000 as 1900
    T.NEWDECIMAL: lambda value, column: f"{value:f}",
    T.FLOAT: lambda value, column: f"{value:g}",
    T.DOUBLE: lambda value, column: f"{value:.20g}",
    T.BIT: lambda value, column: f"b'{value:0{column.length}b}'",
    T.ENUM: lambda value, column: str(value),
    T.SET: _set,
    T.VECTOR: lambda value, column: f"[{','.join(f'{number:.5e}' for number in value)}]",
}
