"""The statement behind row events, for people: ROWS_QUERY, and MariaDB's ANNOTATE_ROWS."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.event.context import Context, SqlText
from binspark.wire import Cursor, Writer
from binspark.wire.meaning import says


@dataclass(frozen=True, slots=True)
class RowsQuery:
    """ROWS_QUERY: the statement that the next row events come from."""

    query: SqlText


@dataclass(frozen=True, slots=True)
class AnnotateRows:
    """ANNOTATE_ROWS: the statement that the next row events come from."""

    query: SqlText


def decode_rows_query(body: Cursor, _context: Context) -> RowsQuery:
    """Decode ROWS_QUERY: a length byte that nobody can use, as it does not hold more than 255, then the statement."""
    body.u8("query_length", says("the length modulo 256; the statement takes the rest of the event"))
    return RowsQuery(body.rest("query"))


def encode_rows_query(event: RowsQuery, writer: Writer, _context: Context) -> None:
    writer.u8(len(event.query) & 0xFF)
    writer.raw(event.query)


def decode_annotate_rows(body: Cursor, _context: Context) -> AnnotateRows:
    """Decode ANNOTATE_ROWS: the statement is the whole body."""
    return AnnotateRows(body.rest("query"))


def encode_annotate_rows(event: AnnotateRows, writer: Writer, _context: Context) -> None:
    writer.raw(event.query)
