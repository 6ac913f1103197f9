"""Compressed logs, read as if they were not: a stream that is decompressed while it is read, in bounded memory."""

from __future__ import annotations

import os
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, cast

from binspark.errors import DecodeError, Malformed, Truncated
from binspark.files.storage.store import LogFile, RawLog
from binspark.position import Position

HEAD_LENGTH = 6
"""How many bytes show how a file is compressed."""

_CHUNK = 1 << 18
_KEPT_BYTES = 4 << 20


class Codec(NamedTuple):
    """A way to compress files: its name, how such files begin, and what decompresses one."""

    name: str
    magic: bytes
    open: Callable[[BinaryIO], BinaryIO]


def _gzip(file: BinaryIO) -> BinaryIO:
    import gzip

    return cast("BinaryIO", gzip.GzipFile(fileobj=file))


def _bzip2(file: BinaryIO) -> BinaryIO:
    import bz2

    return cast("BinaryIO", bz2.BZ2File(file))


def _xz(file: BinaryIO) -> BinaryIO:
    import lzma

    return cast("BinaryIO", lzma.LZMAFile(file))


def _arrow(name: str) -> Callable[[BinaryIO], BinaryIO]:
    def open_stream(file: BinaryIO) -> BinaryIO:
        import pyarrow as pa

        return cast("BinaryIO", pa.CompressedInputStream(pa.PythonFile(file, "r"), name))

    return open_stream


_CODECS = (
    Codec("gzip", b"\x1f\x8b", _gzip),
    Codec("zstd", b"\x28\xb5\x2f\xfd", _arrow("zstd")),
    Codec("xz", b"\xfd7zXZ\x00", _xz),
    Codec("bzip2", b"BZh", _bzip2),
    Codec("lz4", b"\x04\x22\x4d\x18", _arrow("lz4")),
)


def codec_of(head: bytes) -> Codec | None:
    """Return how a file is compressed that begins with some bytes; None if it is not."""
    return next((codec for codec in _CODECS if head.startswith(codec.magic)), None)


class Decompressed:
    """The content of a compressed file, from its beginning to its end."""

    def __init__(self, file: LogFile, codec: Codec, name: str) -> None:
        self.offset = 0
        self._file = file
        self._codec = codec
        self._name = name
        with self._errors():
            self._stream: Any = codec.open(file)

    def readinto(self, buffer: memoryview) -> int:
        """Fill the beginning of a buffer; return the number of bytes, 0 at the end."""
        with self._errors():
            count = int(self._stream.readinto(buffer))
        self.offset += count
        return count

    def read(self, length: int) -> bytes:
        """Return the next bytes, fewer than `length` if that is all there is now; none at the end."""
        with self._errors():
            data = bytes(self._stream.read(length))
        self.offset += len(data)
        return data

    def skip_to(self, offset: int) -> None:
        """Skip bytes up to an offset, or up to the end."""
        while self.offset < offset and self.read(min(_CHUNK, offset - self.offset)):
            pass

    def stored_position(self) -> int:
        """Return how far the compressed file is read."""
        return self._file.stored_position()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        self._file.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn what a decompressor raises into a `DecodeError`; an error of the system remains what it is."""
        try:
            yield
        except EOFError:
            raise self._truncated() from None
        except (zlib.error, OSError, ValueError, ArithmeticError) as error:
            if isinstance(error, DecodeError) or (isinstance(error, OSError) and error.errno):
                raise
            raise self._refused(error) from None
        except Exception as error:
            if type(error).__name__ != "LZMAError":  # its module is loaded only for xz
                raise
            raise self._refused(error) from None

    def _refused(self, error: Exception) -> DecodeError:
        reason = str(error)
        if "truncated" in reason.lower():
            return self._truncated()
        return Malformed(f"the file is not valid {self._codec.name}: {reason}", Position(self._name, self.offset))

    def _truncated(self) -> Truncated:
        message = f"the compressed file ({self._codec.name}) is cut off"
        return Truncated(message, Position(self._name, self.offset))


class CompressedFile(RawLog):
    """A compressed file as a log that is not compressed.

    It is read from its beginning to its end. To go back, it is decompressed again from its beginning; what was read
    last by `read_at` is kept, so that small steps back do not cost that.
    """

    is_compressed = True

    def __init__(self, open_file: Callable[[], LogFile], codec: Codec, name: str) -> None:
        self._open_file, self._codec, self._name = open_file, codec, name
        self._content = self._begin()
        self._other: _Window | None = None
        self._size: int | None = None

    def _begin(self) -> Decompressed:
        return Decompressed(self._open_file(), self._codec, self._name)

    @property
    def size(self) -> int:  # type: ignore[override]
        """The size of the log; finding it takes as long as decompressing all of it."""
        if self._size is None:
            content = self._begin()
            while content.read(_CHUNK):
                pass
            content.close()
            self._size = content.offset
        return self._size

    def readable(self) -> bool:
        """Return True, as `io` requires."""
        return True

    def seekable(self) -> bool:
        """Return True, as `io` requires."""
        return True

    def tell(self) -> int:
        """Return the offset of the next read."""
        return self._content.offset

    def stored_position(self) -> int:
        """Return how far the compressed file is read."""
        return self._content.stored_position()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Continue to read at another offset."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._content.offset}.get(whence)
        target = max(0, offset + (self.size if base is None else base))
        if target < self._content.offset:
            self._content.close()
            self._content = self._begin()
        self._content.skip_to(target)
        return target

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the beginning of a buffer; return the number of bytes, 0 at the end."""
        return self._content.readinto(buffer)

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset: fewer than `length` only at the end."""
        if self._other is None or offset < self._other.start:
            if self._other is not None:
                self._other.close()
            self._other = _Window(self._begin())
        return self._other.read_at(offset, length)

    def close(self) -> None:
        """Close the file, once."""
        if not self.closed:
            self._content.close()
            if self._other is not None:
                self._other.close()
        super().close()


class _Window:
    """The bytes of a stream that were read last."""

    def __init__(self, content: Decompressed) -> None:
        self.start = 0
        self._content = content
        self._chunks: deque[bytes] = deque()

    def read_at(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset, which must not be before `start`."""
        if offset > self._content.offset + _KEPT_BYTES:
            self._chunks.clear()
            self._content.skip_to(offset)
            self.start = self._content.offset
        while self._content.offset < offset + length and (chunk := self._content.read(_CHUNK)):
            self._chunks.append(chunk)
            while self._content.offset - self.start - len(self._chunks[0]) > _KEPT_BYTES + length:
                self.start += len(self._chunks.popleft())
        return self._between(offset, offset + length)

    def _between(self, begin: int, end: int) -> bytes:
        parts, at = [], self.start
        for chunk in self._chunks:
            if at < end and begin < at + len(chunk):
                parts.append(chunk[max(0, begin - at) : end - at])
            at += len(chunk)
        return b"".join(parts)

    def close(self) -> None:
        """Close the stream."""
        self._content.close()
