"""Batches of rows as lines, as `changes.lines` writes them one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.batches import TableBatch
from binspark.columns.metadata import Metadata
from binspark.columns.statement_table import RowOrigins
from binspark.documents.fields import Numbers, describe_fields
from binspark.documents.line_order import BatchLines, Text, in_order
from binspark.documents.line_style import Heading, LineFormat, LineStyle, encoded, quoted, statement_json
from binspark.documents.output import Output, write_all
from binspark.documents.texts import Words, gtids_of, texts_of, words_by_number, words_of
from binspark.event.rows_query import shown_statement
from binspark.kernels.layout import Operation
from binspark.kernels.objects.json_lines import write_json_lines
from binspark.kernels.objects.layout import SLACK, ChangedRows, Field
from binspark.kernels.objects.lines import Lines, Word
from binspark.kernels.objects.rows import WRITERS
from binspark.kernels.objects.text_lines import write_text_lines
from binspark.position import log_name
from binspark.schema.table import TableSchema

_MAX_NUMBERS_LENGTH = 5 * 20 + 2 * 24
_SHORT_FIELD = 12  # usual bytes of a value besides its name


def write_lines(batches: Sequence[TableBatch], file: str, style: LineStyle, heading: Heading) -> list[Text]:
    """Return the lines of the batches of a window, in the order of the log."""
    found = [_batch_lines(batch, log_name(file), style) for batch in batches if batch.batch.num_rows]
    return in_order(found, heading if style.has_headings else None)


def _batch_lines(found: TableBatch, file: str, style: LineStyle) -> BatchLines:
    rows = _Rows(found, file, style)
    offsets, text = rows.write()
    position = (rows.positions, rows.numbers, rows.servers, rows.threads)
    return BatchLines(offsets, text, *position, rows.gtids, rows.statements)


class _Rows:
    """The rows of a batch for a kernel: its numbers, and the arrays that they point to."""

    def __init__(self, found: TableBatch, file: str, style: LineStyle) -> None:
        origins = found.origins
        assert origins is not None
        self._table, self._style = found.table, style
        self._words = _words(file, found.table.schema, found.table.table, style.format)
        self._names = _names(found.table, style.format)
        self.positions: npt.NDArray[np.int64] = found.origin(Metadata.LOG_POS).to_numpy(zero_copy_only=False)
        self.numbers: npt.NDArray[np.int32] = found.origin(Metadata.LOG_ROW).to_numpy(zero_copy_only=False)
        self.servers: npt.NDArray[np.int64] = found.origin(Metadata.SERVER_ID).to_numpy(zero_copy_only=False)
        self.threads = origins.threads
        self.gtids = gtids_of(found.origin(Metadata.GTID))
        self.statements = texts_of(
            origins.statements, [_statement_json(raw, style.max_statement) for raw in origins.texts]
        )
        self._lines = np.zeros(Lines.WIDTH, dtype=np.int64)
        self._kept_alive: list[npt.NDArray[Any]] = []
        self._lines[Lines.FILE_WIDTH], self._lines[Lines.MAX_WIDTH] = len(file) + 1, style.max_value
        self._describe_rows(origins)
        self._value_bytes = self._describe_values(found)

    def write(self) -> tuple[npt.NDArray[np.int32], pa.Buffer]:
        """Return where each line begins, and the lines."""
        lines, count = self._lines, len(self.positions)
        fixed = self._words.bytes + _MAX_NUMBERS_LENGTH
        fields = self._names.bytes + _SHORT_FIELD * len(self._table.columns)
        expected = self._value_bytes + count * (fixed + fields)
        longest = sum(int(np.diff(texts.offsets).max()) for texts in (self.gtids, self.statements))
        output = Output(lines[ChangedRows.AT : ChangedRows.NEW], count, expected, 2 * SLACK + fixed + longest)
        write_all(write_json_lines if self._style.format is LineFormat.JSON else write_text_lines, lines, output)
        return output.taken()

    def _describe_rows(self, origins: RowOrigins) -> None:
        """Describe where rows come from."""
        self._lines[ChangedRows.ROWS] = len(self.positions)
        times = origins.times.astype(np.int64)
        if self._style.has_headings and self._style.zone is not UTC:
            shifts = _shifts(times, self._style.zone)
            self._point(Lines.ZONES, shifts)
            times = times + 60 * shifts
        self._point(Lines.TIMES, times)
        self._point(Lines.POSITIONS, self.positions)
        self._point(Lines.NUMBERS, self.numbers)
        self._point(Lines.SERVERS, self.servers)
        self._point(Lines.THREADS, self.threads)
        self._point(Lines.WORDS, self._words.words)
        for number, texts in ((Lines.GTIDS, self.gtids), (Lines.STATEMENTS, self.statements)):
            self._point(number, texts.numbers)
            self._point(Lines(number + 1), texts.offsets)
            self._lines[number + 2] = texts.text.address

    def _describe_values(self, found: TableBatch) -> int:
        """Describe the values of rows; return about how many bytes they take."""
        lines, table = self._lines, found.table
        lines[ChangedRows.FIELD_COUNT], lines[ChangedRows.KEY_COUNT] = len(table.columns), len(table.primary_key or ())
        self._point(ChangedRows.KEY, np.array(table.primary_key or (), dtype=np.int64))
        arrays = found.values
        size = int(sum(array.nbytes for array in arrays))
        self._point(ChangedRows.NEW, self._fields(arrays))
        operations = found.origin(Metadata.OP).indices.to_numpy(zero_copy_only=False)
        self._point(ChangedRows.OPERATIONS, operations.astype(np.int32, copy=False))
        if (operations == Operation.UPDATE).any():
            before = found.before  # flatten() would make arrays that live no longer than this
            old = [before.field(index) for index in range(before.type.num_fields)]
            size += int(sum(array.nbytes for array in old))
            self._point(ChangedRows.OLD, self._fields(old))
        if found.images is not None and not found.images.complete:
            self._point(ChangedRows.IMAGES, found.images.numbers)
            self._point(ChangedRows.BEFORE_PRESENT, found.images.before.astype(np.uint8))
            self._point(ChangedRows.AFTER_PRESENT, found.images.after.astype(np.uint8))
        return size

    def _fields(self, arrays: Sequence[pa.Array]) -> Numbers:
        fields = describe_fields(self._table.columns, arrays, WRITERS)
        fields[:, Field.NAME], fields[:, Field.NAME_LENGTH] = self._names.starts, self._names.lengths
        return fields

    def _point(self, number: ChangedRows | Lines, array: npt.NDArray[Any]) -> None:
        kept = np.ascontiguousarray(array)
        self._kept_alive.append(kept)
        self._lines[number] = kept.ctypes.data


def _shifts(times: Numbers, zone: tzinfo) -> Numbers:
    """Return how many minutes a time zone is ahead of UTC at each time."""
    moments, numbers = np.unique(times, return_inverse=True)
    shifts = [datetime.fromtimestamp(int(moment), zone).utcoffset() or timedelta() for moment in moments]
    return np.array([shift // timedelta(minutes=1) for shift in shifts], dtype=np.int64)[numbers]


@lru_cache(maxsize=64)
def _statement_json(raw: bytes, max_length: int) -> bytes:
    return encoded(statement_json(shown_statement(raw), max_length))


@lru_cache(maxsize=64)
def _names(table: TableSchema, line_format: LineFormat) -> Words:
    """Return the names of columns as they are written before values."""
    is_json = line_format is LineFormat.JSON
    return words_of([f"{quoted(name)}: " if is_json else name for name in table.column_names])


@lru_cache(maxsize=256)
def _words(file: str, schema: str, table: str, line_format: LineFormat) -> Words:
    return words_by_number(_WORDS[line_format](file, schema, table), Word)


def _json_words(file: str, schema: str, table: str) -> dict[Any, str]:
    names = f', "schema": {quoted(schema)}, "table": {quoted(table)}, "op": '
    return {
        Word.FILE_POS: f'{{"file": {quoted(file)}, "pos": ',
        Word.ROW: ', "row": ',
        Word.GTID: ', "gtid": ',
        Word.TIMESTAMP: ', "timestamp": ',
        Word.SERVER: ', "server_id": ',
        Word.THREAD: ', "thread_id": ',
        **{Word.INSERT + operation: f'{names}"{operation.name.lower()}", "before": ' for operation in Operation},
        Word.AFTER: ', "after": ',
        Word.KEY: ', "key": ',
        Word.STATEMENT: ', "statement": ',
        Word.END: "}\n",
    }


def _text_words(file: str, schema: str, table: str) -> dict[Any, str]:
    return {
        Word.FILE_POS: f"{file}:",
        **{Word.INSERT + operation: f"  {operation.name.lower():<6}  {schema}.{table}" for operation in Operation},
        Word.UNCHANGED: " (no value changed)",
        Word.ARROW: " → ",
    }


_WORDS: dict[LineFormat, Callable[[str, str, str], dict[Any, str]]] = {
    LineFormat.JSON: _json_words,
    LineFormat.TEXT: _text_words,
}
