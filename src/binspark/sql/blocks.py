"""Parts of a script, put together into blocks; for an undo, in reverse order, from a temporary file.

Whether a script is written forwards or backwards, it is made in the order of the log. What is undone is kept until the
log is read: so nothing is printed if something in it cannot be undone. Memory has one block, however large the log is.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import pyarrow as pa

from binspark.files.progress import begin_job
from binspark.sql.session import ROWS, Settings, change_of_settings

_BLOCK_BYTES = 1 << 20
_IN_MEMORY = 16 << 20
_CODEC = "lz4"


class _Part(NamedTuple):
    text: bytes
    settings: Settings | None
    after: Settings | None


class Blocks(Protocol):
    """Collects a script."""

    def add(self, text: bytes, settings: Settings | None = None, after: Settings | None = None) -> None:
        """Add a part, the settings that it needs, None if any will do, and those after it if it changes them."""

    def ready(self) -> Iterator[bytes]:
        """Yield what can be written already."""

    def rest(self) -> Iterator[bytes]:
        """Yield everything else, at the end."""

    def close(self) -> None:
        """Discard what was collected."""


class ForwardBlocks:
    """A script in the order of the log."""

    def __init__(self) -> None:
        self._texts: list[bytes] = []
        self._bytes = 0
        self._settings: Settings = ROWS

    def add(self, text: bytes, settings: Settings | None = None, after: Settings | None = None) -> None:
        """Add a part, the settings that it needs, None if any will do, and those after it if it changes them."""
        if settings is not None and settings != self._settings:
            self._texts.append(change_of_settings(self._settings, settings).encode())
            self._settings = settings
        self._texts.append(text)
        self._bytes += len(text)
        if after is not None:
            self._settings = after

    def ready(self) -> Iterator[bytes]:
        """Yield what can be written already: a block, if it is complete."""
        if self._bytes >= _BLOCK_BYTES:
            yield from self._flush()

    def rest(self) -> Iterator[bytes]:
        """Yield the last block; after it the session is as it was at the beginning of the script."""
        self.add(b"", ROWS)
        yield from self._flush()

    def close(self) -> None:
        """Discard what was collected."""
        self._texts.clear()

    def _flush(self) -> Iterator[bytes]:
        block = b"".join(self._texts)
        self._texts.clear()
        self._bytes = 0
        if block:
            yield block


class ReversedBlocks:
    """A script in reverse order: of its parts, not of what is in them. Blocks are compressed in a temporary file."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self._bytes = 0
        self._file: tempfile.SpooledTemporaryFile[bytes] | None = None
        self._sizes: list[tuple[int, int]] = []
        self._dropped: set[int] = set()

    def add(self, text: bytes, settings: Settings | None = None, after: Settings | None = None) -> None:
        """Add a part, the settings that it needs, None if any will do, and those after it if it changes them."""
        self._parts.append(_Part(text, settings, after))
        self._bytes += len(text)
        if self._bytes >= _BLOCK_BYTES:
            self._store()

    def next_block(self) -> int:
        """Begin a new block, and return its number."""
        self._store()
        return len(self._sizes)

    def drop(self, first: int, last: int) -> None:
        """Leave out the blocks from one up to another."""
        self._dropped.update(range(first, last))

    def ready(self) -> Iterator[bytes]:
        """Yield nothing: what comes first is known at the end."""
        return iter(())

    def rest(self) -> Iterator[bytes]:
        """Yield the blocks, the last one first."""
        self._store()
        file = self._open_file()
        end = file.tell()
        written, total = 0, sum(size for size, _ in self._sizes)
        begin_job("writing", lambda: written, total)
        for number, (size, stored) in reversed(list(enumerate(self._sizes))):
            end -= stored
            written += size
            if number in self._dropped:
                continue
            file.seek(end)
            yield pa.decompress(file.read(stored), decompressed_size=size, codec=_CODEC, asbytes=True)
        self.close()

    def close(self) -> None:
        """Delete the temporary file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open_file(self) -> tempfile.SpooledTemporaryFile[bytes]:
        if self._file is None:
            self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 (see close)
        return self._file

    def _store(self) -> None:
        """Store a block. Each begins and ends with the settings for rows."""
        texts: list[bytes] = []
        settings: Settings = ROWS
        for part in reversed(self._parts):
            if part.settings is not None and part.settings != settings:
                texts.append(change_of_settings(settings, part.settings).encode())
                settings = part.settings
            texts.append(part.text)
            settings = settings if part.after is None else part.after
        texts.append(change_of_settings(settings, ROWS).encode())
        block = b"".join(texts)
        self._parts.clear()
        self._bytes = 0
        if block:
            stored = pa.compress(block, codec=_CODEC, asbytes=True)
            self._open_file().write(stored)
            self._sizes.append((len(block), len(stored)))
