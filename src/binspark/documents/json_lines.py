"""Batches of rows as lines of JSON, as `changes.change_json` writes them one at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from binspark.columns.metadata_fields import METADATA_FIELDS
from binspark.columns.reader import TableBatch
from binspark.columns.selection import Selection
from binspark.columns.types import ZeroDates
from binspark.documents.row_objects import RowImages, json_rows
from binspark.kernels.objects.lines import Line, Word, copy_in_order, write_lines
from binspark.schema.table import TableSchema
from binspark.values.column import Column

Bytes = npt.NDArray[np.uint8]
Take = Callable[[int], Bytes]
"""Returns memory of at least so many bytes."""

_COLUMNS = ("op", "gtid", "pos", "row")
_INSERT, _UPDATE, _DELETE = 0, 1, 2
_OPERATIONS = ("insert", "update", "delete")
_OP, _GTID, _POS, _ROW = ([field.name for field in METADATA_FIELDS].index(f"_{name}") for name in _COLUMNS)
_LONGEST_NUMBERS = 20 + 10 + 10
_SLACK = 64


def selection_of_lines(selection: Selection) -> Selection:
    """Return what must be decoded for lines that leave nothing out."""
    options = replace(selection.options, zero_dates=ZeroDates.ERROR)
    return replace(selection, before=True, images=True, metadata=True, options=options)


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines one behind the other, with the places of their rows.

    ends       where each line ends
    positions  the offsets of the events of the rows, and
    numbers    their numbers in them: lines of several tables are put in order by these
    """

    text: Bytes
    ends: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int32]

    @property
    def first(self) -> tuple[int, int]:
        """The place of the first row."""
        return int(self.positions[0]), int(self.numbers[0])

    @property
    def last(self) -> tuple[int, int]:
        """The place of the last row."""
        return int(self.positions[-1]), int(self.numbers[-1])


def fresh(size: int) -> Bytes:
    """Return memory that nobody has used."""
    return np.empty(size, dtype=np.uint8)


def lines_of(found: TableBatch, file: str, events: Bytes, start: int, take: Take = fresh) -> Lines:
    """Return the rows of a batch as lines. `events` are the bytes that they were read from, the first at `start`."""
    rows = _Images(found)
    batch, count = found.batch, found.batch.num_rows
    gtids = batch.column(_GTID)
    texts = [rows.before(), rows.after(), rows.keys()]
    words = _words(file, found.table.schema, found.table.table)
    text = take(_room(count, words, gtids.dictionary, texts))
    ends = np.empty(count, dtype=np.int64)
    positions, numbers = (batch.column(name).to_numpy(zero_copy_only=False) for name in (_POS, _ROW))
    identifiers = gtids.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    operations = rows.operations.astype(np.int32)
    line = np.zeros(Line.WIDTH, dtype=np.int64)
    line[Line.ROWS], line[Line.EVENTS] = count, events.ctypes.data - start
    held = {Line.TARGET: text, Line.ENDS: ends, Line.POSITIONS: positions, Line.NUMBERS: numbers}
    held |= {Line.GTIDS: identifiers, Line.OPERATIONS: operations, Line.WORDS: words.places}
    for number, array in held.items():
        line[number] = array.ctypes.data
    for number, column in ((Line.GTID_OFFSETS, gtids.dictionary), *zip(_TEXTS, texts, strict=True)):
        line[number : number + 2] = _addresses(column)
    write_lines(line.ctypes.data)
    return Lines(text, ends, positions, numbers)


_TEXTS = (Line.BEFORE_OFFSETS, Line.AFTER_OFFSETS, Line.KEY_OFFSETS)


def in_order(found: Sequence[Lines], take: Take = fresh) -> list[memoryview]:
    """Return the lines of batches in the order of the log."""
    if all(lines.last < after.first for lines, after in pairwise(found)):
        return [memoryview(lines.text.data)[: int(lines.ends[-1])] for lines in found]
    order = np.lexsort((np.concatenate([lines.numbers for lines in found]), _joined(found, "positions")))
    lengths = np.concatenate([np.diff(lines.ends, prepend=0) for lines in found])
    addresses = [lines.ends + lines.text.ctypes.data for lines in found]
    starts = np.concatenate(addresses) - lengths
    size = int(lengths.sum())
    text = take(size + _SLACK)
    order = order.astype(np.int64)
    copy_in_order(text.ctypes.data, starts.ctypes.data, lengths.ctypes.data, order.ctypes.data, len(order))
    return [memoryview(text.data)[:size]]


