"""One log file as it is written: events one after the other, each with its header, position and checksum."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from binspark.errors import EncodeError
from binspark.frames import MAGIC, EventCode, Header, HeaderFlag, LogFormat
from binspark.frames.checksum import checksum_of, with_in_use_flag_clear
from binspark.frames.format import CHECKSUM_LENGTH, SERVER_VERSION_LENGTH, carries_checksum, split_server_version
from binspark.frames.header import encode_header
from binspark.wire import Writer

_U32 = 1 << 32
_SERVER_VERSION = slice(2, 2 + SERVER_VERSION_LENGTH)
_FLAGS_OF_FIRST_EVENT = len(MAGIC) + 17


class Stamp(NamedTuple):
    """What a header says besides type, size and position."""

    timestamp: int
    server_id: int
    flags: int = 0


class Lies(NamedTuple):
    """What an event says of itself instead of the truth; None is the truth."""

    event_size: int | None = None
    next_position: int | None = None
    checksum: bytes | None = None


THE_TRUTH = Lies()


@dataclass(slots=True)
class LogFile:
    """A file of a log: its name, and its bytes as runs of (offset, bytes). More than one run leaves a hole."""

    name: str
    format: LogFormat
    offset: int = len(MAGIC)
    _runs: list[tuple[int, bytearray]] = field(default_factory=lambda: [(0, bytearray(MAGIC))])

    @property
    def content(self) -> bytes:
        """All bytes of the file."""
        if len(self._runs) > 1:
            raise EncodeError(f"{self.name} has a hole before offset {self._runs[-1][0]}; `save` can write it")
        return bytes(self._runs[0][1])

    @property
    def tail(self) -> bytes:
        """The bytes behind the last hole; all bytes where there is none."""
        return bytes(self._runs[-1][1])

    def save(self, folder: Path) -> Path:
        """Write the file; holes take no room on disk."""
        path = folder / self.name
        with path.open("wb") as file:
            for offset, run in self._runs:
                file.seek(offset)
                file.write(run)
        return path

    def skip_to(self, offset: int) -> None:
        """Go on at another offset, as if the bytes between had been written."""
        self._runs.append((offset, bytearray()))
        self.offset = offset

    def mark_in_use(self) -> None:
        """Set the flag of a log that is still being written."""
        self._runs[0][1][_FLAGS_OF_FIRST_EVENT] |= HeaderFlag.BINLOG_IN_USE

    def append(self, type_code: int, body: bytes, stamp: Stamp, lies: Lies = THE_TRUTH) -> None:
        """Write one event at the end of the file."""
        self.copy(event_bytes(type_code, body, stamp, self.format, self.offset, lies))

    def copy(self, events: bytes) -> None:
        """Write bytes as they are at the end of the file."""
        self._runs[-1][1].extend(events)
        self.offset += len(events)


def event_bytes(
    type_code: int, body: bytes, stamp: Stamp, log_format: LogFormat, offset: int | None, lies: Lies = THE_TRUTH
) -> bytes:
    """Return a whole event. An event without an offset is inside a payload: its next position is 0."""
    checksum_length = _checksum_length(type_code, body, log_format)
    size = log_format.header_length + len(body) + checksum_length
    header = Header(
        timestamp=stamp.timestamp,
        type_code=_written_code(type_code, log_format),
        server_id=stamp.server_id,
        event_size=size if lies.event_size is None else lies.event_size,
        next_position=_next_position(offset, size) if lies.next_position is None else lies.next_position,
        flags=stamp.flags,
    )
    writer = Writer()
    encode_header(header, log_format.version, writer)
    writer.raw(body)
    event = writer.take()
    if not checksum_length:
        return event
    return event + (_true_checksum(type_code, event) if lies.checksum is None else lies.checksum)


def _next_position(offset: int | None, size: int) -> int:
    return 0 if offset is None else (offset + size) % _U32


def _written_code(type_code: int, log_format: LogFormat) -> int:
    """Translate a type code to the one that this server used for it."""
    codes = log_format.event_codes
    return codes.index(type_code) if codes is not None and type_code in codes else type_code


def _checksum_length(type_code: int, body: bytes, log_format: LogFormat) -> int:
    """A format description has a checksum even where the events after it have none, if its server knows of them."""
    if type_code != EventCode.FORMAT_DESCRIPTION:
        return log_format.checksum_length
    server_version, _ = split_server_version(body[_SERVER_VERSION])
    return CHECKSUM_LENGTH if carries_checksum(server_version) else 0


def _true_checksum(type_code: int, event: bytes) -> bytes:
    closed = with_in_use_flag_clear(event) if type_code == EventCode.FORMAT_DESCRIPTION else event
    return checksum_of(closed)
