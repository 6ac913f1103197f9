"""The rows of rows events as commented SQL, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from binspark.dump.mariadb.heading import identifier
from binspark.dump.mariadb.values import ValueForm, value_form
from binspark.dump.output import Output
from binspark.event import RowOperation, Rows, TableMap
from binspark.wire.bitmap import bitmap_length

_CORRUPTED = b"***Corrupted replication event was detected. Not printing the value***\n"
_WHERE, _SET = b"### WHERE\n", b"### SET\n"
VERBS = {
    RowOperation.INSERT: (b"INSERT INTO", _SET),
    RowOperation.DELETE: (b"DELETE FROM", _WHERE),
    RowOperation.UPDATE: (b"UPDATE", _WHERE),
}
_WITH_TYPES = 2


@dataclass(frozen=True, slots=True)
class PrintedRows:
    """The commented SQL of a rows event, how many rows it has, and whether they could be read to the end.

    `problem` says what could not be read; the tool stops there. It prints the headings of the statement only at a
    column type that it does not know.
    """

    count: int
    problem: str = ""
    prints_headings: bool = False


class _Unreadable(Exception):
    """A row image that does not fit its table; `args` are the text of it so far, and the problem."""


class _UnknownType(_Unreadable):
    """A column whose values the tool cannot print."""


class TableForm:
    """How rows of a table are printed: one of these for each TABLE_MAP that was printed."""

    def __init__(self, table_map: TableMap, database: bytes, table: bytes) -> None:
        self.name = b"%b.%b" % (identifier(database), identifier(table))
        self.columns = [
            value_form(code, metadata)
            for code, metadata in zip(table_map.column_types, table_map.column_metadata, strict=True)
        ]
        self.nullable = table_map.nullable
        self._table_map = table_map

    def print_rows(self, rows: Rows, verbose: int, output: Output) -> PrintedRows:
        """Write the rows of an event as commented SQL, one at a time: their text may be a hundred times as large."""
        verb, clause = VERBS[rows.operation]
        data, end = rows.rows, len(rows.rows)
        if rows.operation is RowOperation.INSERT and not data:
            output.write(b"### INSERT INTO %b VALUES ()\n" % self.name)
            return PrintedRows(0)
        columns = present_columns(rows.columns, rows.column_count)
        after = None if rows.columns_after is None else present_columns(rows.columns_after, rows.column_count)
        head = b"### %b %b\n%b" % (verb, self.name, clause)
        texts: list[bytes] = []
        at = count = 0
        try:
            while at < end:
                count += 1
                texts.append(head)
                at = self._print_image(texts, data, at, columns, verbose)
                if after is not None:
                    texts.append(_SET)
                    at = self._print_image(texts, data, at, after, verbose)
                output.write(b"".join(texts))
                texts.clear()
        except _Unreadable as error:
            output.write(b"".join(texts))
            return PrintedRows(count, str(error), isinstance(error, _UnknownType))
        return PrintedRows(count)

    def around_value(self, index: int, verbose: int) -> tuple[bytes, bytes, bytes]:
        """Return what comes before and after a value of a column, and the complete line of a NULL."""
        start = b"###   @%d=" % (index + 1)
        end, null = self._comment(index, verbose, 0), self._comment(index, verbose, 1)
        return start, end, start + b"NULL" + null

    def _comment(self, index: int, verbose: int, is_null: int) -> bytes:
        """Return the end of the line of a value: with -vv its type."""
        if verbose < _WITH_TYPES:
            return b"\n"
        form = self._form(index)
        numbers = (form.type_name, form.metadata, self.nullable[index], is_null)
        return b" /* %b meta=%d nullable=%d is_null=%d */\n" % numbers

    def count_rows(self, rows: Rows) -> int:
        """Return how many rows an event has; where they cannot be read to the end, how many begin."""
        data, end = rows.rows, len(rows.rows)
        columns = present_columns(rows.columns, rows.column_count)
        after = None if rows.columns_after is None else present_columns(rows.columns_after, rows.column_count)
        at = count = 0
        try:
            while at < end:
                count += 1
                at = self._skip_image(data, at, columns)
                if after is not None:
                    at = self._skip_image(data, at, after)
        except _Unreadable:
            return count
        return count

    def _print_image(self, texts: list[bytes], data: bytes, at: int, present: tuple[int, ...], verbose: int) -> int:
        nulls = int.from_bytes(data[at : at + bitmap_length(len(present))], "little")
        start = at
        at += bitmap_length(len(present))
        for index in present:
            texts.append(b"###   @%d=" % (index + 1))
            is_null, nulls = nulls & 1, nulls >> 1
            form = self._form(index)
            if is_null:
                texts.append(b"NULL")
            else:
                size = form.size(data, at)
                if size <= 0 or at + size > len(data):
                    texts.append(_CORRUPTED)
                    raise _Unreadable("a row ends inside a value")
                texts.append(form.text(data, at))
                at += size
            texts.append(self._comment(index, verbose, is_null))
        if at == start:
            raise _Unreadable("a row image has no columns")
        return at

    def _skip_image(self, data: bytes, at: int, present: tuple[int, ...]) -> int:
        nulls = int.from_bytes(data[at : at + bitmap_length(len(present))], "little")
        start = at
        at += bitmap_length(len(present))
        for index in present:
            is_null, nulls = nulls & 1, nulls >> 1
            if is_null:
                continue
            form = self._form(index)
            size = form.size(data, at) if form.is_counted else 0
            if size <= 0 or at + size > len(data):
                raise _Unreadable("a row ends inside a value")
            at += size
        if at == start:
            raise _Unreadable("a row image has no columns")
        return at

    def _form(self, index: int) -> ValueForm:
        form = self.columns[index] if index < len(self.columns) else None
        if form is None:
            code = self._table_map.column_types[index] if index < len(self.columns) else 0
            raise _UnknownType(f"values of column type {code} cannot be printed")
        return form


@lru_cache(maxsize=1024)
def present_columns(bitmap: bytes, count: int) -> tuple[int, ...]:
    """Return the indexes of the columns that a bitmap includes."""
    bits = int.from_bytes(bitmap, "little")
    return tuple(index for index in range(count) if bits >> index & 1)
