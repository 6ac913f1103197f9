"""Standard input as a log that can be read more than once: it is copied to a temporary file."""

from __future__ import annotations

import shutil
import sys
import tempfile
from typing import BinaryIO

from binspark.files.storage.local import LocalFile, StreamFile
from binspark.files.storage.store import LogFile
from binspark.os_errors import source_errors

STANDARD_INPUT = "-"
_BLOCK = 1 << 20


class _Copy:
    """The copy of a stream. The file is deleted with it, at the latest when the process ends."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self._file = tempfile.NamedTemporaryFile(prefix="binspark-standard-input-")  # noqa: SIM115 (open until the end)
        shutil.copyfileobj(stream, self._file, _BLOCK)
        self._file.flush()

    def open(self) -> LogFile:
        return LogFile(LocalFile(self._file.name))


class _Kept:
    copy: _Copy | None = None


def keep_standard_input() -> None:
    """Copy standard input, unless that was done, so that it can be read more than once from now on."""
    if not is_kept():
        with source_errors(STANDARD_INPUT):
            _Kept.copy = _Copy(sys.stdin.buffer)


def is_kept() -> bool:
    """Return whether standard input can be read more than once."""
    return _Kept.copy is not None and _Kept.copy.stream is sys.stdin.buffer


def open_standard_input() -> LogFile:
    """Open standard input, or its copy."""
    if _Kept.copy is not None and is_kept():
        return _Kept.copy.open()
    return LogFile(StreamFile(sys.stdin.buffer))
