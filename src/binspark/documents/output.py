"""What kernels write objects to: bytes that grow, and a workspace for documents that grows, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import memmove, string_at
from secrets import randbits
from struct import pack, unpack
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.errors import Malformed, Unsupported
from binspark.kernels.compiler import Headway, callback_address
from binspark.kernels.objects.layout import MAX_DEPTH, SLACK, HardDouble, Key, Level, Outcome, Rows, Work
from binspark.kernels.variant import LATE_FUNCTIONS, WORKSPACE_FUNCTIONS, add_lasting_keys, begin_dictionary

Numbers = npt.NDArray[np.int64]
MAX_BYTES = (1 << 31) - 1
_FIRST_KEYS = 256
_AT, _LIMIT, _START, _OFFSETS = range(4)


class Output:
    """Values of variable size, as Arrow keeps them: bytes one after the other, and the offset of each.

    `target` are the four numbers that say where a kernel writes. It may write `row_room` bytes after the limit.
    """

    def __init__(self, target: Numbers, rows: int, expected_bytes: int, row_room: int = SLACK) -> None:
        self._target = target
        self._row_room = row_room
        self._offsets = np.zeros(rows + 1, dtype=np.int32)
        self._buffer = pa.allocate_buffer(min(expected_bytes + row_room, MAX_BYTES))
        self._set(0)

    def grow(self) -> None:
        """Take twice as much memory, and copy what was written."""
        if self._buffer.size == MAX_BYTES:
            raise too_much()
        used, old = self._used, self._buffer
        self._buffer = pa.allocate_buffer(min(2 * (old.size + self._row_room), MAX_BYTES))
        memmove(self._buffer.address, old.address, used)
        self._set(used)

    def buffers(self) -> list[pa.Buffer]:
        """Return the offsets and the bytes, as Arrow arrays take them."""
        return [pa.py_buffer(self._offsets), self._buffer.slice(0, self._used)]

    def taken(self) -> tuple[npt.NDArray[np.int32], pa.Buffer]:
        """Return the offsets and the bytes."""
        return self._offsets, self._buffer.slice(0, self._used)

    @property
    def limit(self) -> int:
        """The last address at which a value may begin."""
        return int(self._target[_LIMIT])

    @property
    def _used(self) -> int:
        return int(self._target[_AT] - self._target[_START])

    def _set(self, used: int) -> None:
        start = self._buffer.address
        limit = start + self._buffer.size - self._row_room
        self._target[:] = start + used, limit, start, self._offsets.ctypes.data


class Workspace:
    """Memory in which documents are parsed: their keys, their open arrays and objects, numbers that are hard to round.

    `lasting_keys` are in the dictionary of every row, from 0 on.
    """

    def __init__(self, lasting_keys: Sequence[bytes] = ()) -> None:
        self._lasting = b"".join(lasting_keys) + bytes(8)
        self._lengths = np.array([len(key) for key in lasting_keys], dtype=np.int64)
        self.numbers = np.zeros(Work.WIDTH, dtype=np.int64)
        self.numbers[Work.SEED] = randbits(63) | 1
        for number, function in WORKSPACE_FUNCTIONS.items():
            self.numbers[number] = callback_address(function)
        self._make(max(_FIRST_KEYS, 2 * len(lasting_keys)))

    @property
    def address(self) -> int:
        """The address of the numbers of the workspace."""
        return int(self.numbers.ctypes.data)

    def begin_row(self, limit: int) -> None:
        """Begin a row, of which nothing was written yet. `limit` is the last address at which values may begin."""
        self.numbers[Work.LIMIT] = limit
        begin_dictionary(self.address)

    def help(self, outcome: Outcome, row: int) -> None:
        """Do what a document of a row needs, or raise the error if it is invalid."""
        if outcome is Outcome.NO_WORKSPACE:
            self._make(4 * self._keys)
        elif outcome is Outcome.ASK_PYTHON:
            self._read_doubles()
        elif outcome in LATE_FUNCTIONS:
            number, function = LATE_FUNCTIONS[outcome]
            self.numbers[number] = callback_address(function)
        else:
            byte = self.numbers[Work.SOURCE]
            raise Malformed(f"invalid JSON document in row {row} of a batch, at byte {byte}")

    def _read_doubles(self) -> None:
        """Read the numbers that a kernel could not round."""
        for number in self._doubles[: self.numbers[Work.DOUBLE_COUNT]]:
            text = string_at(int(number[HardDouble.ADDRESS]), int(number[HardDouble.LENGTH]))
            number[HardDouble.BITS] = unpack("<q", pack("<d", float(text)))[0]
        self.numbers[Work.DOUBLE_ANSWERS] = self.numbers[Work.DOUBLE_COUNT]

    def _make(self, keys: int) -> None:
        self._keys = keys
        slots = 1 << (2 * keys).bit_length()
        self._memory: dict[Work, npt.NDArray[Any]] = {
            Work.SLOTS: np.zeros(slots, dtype=np.int64),
            Work.KEYS: np.empty(keys * Key.WIDTH, dtype=np.int64),
            Work.ENTRIES: np.empty(4 * keys, dtype=np.int64),
            Work.LEVELS: np.empty(Level.WIDTH * (MAX_DEPTH + 1), dtype=np.int64),
            Work.TEXT_START: np.empty(32 * keys + SLACK, dtype=np.uint8),
            Work.DOUBLES: np.empty(keys * HardDouble.WIDTH, dtype=np.int64),
        }
        numbers = self.numbers
        for number, memory in self._memory.items():
            numbers[number] = memory.ctypes.data
        self._doubles = self._memory[Work.DOUBLES].reshape(-1, HardDouble.WIDTH)
        numbers[Work.SLOT_MASK] = slots - 1
        numbers[Work.KEY_CAPACITY] = numbers[Work.DOUBLE_CAPACITY] = keys
        numbers[Work.DOUBLE_ANSWERS] = 0
        numbers[Work.ENTRIES_END] = numbers[Work.ENTRIES] + self._memory[Work.ENTRIES].nbytes
        numbers[Work.TEXT_LIMIT] = numbers[Work.TEXT_START] + 32 * keys
        lasting = np.frombuffer(self._lasting, dtype=np.uint8)
        add_lasting_keys(self.address, self._lengths.ctypes.data, lasting.ctypes.data, len(self._lengths))


def write_all(
    kernel: Callable[[int], int],
    numbers: Numbers,
    values: Output,
    dictionaries: Output | None = None,
    workspace: Workspace | None = None,
) -> None:
    """Write all rows by a kernel; when it needs room, grow the buffer and repeat the row."""
    headway = Headway()
    while True:
        if workspace is not None:
            workspace.begin_row(values.limit)
        outcome = kernel(numbers.ctypes.data)
        headway.check(int(numbers[Rows.ROW]))
        if outcome == Outcome.DONE:
            return
        if outcome == Outcome.NO_ROOM:
            values.grow()
        elif outcome == Outcome.NO_META_ROOM and dictionaries is not None:
            dictionaries.grow()
        elif workspace is not None:
            workspace.help(Outcome(outcome), int(numbers[Rows.ROW]))
        else:
            raise Malformed(f"text in row {numbers[Rows.ROW]} of a batch is not UTF-8")


def too_much() -> Unsupported:
    """Return the error for a batch whose objects do not fit an Arrow array."""
    return Unsupported("the objects of a batch take more than 2 GiB; a smaller batch is needed")
