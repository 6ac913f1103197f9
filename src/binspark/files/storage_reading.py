"""Reading from a store: the further one reads on, the more is asked for at a time."""

from __future__ import annotations

import os
from typing import Any

from binspark.errors import SourceError
from binspark.files.storage import Storage
from binspark.files.storage_file import RawLog
from binspark.files.storage_reasons import reason_of
from binspark.position import Position

FIRST_AHEAD = 1 << 16
MOST_AHEAD = 1 << 23


class RemoteFile(RawLog):
    """An open file of a store.

    A look at the first bytes asks for little. Each read that goes on asks for twice as much as the one before, up to
    `MOST_AHEAD`; going far away begins anew.
    """

    def __init__(self, file: Any, name: str, storage: Storage) -> None:
        self._file = file
        self.size = int(file.size())
        self._name = name
        self._storage = storage
        self._offset = 0
        self._ahead = FIRST_AHEAD

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._offset

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go on reading elsewhere."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._offset, os.SEEK_END: self.size}[whence]
        target = max(0, base + offset)
        if abs(target - self._offset) > self._ahead:
            self._ahead = FIRST_AHEAD
        self._offset = target
        return target

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the beginning of a buffer; return how much, 0 at the end."""
        length = min(len(buffer), self._ahead, self.size - self._offset)
        if length <= 0:
            return 0
        try:
            self._file.seek(self._offset)
            count = int(self._file.readinto(memoryview(buffer)[:length]))
        except Exception as error:
            raise self._failed(error, self._offset) from None
        self._offset += count
        self._ahead = min(2 * self._ahead, MOST_AHEAD)
        return count

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset, fewer only at the end."""
        length = min(length, self.size - offset)
        try:
            return bytes(self._file.read_at(length, offset)) if length > 0 else b""
        except Exception as error:
            raise self._failed(error, offset) from None

    def close(self) -> None:
        """Close the file, once."""
        if not self.closed:
            self._file.close()
        super().close()

    def _failed(self, error: Exception, offset: int) -> SourceError:
        return SourceError(reason_of(error, self._storage), Position(self._name, offset))
