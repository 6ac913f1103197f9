"""Bytes that were fed and not yet taken."""

from __future__ import annotations


class Pending:
    """A queue of bytes. A large event that comes in many chunks is joined once, when it is complete."""

    __slots__ = ("_chunks", "_total", "_wanted", "buffer", "offset")

    def __init__(self) -> None:
        self.buffer = b""
        self.offset = 0
        self._chunks: list[bytes] = []
        self._total = 0
        self._wanted = 0

    def __len__(self) -> int:
        return self._total

    @property
    def available(self) -> int:
        """How many bytes stand in `buffer` from `offset` on."""
        return len(self.buffer) - self.offset

    def add(self, chunk: bytes) -> None:
        """Append bytes."""
        self._chunks.append(chunk)
        self._total += len(chunk)
        if self._total >= self._wanted:
            self._join()

    def want(self, length: int) -> None:
        """Say how many bytes the next event takes, so that chunks are not joined before."""
        self._wanted = length

    def peek(self, length: int) -> bytes:
        """Return the next bytes without taking them."""
        if self.available < length:
            self._join()
        return self.buffer[self.offset : self.offset + length]

    def take(self, length: int) -> bytes:
        """Return the next bytes, which must stand in the buffer, and step over them."""
        start = self.offset
        self.offset = start + length
        self._total -= length
        self._wanted = 0
        return self.buffer[start : self.offset]

    def _join(self) -> None:
        rest = self.buffer[self.offset :]
        self.buffer = b"".join([rest, *self._chunks]) if rest else b"".join(self._chunks)
        self.offset = 0
        self._chunks.clear()
