"""Text that is kept until its statement ends: in memory while it is little, then in a temporary file."""

from __future__ import annotations

import tempfile
from typing import IO

from binspark.dump.output import Output

_MEMORY_BYTES = 32 << 20
_COPY_BYTES = 1 << 20


class TextBuffer:
    """Collects bytes, and writes them to an output in their order."""

    def __init__(self, memory_bytes: int = _MEMORY_BYTES) -> None:
        self._memory_bytes = memory_bytes
        self._texts: list[bytes] = []
        self._size = 0
        self._spilled: IO[bytes] | None = None

    def __bool__(self) -> bool:
        return self._size > 0 or self._spilled is not None

    def write(self, text: bytes) -> None:
        """Append bytes."""
        self._texts.append(text)
        self._size += len(text)
        if self._size > self._memory_bytes:
            self._spill()

    def flush_to(self, output: Output) -> None:
        """Write everything to an output, and begin again."""
        if self._spilled is not None:
            self._spill()
            self._spilled.seek(0)
            while chunk := self._spilled.read(_COPY_BYTES):
                output.write(chunk)
            self._spilled.close()
            self._spilled = None
        for text in self._texts:
            output.write(text)
        self._texts.clear()
        self._size = 0

    def _spill(self) -> None:
        if self._spilled is None:
            self._spilled = tempfile.TemporaryFile(prefix="binspark-")  # noqa: SIM115 (closed when it was copied)
        self._spilled.writelines(self._texts)
        self._texts.clear()
        self._size = 0
