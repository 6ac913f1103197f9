"""Where a dump is written: bytes, collected into large writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

_FLUSH_BYTES = 1 << 20
_MIN_VIEW_BYTES = 1 << 16
Write = Callable[[Sequence[bytes | memoryview]], None]


class Output(Protocol):
    """Takes the bytes of a dump."""

    def write(self, text: bytes) -> None:
        """Append bytes."""


class BufferedOutput:
    """Collects bytes and hands them on in lists of about a megabyte."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._texts: list[bytes | memoryview] = []
        self._size = 0

    def write(self, text: bytes) -> None:
        """Append bytes."""
        self._texts.append(text)
        self._size += len(text)
        if self._size >= _FLUSH_BYTES:
            self.flush()

    def write_view(self, text: memoryview) -> None:
        """Append bytes that the caller changes afterwards: many of them are handed on at once, without a copy."""
        if len(text) < _MIN_VIEW_BYTES:
            self.write(bytes(text))
            return
        self._texts.append(text)
        self.flush()

    def flush(self) -> None:
        """Hand on what was collected."""
        texts, self._texts, self._size = self._texts, [], 0
        if texts:
            self._write(texts)