def _joined(found: Sequence[Lines], name: str) -> npt.NDArray[np.int64]:
    return np.concatenate([getattr(lines, name) for lines in found])


@dataclass(frozen=True, eq=False)
class _Words:
    """What stands between the values of lines: the text, and address and length of each word in it."""

    text: Bytes
    places: npt.NDArray[np.int64]
    bytes_a_line: int


@lru_cache(maxsize=256)
def _words(file: str, schema: str, table: str) -> _Words:
    names = f', "schema": {_quoted(schema)}, "table": {_quoted(table)}, "op": '
    texts = {
        Word.FILE_POS: f'{{"file": {_quoted(file)}, "pos": ',
        Word.ROW: ', "row": ',
        Word.GTID: ', "gtid": ',
        Word.TIMESTAMP: ', "timestamp": ',
        **{Word.INSERT + number: f'{names}"{name}", "before": ' for number, name in enumerate(_OPERATIONS)},
        Word.AFTER: ', "after": ',
        Word.KEY: ', "key": ',
        Word.END: "}\n",
    }
    words = [texts[word].encode() for word in Word]
    text = np.frombuffer(b"".join(words) + bytes(_SLACK), dtype=np.uint8)
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    starts = text.ctypes.data + np.cumsum(lengths) - lengths
    return _Words(text, np.ascontiguousarray(np.stack([starts, lengths], axis=1)), int(lengths.sum()))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _room(count: int, words: _Words, gtids: pa.Array, texts: Sequence[pa.Array]) -> int:
    """Return how many bytes lines take at most."""
    longest_gtid = max((len(gtid) for gtid in gtids.to_pylist()), default=0) + 4
    objects = sum(len(text.buffers()[2] or b"") for text in texts)
    return count * (words.bytes_a_line + _LONGEST_NUMBERS + longest_gtid + 3 * 4) + objects + _SLACK


def _addresses(array: pa.Array) -> tuple[int, int]:
    """Return where the offsets and the bytes of a text column are. An array that was cut begins behind its buffers."""
    _, offsets, data = array.buffers()
    return (0 if offsets is None else offsets.address + 4 * array.offset), (0 if data is None else data.address)


class _Images:
    """The rows of a batch before and after the change, and their keys, as objects."""

    def __init__(self, found: TableBatch) -> None:
        self._table: TableSchema = found.table
        self._batch = found.batch
        self._images = None if found.images is None or found.images.complete else found.images
        self.operations: npt.NDArray[np.int32] = found.batch.column(_OP).indices.to_numpy()
        first = len(METADATA_FIELDS)
        self._new = [found.batch.column(first + index) for index in range(len(found.table.columns))]
        self._old = self._old_columns()

    def before(self) -> pa.Array:
        valid = self.operations != _INSERT
        return json_rows(self._table.columns, self._old, valid=valid, images=self._present(after=False))

    def after(self) -> pa.Array:
        valid = self.operations != _DELETE
        return json_rows(self._table.columns, self._new, valid=valid, images=self._present(after=True))

    def keys(self) -> pa.Array:
        """From before the change where there was a row; none where an image leaves part of the key out."""
        key = self._table.primary_key
        if not key:
            nowhere = np.zeros(len(self.operations), dtype=np.bool_)
            return json_rows(self._table.columns[:1], self._new[:1], valid=nowhere)
        inserts = pa.array(self.operations == _INSERT)
        arrays = [_chosen(inserts, self._new[index], self._old[index]) for index in key]
        present = self._present(after=False)
        valid = None
        if present is not None:
            valid = np.logical_and.reduce(present.present[present.numbers][:, list(key)], axis=1)
        return json_rows([_named(self._table, index) for index in key], arrays, valid=valid)

    def _old_columns(self) -> list[pa.Array]:
        """Return the columns before the change; those of inserts mean nothing."""
        updates = self.operations == _UPDATE
        if not updates.any():
            return self._new
        before = self._batch.column(self._batch.num_columns - 1).flatten()
        if not (self.operations == _DELETE).any():
            return list(before)
        chosen = pa.array(updates)
        return [pc.if_else(chosen, old, new) for old, new in zip(before, self._new, strict=True)]

    def _present(self, *, after: bool) -> RowImages | None:
        images = self._images
        return None if images is None else RowImages(images.numbers, images.after if after else images.before)


def _chosen(which: pa.Array, first: pa.Array, second: pa.Array) -> pa.Array:
    return first if first is second else pc.if_else(which, first, second)


def _named(table: TableSchema, index: int) -> Column:
    column = table.columns[index]
    return column if column.name is not None else replace(column, name=table.column_names[index])
