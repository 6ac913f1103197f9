"""JSON columns in a server's own log: the bytes that it logged, beside the text that it prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from binspark.event.rows import RowOperation, Rows
from binspark.files import read_events
from binspark.frames import EventCode
from binspark.testing.servers import Server
from binspark.values.json.binary import json_text
from binspark.values.json.diff import apply_json_diffs
from binspark.wire import Cursor

ID_AND_DOCUMENT = ("int", "json")
PARTIAL_JSON_UPDATES = 1


@dataclass(frozen=True)
class Diffs:
    """A vector of diffs instead of a document."""

    vector: bytes


Image = dict[int, int | bytes | Diffs | None]
"""A row image: the values of the columns that are in it, by their number."""

Change = tuple[Image, Image]
"""The images before and after a change; the one that an insert or a delete does not have is empty."""


class JsonTable:
    """A table `(id INT PRIMARY KEY, doc JSON)` in a database of its own."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.connection = server.connect()
        self.run(f"DROP DATABASE IF EXISTS {name}")
        self.run(f"CREATE DATABASE {name}")
        self.run(f"USE {name}")
        self.run("CREATE TABLE t (id INT PRIMARY KEY, doc JSON)")

    def run(self, sql: str, arguments: Any = None) -> list[tuple[Any, ...]]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, arguments)
            return list(cursor.fetchall())

    def insert(self, expressions: Iterable[str]) -> dict[int, bytes]:
        """Insert a document per SQL expression, with ids from 0 on; return the logged documents by id."""
        log = self.new_log()
        self.run("INSERT INTO t VALUES " + ", ".join(f"({i}, {sql})" for i, sql in enumerate(expressions)))
        return {row_id(image): document(image) for _, image in logged_rows(log, ID_AND_DOCUMENT)}

    def texts(self) -> dict[int, str]:
        """Return what the server prints of each document."""
        return dict(self.run("SELECT id, CAST(doc AS CHAR CHARACTER SET utf8mb4) FROM t"))

    def new_log(self) -> Path:
        """Let the server begin a new log and return where it is."""
        self.run("FLUSH BINARY LOGS")
        return self.server.log_files()[-1]


def logged_rows(log: Path, kinds: tuple[str, ...]) -> Iterator[Change]:
    """Read the images before and after each change, from a log with changes of one kind of table only."""
    for event in read_events(log):
        if isinstance(event.body, Rows):
            partial = event.header.type_code == EventCode.PARTIAL_UPDATE_ROWS
            yield from _read_rows(event.body, kinds, partial)


def row_id(image: Image) -> int:
    """Return the id of the row, its first column."""
    value = image[0]
    assert isinstance(value, int)
    return value


def document(image: Image, column: int = 1) -> bytes:
    """Return the binary document that an image has in full."""
    value = image[column]
    assert isinstance(value, bytes)
    return value


def diffs(image: Image, column: int = 1) -> bytes:
    """Return the vector of diffs that an image has instead of a document."""
    value = image[column]
    assert isinstance(value, Diffs)
    return value.vector


def text_after(before: Image, after: Image, column: int) -> str | None:
    """Return the document after an update, as we print it."""
    if isinstance(after[column], Diffs):
        return apply_json_diffs(document(before, column), diffs(after, column))
    return None if after[column] is None else json_text(document(after, column))


def _read_rows(event: Rows, kinds: tuple[str, ...], partial: bool) -> Iterator[Change]:
    cursor = Cursor(event.rows)
    present = event.present(event.columns)
    while cursor.remaining:
        first = _read_image(cursor, kinds, present)
        match event.operation:
            case RowOperation.INSERT:
                yield {}, first
            case RowOperation.DELETE:
                yield first, {}
            case RowOperation.UPDATE:
                partial_bits = _read_partial_bits(cursor) if partial else 0
                assert event.columns_after is not None
                yield first, _read_image(cursor, kinds, event.present(event.columns_after), partial_bits)


def _read_partial_bits(cursor: Cursor) -> int:
    """Read which JSON columns have diffs: a bit for every JSON column of the table (eight at most here)."""
    return cursor.u8("partial_bits") if cursor.packed("value_options") & PARTIAL_JSON_UPDATES else 0


def _read_image(cursor: Cursor, kinds: tuple[str, ...], present: tuple[bool, ...], partial_bits: int = 0) -> Image:
    """Read a row image: null bits of the columns that are present, then the values of those that are not null."""
    nulls = cursor.u8("null_bits")
    image: Image = {}
    for number, kind in enumerate(kinds):
        is_diff = kind == "json" and bool(partial_bits >> kinds[:number].count("json") & 1)
        if present[number]:
            is_null = nulls >> len(image) & 1
            image[number] = None if is_null else _read_value(cursor, kind, is_diff)
    return image


def _read_value(cursor: Cursor, kind: str, is_diff: bool) -> int | bytes | Diffs:
    if kind == "int":
        return cursor.u32("int")
    value = cursor.raw("json", cursor.u32("length"))
    return Diffs(value) if is_diff else value
