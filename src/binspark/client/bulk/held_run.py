"""Bytes of events that follow each other in a file, held until their transaction has ended."""

from __future__ import annotations

import tempfile
import weakref
from typing import IO

import numpy as np
import numpy.typing as npt

from binspark.frames import LogFormat

Bytes = npt.NDArray[np.uint8]


class HeldRun:
    """Holds bytes in memory while they are few, then in a temporary file.

    file, offset  where the first of them stands
    format        how the events are laid out
    is_odd        whether they are such that offsets do not tell all of the rows in them
    """

    def __init__(self, file: str, offset: int, log_format: LogFormat, memory_bytes: int) -> None:
        self.file = file
        self.offset = offset
        self.format = log_format
        self.is_odd = False
        self._memory_bytes = memory_bytes
        self._bytes = bytearray()
        self._spilled: IO[bytes] | None = None
        self._size = 0

    @property
    def end(self) -> int:
        """The offset behind the last byte."""
        return self.offset + self._size

    def add(self, data: memoryview, *, is_odd: bool) -> None:
        """Hold more bytes."""
        self._size += len(data)
        self.is_odd |= is_odd
        if self._spilled is None and self._size > self._memory_bytes:
            self._spill()
        if self._spilled is None:
            self._bytes += data
        else:
            self._spilled.write(data)

    def cut(self, end: int, log_format: LogFormat) -> tuple[Bytes, HeldRun]:
        """Return the bytes up to an offset, and what holds the rest, whose format may be another."""
        whole = self._array()
        length = end - self.offset
        rest = HeldRun(self.file, end, log_format, self._memory_bytes)
        rest.add(memoryview(whole[length:].tobytes()), is_odd=self.is_odd and length < len(whole))
        return whole[:length], rest

    def _spill(self) -> None:
        self._spilled = tempfile.TemporaryFile(prefix="binspark-")  # noqa: SIM115 (closed with this object)
        weakref.finalize(self, self._spilled.close)
        self._spilled.write(self._bytes)
        self._bytes = bytearray()

    def _array(self) -> Bytes:
        """Return all bytes; those of a file are mapped, and stay when it is closed."""
        if self._spilled is None:
            return np.frombuffer(self._bytes, dtype=np.uint8)
        self._spilled.flush()
        return np.memmap(self._spilled, dtype=np.uint8, mode="r")
