"""The lines of a window, of one batch after the other, put in the order of the log; text with headings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.documents.line_style import Heading
from binspark.documents.texts import Numbers, Texts, Words, words_by_number
from binspark.kernels.objects.layout import SLACK
from binspark.kernels.objects.order import HeadingWord, Order, copy_in_order, copy_with_headings

Text = bytes | memoryview
_ROW_BITS = 31
_MAX_NUMBERS_LENGTH = 2 * 24


@dataclass(frozen=True, eq=False, slots=True)
class BatchLines:
    """The lines of the rows of a batch, and what decides on their order and their headings.

    ends                 where each line begins, and where the last one ends
    positions, rows      the offset of the event of each row, and its number in it
    """

    offsets: npt.NDArray[np.int32]
    text: pa.Buffer
    positions: Numbers
    rows: npt.NDArray[np.int32]
    servers: Numbers
    threads: npt.NDArray[np.uint32]
    gtids: Texts
    statements: Texts

    @property
    def first(self) -> tuple[int, int]:
        """The position of the first row."""
        return int(self.positions[0]), int(self.rows[0])

    @property
    def last(self) -> tuple[int, int]:
        """The position of the last row."""
        return int(self.positions[-1]), int(self.rows[-1])


def in_order(found: Sequence[BatchLines], heading: Heading | None) -> list[Text]:
    """Return lines in the order of the log, with a heading wherever it differs from the last one."""
    is_ordered = all(lines.last < after.first for lines, after in pairwise(found))
    if not found or (is_ordered and heading is None):
        return [memoryview(lines.text) for lines in found]
    merge = _Merge(found, is_ordered=is_ordered)
    return [merge.copied() if heading is None else merge.with_headings(heading)]


class _Merge:
    """Lines for a kernel that copies them: its numbers, and the arrays that they point to."""

    def __init__(self, found: Sequence[BatchLines], *, is_ordered: bool) -> None:
        self._found = found
        self._numbers = np.zeros(Order.WIDTH, dtype=np.int64)
        self._arrays: dict[Order, Numbers] = {}
        lengths = np.concatenate([np.diff(lines.offsets) for lines in found]).astype(np.int64)
        starts = np.concatenate([lines.offsets[:-1] + np.int64(lines.text.address) for lines in found])
        self._numbers[Order.COUNT] = len(lengths)
        self._size = int(lengths.sum())
        self._point(Order.LENGTHS, lengths)
        self._point(Order.STARTS, starts)
        if not is_ordered:
            self._point(Order.ORDER, _order(found))

    def copied(self) -> Text:
        """Return the lines alone."""
        target = self._target(self._size)
        end = copy_in_order(self._numbers.ctypes.data)
        return memoryview(target)[: end - target.address]

    def with_headings(self, heading: Heading) -> Text:
        """Return the lines with their headings."""
        found, words = self._found, _heading_words()
        gtids, statements = ([getattr(lines, name).addresses() for lines in found] for name in ("gtids", "statements"))
        self._point(Order.GTIDS, np.concatenate([starts for starts, _ in gtids]))
        self._point(Order.GTID_LENGTHS, np.concatenate([lengths for _, lengths in gtids]))
        self._point(Order.STATEMENTS, np.concatenate([starts for starts, _ in statements]))
        self._point(Order.STATEMENT_LENGTHS, np.concatenate([lengths for _, lengths in statements]))
        self._point(Order.SERVERS, np.concatenate([lines.servers for lines in found]))
        self._point(Order.THREADS, np.concatenate([lines.threads for lines in found]).astype(np.int64))
        fixed = words.bytes + _MAX_NUMBERS_LENGTH
        target = self._target(self._size + self._heading_bytes(fixed))
        longest = int(self._arrays[Order.GTID_LENGTHS].max() + self._arrays[Order.STATEMENT_LENGTHS].max())
        capacity = max(fixed + longest, len(heading.last)) + SLACK
        memory = np.zeros(2 * capacity, dtype=np.uint8)
        memory[: len(heading.last)] = np.frombuffer(heading.last, dtype=np.uint8)
        numbers = self._numbers
        numbers[Order.HEADING], numbers[Order.HEADING_LENGTH] = memory.ctypes.data, len(heading.last)
        numbers[Order.HEADING_CAPACITY], numbers[Order.WORDS] = capacity, words.words.ctypes.data
        end = copy_with_headings(numbers.ctypes.data)
        heading.last = memory[: numbers[Order.HEADING_LENGTH]].tobytes()
        return memoryview(target)[: end - target.address]

    def _heading_bytes(self, fixed: int) -> int:
        """Return the maximum bytes of headings: of the first line, and of each that differs from the one before."""
        order = self._arrays.get(Order.ORDER)
        differs = np.ones(int(self._numbers[Order.COUNT]), dtype=np.bool_)
        differs[1:] = False
        for name in (Order.GTIDS, Order.STATEMENTS, Order.SERVERS, Order.THREADS):
            array = self._arrays[name] if order is None else self._arrays[name][order]
            differs[1:] |= array[1:] != array[:-1]
        lengths = self._arrays[Order.GTID_LENGTHS] + self._arrays[Order.STATEMENT_LENGTHS] + fixed
        return int((lengths if order is None else lengths[order])[differs].sum())

    def _target(self, size: int) -> pa.Buffer:
        target = pa.allocate_buffer(size + SLACK)
        self._numbers[Order.TARGET] = target.address
        return target

    def _point(self, number: Order, array: Numbers) -> None:
        self._arrays[number] = np.ascontiguousarray(array)
        self._numbers[number] = self._arrays[number].ctypes.data


def _order(found: Sequence[BatchLines]) -> Numbers:
    """Return the numbers of lines in the order of the log. Those of each batch are in order already."""
    positions = np.concatenate([lines.positions for lines in found])
    rows = np.concatenate([lines.rows for lines in found])
    return np.argsort((positions - positions.min()) << _ROW_BITS | rows, kind="stable").astype(np.int64)


@cache
def _heading_words() -> Words:
    texts = {
        HeadingWord.GTID: "# ",
        HeadingWord.ANONYMOUS: "anonymous",
        HeadingWord.SERVER: "  server ",
        HeadingWord.THREAD: "  thread ",
        HeadingWord.STATEMENT: "  ",
    }
    return words_by_number(texts, HeadingWord)
