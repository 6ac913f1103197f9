"""The part of a builder that every event goes through."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from binspark.errors import EncodeError
from binspark.event import encode_body
from binspark.frames import MAGIC, ChecksumAlgorithm, EventCode, Header, HeaderFlag, LogFormat
from binspark.frames.checksum import checksum_of, with_in_use_flag_clear
from binspark.frames.format import CHECKSUM_LENGTH, SERVER_VERSION_LENGTH, carries_checksum, split_server_version
from binspark.frames.header import encode_header
from binspark.testing.builder.server_kinds import MYSQL_9_7, ServerKind
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


SERVER_UUID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"
FIRST_TIMESTAMP = 1_750_000_000


class Part(NamedTuple):
    """An event that is not yet placed in a file."""

    type_code: int
    body: Any
    flags: int = 0


class BuilderCore:
    """Places events in files. Its settings may be changed between two events.

    timestamp   what the next events say of their time
    server_id   what the next events say of their server
    """

    def __init__(
        self,
        server: ServerKind = MYSQL_9_7,
        *,
        checksum: ChecksumAlgorithm | None = None,
        base_name: str = "binlog",
        relay: bool = False,
    ) -> None:
        self.server = server
        self.base_name = base_name
        self.relay = relay
        self.timestamp = FIRST_TIMESTAMP
        self.server_id = 1
        self.server_uuid = SERVER_UUID
        self.files: list[LogFile] = []
        usual = ChecksumAlgorithm.CRC32 if server.has_checksums else ChecksumAlgorithm.NONE
        self.format: LogFormat = server.log_format(usual if checksum is None else checksum)

    @property
    def file(self) -> LogFile:
        """The file that is being written."""
        return self.files[-1]

    @property
    def content(self) -> bytes:
        """All bytes of the file that is being written."""
        return self.file.content

    @property
    def offset(self) -> int:
        """Where the next event begins."""
        return self.file.offset

    def save(self, folder: Path) -> list[Path]:
        """Write all files into a folder."""
        return [file.save(folder) for file in self.files]

    def event(self, type_code: int, body: Any, flags: int = 0, *, extra: bytes = b"") -> None:
        """Write one event, given the value that it decodes to; `extra` follows its last field."""
        self.file.append(type_code, encode_body(type_code, body, self.format, extra), self._stamp(flags))

    def raw(self, type_code: int, body: bytes, flags: int = 0, lies: Lies = THE_TRUTH) -> None:
        """Write one event, given the bytes of its body, and perhaps what it lies about."""
        self.file.append(type_code, body, self._stamp(flags), lies)

    def copy(self, events: bytes) -> None:
        """Write events of another log as they are, as a replica does in its relay log."""
        self.file.copy(events)

    def skip_to(self, offset: int) -> None:
        """Go on at another offset, as if the log had grown that far."""
        self.file.skip_to(offset)

    def write(self, parts: Iterable[Part]) -> None:
        """Write events one after the other."""
        for part in parts:
            self.event(*part)

    def inner_bytes(self, parts: Iterable[Part]) -> bytes:
        """Return events as they stand inside a payload: without checksums, next position 0."""
        inner = replace(self.format, checksum=ChecksumAlgorithm.NONE)
        return b"".join(self._placed(part, inner, None) for part in parts)

    def size_of(self, part: Part) -> int:
        """Return how many bytes an event takes in the file."""
        return len(self._placed(part, self.format, self.offset))

    def _placed(self, part: Part, log_format: LogFormat, offset: int | None) -> bytes:
        body = encode_body(part.type_code, part.body, log_format)
        return event_bytes(part.type_code, body, self._stamp(part.flags), log_format, offset)

    def _stamp(self, flags: int) -> Stamp:
        return Stamp(self.timestamp, self.server_id, flags)
