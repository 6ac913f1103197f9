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

from binspark.columns.metadata import Metadata
from binspark.columns.options import ZeroDates
from binspark.columns.reader import TableBatch
from binspark.columns.selection import Selection
from binspark.documents.row_images import RowImages
from binspark.documents.row_objects import json_rows
from binspark.kernels.layout import Operation
from binspark.kernels.objects.lines import Line, Word, copy_in_order, write_lines

Bytes = npt.NDArray[np.uint8]
Take = Callable[[int], Bytes]
"""Returns memory of at least a number of bytes."""

_METADATA = frozenset({Metadata.OP, Metadata.KEY, Metadata.GTID, Metadata.LOG_POS, Metadata.LOG_ROW})
_MAX_NUMBERS_LENGTH = 20 + 10 + 10
_SLACK = 64


def selection_of_lines(selection: Selection) -> Selection:
    """Return what must be decoded for complete lines."""
    options = replace(selection.options, zero_dates=ZeroDates.ERROR)
    return replace(
        selection, before=True, images=True, metadata=True, metadata_columns=_METADATA, absent=False, options=options
    )


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines one after the other, with the positions of their rows.

    ends       the end of each line in the text
    positions  the offsets of the events of the rows, and
    numbers    the numbers of the rows in them: lines of several tables are put in order by these
    """

    text: Bytes
    ends: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int32]

    @property
    def first(self) -> tuple[int, int]:
        """The position of the first row."""
        return int(self.positions[0]), int(self.numbers[0])

    @property
    def last(self) -> tuple[int, int]:
        """The position of the last row."""
        return int(self.positions[-1]), int(self.numbers[-1])


def fresh(size: int) -> Bytes:
    """Return new memory."""
    return np.empty(size, dtype=np.uint8)


def lines_of(found: TableBatch, file: str, events: Bytes, start: int, take: Take = fresh) -> Lines:
    """Return the rows of a batch as lines. `events` are the bytes that they were read from, the first at `start`."""
    rows = RowImages(found, json_rows)
    count = found.batch.num_rows
    gtids = found.origin(Metadata.GTID)
    texts = [rows.before(), rows.after(), rows.keys()]
    words = _words(file, found.table.schema, found.table.table)
    text = take(_room(count, words, gtids.dictionary, texts))
    ends = np.empty(count, dtype=np.int64)
    positions = found.origin(Metadata.LOG_POS).to_numpy(zero_copy_only=False)
    numbers = found.origin(Metadata.LOG_ROW).to_numpy(zero_copy_only=False)
    identifiers = gtids.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    operations = rows.operations.astype(np.int32)
    line = np.zeros(Line.WIDTH, dtype=np.int64)
    line[Line.ROWS], line[Line.EVENTS] = count, events.ctypes.data - start
    arrays = {Line.TARGET: text, Line.ENDS: ends, Line.POSITIONS: positions, Line.NUMBERS: numbers}
    arrays |= {Line.GTIDS: identifiers, Line.OPERATIONS: operations, Line.WORDS: words.words}
    for number, array in arrays.items():
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
    """The text between the values of lines, and address and length of each word in it."""

    text: Bytes
    words: npt.NDArray[np.int64]
    bytes_per_line: int


@lru_cache(maxsize=256)
def _words(file: str, schema: str, table: str) -> _Words:
    names = f', "schema": {_quoted(schema)}, "table": {_quoted(table)}, "op": '
    texts = {
        Word.FILE_POS: f'{{"file": {_quoted(file)}, "pos": ',
        Word.ROW: ', "row": ',
        Word.GTID: ', "gtid": ',
        Word.TIMESTAMP: ', "timestamp": ',
        **{Word.INSERT + operation: f'{names}"{operation.name.lower()}", "before": ' for operation in Operation},
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
    """Return the maximum bytes of lines."""
    longest_gtid = max((len(gtid) for gtid in gtids.to_pylist()), default=0) + 4
    objects = sum(len(text.buffers()[2] or b"") for text in texts)
    return count * (words.bytes_per_line + _MAX_NUMBERS_LENGTH + longest_gtid + 3 * 4) + objects + _SLACK


def _addresses(array: pa.Array) -> tuple[int, int]:
    """Return the addresses of the offsets and the bytes of a text column. A slice begins inside its buffers."""
    _, offsets, data = array.buffers()
    return (0 if offsets is None else offsets.address + 4 * array.offset), (0 if data is None else data.address)
