"""The events of a log, from a position on, as `mariadb-binlog` reads them."""

from __future__ import annotations

from collections.abc import Iterator

from binspark.errors import DecodeError, SourceError
from binspark.files.read import bad_checksum
from binspark.files.sources import LogSource
from binspark.files.storage.store import LogFile
from binspark.frames import ChecksumState, EventCode, Frame, Framer
from binspark.os_errors import describe_os_error
from binspark.position import Position

_CHUNK = 1 << 20
_HEAD = 1 << 13
_DESCRIPTION, _ROTATE = EventCode.FORMAT_DESCRIPTION, EventCode.ROTATE


class LogEnds(Exception):
    """What follows in a log cannot be read as events. In the active log of a server that is not an error."""

    def __init__(self, error: DecodeError) -> None:
        super().__init__(error)
        self.error = error


class LogReader:
    """Reads the events of one log."""

    def __init__(self, source: LogSource, *, verifies_checksums: bool) -> None:
        self._source = source
        self._verifies_checksums = verifies_checksums
        self._framer = self._new_framer(Framer(report_checksums=True))

    def frames(self) -> Iterator[Frame]:
        """Yield the format descriptions at the beginning of the log, then every event from `source.start` on."""
        try:
            with self._source.open() as file:
                if self._source.start > self._framer.offset:
                    yield from self._head(file)
                for chunk in _chunks(file):
                    yield from map(self._checked, self._framer.feed(chunk))
                self._framer.finish()
        except DecodeError as error:
            raise LogEnds(error.at(Position(file=self._source.name))) from None
        except OSError as error:
            raise SourceError(describe_os_error(error), Position(self._source.name, self._framer.offset)) from None

    def _new_framer(self, framer: Framer) -> Framer:
        framer.verifies_checksums = self._verifies_checksums
        return framer

    def _head(self, file: LogFile) -> Iterator[Frame]:
        """Yield the format descriptions before the start, and move there. A relay log has two, and a rotation."""
        start, read, is_head = self._source.start, 0, True
        while is_head and (chunk := file.read(_HEAD)):
            read += len(chunk)
            for frame in self._framer.feed(chunk):
                is_head = frame.end_offset < start and frame.type_code in (_DESCRIPTION, _ROTATE)
                if frame.type_code == _DESCRIPTION and frame.offset < start:
                    yield self._checked(frame)
                if not is_head:
                    break
        if self._framer.format is None:
            return
        self._framer = self._new_framer(Framer(self._framer.format, start, report_checksums=True))
        if file.seekable():
            file.seek(start)
            return
        rest = chunk[start - read :] if read > start else b""
        while read < start and (chunk := file.read(min(_CHUNK, start - read))):
            read += len(chunk)
        yield from map(self._checked, self._framer.feed(rest))

    def _checked(self, frame: Frame) -> Frame:
        if frame.checksum is ChecksumState.BAD and self._verifies_checksums:
            raise bad_checksum(frame, self._source.name)
        return frame


def _chunks(file: LogFile) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk
