"""The statement that caused rows events, for information: ROWS_QUERY, and MariaDB's ANNOTATE_ROWS."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.event.context import Context, SqlText
from binspark.wire import Cursor, Writer
from binspark.wire.meaning import as_text, note

MAX_SHOWN_BYTES = 1000
"""How much of a statement is shown with each of its rows."""

_IGNORED = note("ignored; the statement is the rest of the event")


@dataclass(frozen=True, slots=True)
class RowsQuery:
    """ROWS_QUERY: the statement that caused the next rows events. `length_byte` is the byte before it."""

    query: SqlText
    length_byte: int = 0


@dataclass(frozen=True, slots=True)
class AnnotateRows:
    """ANNOTATE_ROWS: the statement that caused the next rows events."""

    query: SqlText


def decode_rows_query(body: Cursor, _context: Context) -> RowsQuery:
    """Decode ROWS_QUERY: one byte, then the statement.

    The byte is the length of the statement modulo 256. It cannot be used for longer statements, and servers ignore it.
    """
    length_byte = body.u8("length_byte", _IGNORED)
    return RowsQuery(body.rest("query", as_text), length_byte)


def encode_rows_query(event: RowsQuery, writer: Writer, _context: Context) -> None:
    """Encode ROWS_QUERY: the inverse of `decode_rows_query`."""
    writer.u8(event.length_byte)
    writer.raw(event.query)


def decode_annotate_rows(body: Cursor, _context: Context) -> AnnotateRows:
    """Decode ANNOTATE_ROWS: the body is the statement."""
    return AnnotateRows(body.rest("query", as_text))


def encode_annotate_rows(event: AnnotateRows, writer: Writer, _context: Context) -> None:
    """Encode ANNOTATE_ROWS: the inverse of `decode_annotate_rows`."""
    writer.raw(event.query)


def shown_statement(query: SqlText) -> str:
    r"""Return the text that rows are shown with: its first 1000 bytes, then `…`; bytes that are not UTF-8 as `\xNN`.

    A statement may insert many rows, each of which is shown with it, so together they must not grow with its square.
    """
    if len(query) <= MAX_SHOWN_BYTES:
        return query.decode(errors="backslashreplace")
    end = MAX_SHOWN_BYTES
    while end > MAX_SHOWN_BYTES - 3 and query[end] & 0xC0 == 0x80:  # not inside a character
        end -= 1
    return query[:end].decode(errors="backslashreplace") + "…"
