"""What readers of events and of transactions have in common: kernels list them, and Python takes single events."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from binspark.columns.log_scan import LogScan, Numbers, event_size, frame_at
from binspark.columns.scan_memory import ScanMemory
from binspark.errors import DecodeError
from binspark.event import Event, EventDecoder, TransactionPayload
from binspark.frames import Frame
from binspark.frames.payload import DEFAULT_LIMITS, Limits
from binspark.kernels.layout import State, Stop
from binspark.kernels.list_layout import NULL

__all__ = ["ListReader", "int_array", "strings_of", "times_of"]


class ListReader(LogScan[pa.RecordBatch]):
    """Lists what is in one log after the other.

    files    the names of the logs so far; numbers refer to them
    """

    def __init__(self, capacity: int, *, expand_payloads: bool = True, limits: Limits = DEFAULT_LIMITS) -> None:
        super().__init__(np.zeros(State.WIDTH, dtype=np.int64))
        self.files: list[str] = []
        self._expands = expand_payloads
        self._limits = limits
        self._decoder = EventDecoder("", limits)
        self._memory = ScanMemory(self.state, self._scan_bytes, limits)
        self.state[State.LIST_CAPACITY] = capacity
        self.state[State.TRANSACTION] = -1

    @abstractmethod
    def _take(self, event: Event) -> Iterator[pa.RecordBatch]:
        """Take an event that the kernel leaves to Python."""

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Yield what is left: there are no more logs."""
        return self._flush()

    def _begin_part(self, file: str) -> None:
        if self.files[-1:] != [file]:
            self.files.append(file)
        self.state[State.FILE] = len(self.files) - 1
        self._decoder = EventDecoder(file, self._limits)

    def _first_frame(self, frame: Frame) -> Iterator[pa.RecordBatch]:
        return self._take(self._decoder.decode(frame))

    def _frame_for_python(self, frame: Frame) -> Iterator[pa.RecordBatch]:
        return self._take(self._decoder.decode(frame))

    def _stopped(self, stop: int) -> Iterator[pa.RecordBatch]:
        if stop == Stop.FULL:
            yield from self._make_room()
            return
        yield from self._leave_bytes()  # in the format so far: the next event may change it
        state = self.state
        event = self._decoder.decode(self._frame())
        yield from self._take(event)
        if isinstance(event.body, TransactionPayload) and self._expands:
            yield from self._memory.payload(event)
        at = int(state[State.AT])
        state[State.AT] = at + event_size(at)
        state[State.INNER_NUMBER] += state[State.INNER]

    def _make_room(self) -> Iterator[pa.RecordBatch]:
        """Yield what was listed, because there is no room for more."""
        return self._flush()

    def _frame(self) -> Frame:
        """Frame the event that the scan is at."""
        state = self.state
        number, is_inner = int(state[State.INNER_NUMBER]), bool(state[State.INNER])
        try:
            frame = frame_at(state, self._framer)
        except DecodeError as error:
            inside = f"event {number} inside TRANSACTION_PAYLOAD: " if is_inner else ""
            raise type(error)(inside + error.message, error.position) from None
        if is_inner:
            return frame._replace(end_offset=int(state[State.OUTER_END]), inner=number)
        self._use_format(frame.format)
        return frame


def int_array(numbers: Numbers, kind: pa.DataType) -> pa.Array:
    """Return numbers as a column of a type of integers; NULL where a number is not there."""
    missing = numbers == NULL
    if not missing.any():
        return pa.array(numbers.astype(kind.to_pandas_dtype()))
    return pa.array(np.where(missing, 0, numbers).astype(kind.to_pandas_dtype()), mask=missing)


def times_of(microseconds: Numbers, kind: pa.DataType) -> pa.Array:
    """Return times as a column; NULL where a time is not there."""
    return int_array(microseconds, pa.int64()).view(kind)


def strings_of(indexes: Numbers, words: pa.Array) -> pa.Array:
    """Return the word for each index; NULL where an index is not there."""
    return words.take(int_array(indexes, pa.int32()))
