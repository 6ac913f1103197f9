"""Encrypted logs, read as if they were not: decrypted where they are read, from any offset, in bounded memory.

Offsets are those of the log as the server names them. What is read are the bytes that the server would send: in a log
of MariaDB, the event that says that the rest is encrypted is one to be ignored.
"""

from __future__ import annotations

import os
from bisect import bisect_right, insort
from collections.abc import Callable, Iterator
from typing import BinaryIO, cast

from binspark.encryption.keyring import Keyring
from binspark.encryption.mariadb import SIZE_KNOWN, EventDecryptor, Middle, event_size, find_events, middle_of
from binspark.encryption.mysql import HEADER_LENGTH, FileKey, file_key
from binspark.encryption.start import Begin, encryption_start
from binspark.errors import DecodeError
from binspark.files.storage.local import StreamFile
from binspark.files.storage.store import LogFile, RawLog
from binspark.frames.magic import ENCRYPTED_MAGIC
from binspark.position import Position

HEAD_BYTES = 1 << 12
"""How many bytes of a file show whether and how it is encrypted."""

_CHUNK = 1 << 18
_NEAR = 1 << 20
"""Up to this distance, going from event to event is cheaper than searching for one."""
_WHOLE_BLOCKS = 32
"""How many bytes more are read, so that the block and the header at the end are complete."""
_MAX_KNOWN = 1 << 12


def in_clear(stored: LogFile, keyring: Keyring, name: str) -> LogFile:
    """Return a log decrypted; the log itself if it is not encrypted."""
    if stored.seekable():
        head = stored.read_at(0, HEAD_BYTES)
    else:
        head = stored.read(HEAD_BYTES)
        stored = LogFile(_Stream(head, stored))
    try:
        if head.startswith(ENCRYPTED_MAGIC):
            return LogFile(MysqlLog(stored, file_key(head, keyring), name))
        if (begin := encryption_start(head, keyring)) is not None:
            return LogFile(MariadbLog(stored, begin))
    except DecodeError as error:
        raise error.at(Position(name, 0)) from None
    return stored


class _Stream(StreamFile):
    """A stream of which the first bytes have been read already."""

    def __init__(self, head: bytes, rest: LogFile) -> None:
        super().__init__(cast("BinaryIO", rest))
        self._head = head

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer as far as bytes are available."""
        if not self._head:
            return super().readinto(buffer)
        count = min(len(buffer), len(self._head))
        buffer[:count], self._head = self._head[:count], self._head[count:]
        return count


class _DecryptedLog(RawLog):
    """What both families have in common: the offset in the log, and the file below."""

    _stored: LogFile
    _offset = 0

    @property
    def is_compressed(self) -> bool:  # type: ignore[override]
        """Whether the encrypted file is compressed too."""
        return self._stored.is_compressed

    def readable(self) -> bool:
        """Return True, as `io` requires."""
        return True

    def seekable(self) -> bool:
        """Return whether the encrypted file is seekable."""
        return self._stored.seekable()

    def tell(self) -> int:
        """Return the offset of the next read."""
        return self._offset

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Continue to read at another offset."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._offset}.get(whence)
        target = max(0, offset + (self.size if base is None else base))
        if target != self._offset:
            self._offset = target
            self._moved()
        return target

    def _moved(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Close the file, once."""
        if not self.closed:
            self._stored.close()
        super().close()


class MysqlLog(_DecryptedLog):
    """A log that MySQL encrypted."""

    def __init__(self, stored: LogFile, key: FileKey, name: str) -> None:
        self._stored, self._key, self._name = stored, key, name
        self._scratch = memoryview(bytearray(_CHUNK))
        self._cipher = key.stream(0)
        if stored.seekable():
            stored.seek(HEADER_LENGTH)
        else:
            stored.read(HEADER_LENGTH)

    @property
    def size(self) -> int:  # type: ignore[override]
        """The size of the log, without the header of the encryption."""
        return self._stored.size - HEADER_LENGTH

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the beginning of a buffer; return the number of bytes, 0 at the end."""
        count = self._stored.readinto(self._scratch[: len(buffer)])
        buffer[:count] = self._cipher.update(self._scratch[:count])
        self._offset += count
        return count

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset: fewer than `length` only at the end."""
        return self._key.decrypt(self._stored.read_at(HEADER_LENGTH + offset, length), offset)

    def _moved(self) -> None:
        self._stored.seek(HEADER_LENGTH + self._offset)
        self._cipher = self._key.stream(self._offset)


class MariadbLog(_DecryptedLog):
    """A log that MariaDB encrypted.

    The last bytes of an event that is not complete cannot be decrypted. They are not read from an active log, whose
    server will complete them; at the end of another log they are zeros, so that it is truncated where it is.
    """

    def __init__(self, stored: LogFile, begin: Begin) -> None:
        self._stored, self._begin = stored, begin
        self._known = [begin.first_event]
        self._chunks: Iterator[bytes] | None = None
        self._decrypted = b""
        if not stored.seekable():
            stored.read(begin.first_event)

    @property
    def size(self) -> int:  # type: ignore[override]
        """How many bytes the log had when it was opened."""
        return self._stored.size

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the beginning of a buffer; return the number of bytes, 0 at the end."""
        if not self._decrypted:
            self._decrypted = self._next_chunk()
        count = min(len(buffer), len(self._decrypted))
        buffer[:count], self._decrypted = self._decrypted[:count], self._decrypted[count:]
        self._offset += count
        return count

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset: fewer than `length` only at the end."""
        found = self._begin.readable[offset : offset + length]
        if len(found) == length:
            return found
        decryptor = self._decryptor_at(offset + len(found))
        at, end = decryptor.position, offset + length

        def read() -> bytes:
            nonlocal at
            data = self._stored.read_at(at, min(_CHUNK, max(end - at, 0) + _WHOLE_BLOCKS))
            at += len(data)
            return data

        chunks = self._plain(decryptor, offset + len(found), read)
        while len(found) < length and (chunk := next(chunks, b"")):
            found += chunk
        return found[:length]

    def _next_chunk(self) -> bytes:
        if self._offset < self._begin.first_event:
            return self._begin.readable[self._offset :]
        if self._chunks is None:
            if self.seekable():
                decryptor = self._decryptor_at(self._offset)
                self._stored.seek(decryptor.position)
            else:
                decryptor = self._decryptor(self._offset)
            self._chunks = self._plain(decryptor, self._offset, lambda: self._stored.read1(_CHUNK))
        chunk = next(self._chunks, b"")
        if not chunk and self.seekable():
            self._chunks = None  # a server may append to the log
        return chunk

    def _moved(self) -> None:
        self._chunks, self._decrypted = None, b""

    def _plain(self, decryptor: EventDecryptor, offset: int, read: Callable[[], bytes]) -> Iterator[bytes]:
        """Yield the log from an offset on, which may be after where a decryptor begins."""
        skipped = offset - decryptor.position
        while data := read():
            plain = decryptor.feed(data)
            if len(plain) > skipped:
                yield plain[skipped:]
            skipped = max(0, skipped - len(plain))
        if not self._begin.in_use and (rest := decryptor.rest()[skipped:]):
            yield rest

    def _decryptor_at(self, offset: int) -> EventDecryptor:
        """Return a decryptor that begins at an offset, or not long before."""
        event, size = self._event_before(offset)
        if offset - event <= _NEAR or offset >= event + size:
            start: int | Middle = event
        else:
            start = middle_of(event, size, offset, self._stored.read_at)
        return self._decryptor(start)

    def _decryptor(self, start: int | Middle) -> EventDecryptor:
        return EventDecryptor(self._begin.key, start, checked=not self._begin.relay)

    def _event_before(self, offset: int) -> tuple[int, int]:
        """Return the position and the size of an event at or before an offset, as near as one can be found."""
        event = self._known[bisect_right(self._known, offset) - 1]
        size = self._size_of(event)
        if offset < event + size or offset - event <= _NEAR or self._begin.relay:
            return event, size
        end = offset + _WHOLE_BLOCKS
        while end > event + size:
            start = max(event + size, end - _CHUNK)
            found = find_events(self._begin.key, self._stored.read_at(start, end - start), start)
            before = [position for position in found if position <= offset]
            if before:
                self._remember(before[-1])
                return before[-1], self._size_of(before[-1])
            end = start + _WHOLE_BLOCKS if start > event + size else start
        return event, size

    def _size_of(self, event: int) -> int:
        return event_size(self._stored.read_at(event, SIZE_KNOWN))

    def _remember(self, event: int) -> None:
        insort(self._known, event)
        if len(self._known) > _MAX_KNOWN:
            del self._known[1::2]
