"""Events as bytes in log files: headers, positions, checksums. The part of a builder that every event goes through."""

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

SERVER_UUID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"
FIRST_TIMESTAMP = 1_750_000_000
_U32 = 1 << 32
_SERVER_VERSION = slice(2, 2 + SERVER_VERSION_LENGTH)
_FLAGS_OF_FIRST_EVENT = len(MAGIC) + 17


class EventSpec(NamedTuple):
    """An event that is not yet written: its type, the value that it decodes to, and its header flags."""

    type_code: int
    body: Any
    flags: int = 0


class HeaderFields(NamedTuple):
    """The fields of a header other than type, size and position."""

    timestamp: int
    server_id: int
    flags: int = 0


class Overrides(NamedTuple):
    """Wrong values to write into an event, for tests of damage; None writes the correct one."""

    event_size: int | None = None
    next_position: int | None = None
    checksum: bytes | None = None


NO_OVERRIDES = Overrides()


@dataclass(slots=True)
class LogFile:
    """A log file in memory. It may have holes, which `skip_to` makes and which take no memory."""

    name: str
    format: LogFormat
    offset: int = len(MAGIC)
    _chunks: list[tuple[int, bytearray]] = field(default_factory=lambda: [(0, bytearray(MAGIC))])

    @property
    def content(self) -> bytes:
        """All bytes of the file."""
        if len(self._chunks) > 1:
            raise EncodeError(f"{self.name} has a hole before offset {self._chunks[-1][0]}: use save() to write it")
        return bytes(self._chunks[0][1])

    @property
    def tail(self) -> bytes:
        """The bytes after the last hole; all bytes if there is none."""
        return bytes(self._chunks[-1][1])

    def save(self, folder: Path) -> Path:
        """Write the file into a folder and return its path; holes take no space on disk."""
        path = folder / self.name
        with path.open("wb") as file:
            for offset, chunk in self._chunks:
                file.seek(offset)
                file.write(chunk)
        return path

    def skip_to(self, offset: int) -> None:
        """Continue at a later offset, as if the bytes up to there had been written."""
        self._chunks.append((offset, bytearray()))
        self.offset = offset

    def mark_in_use(self) -> None:
        """Set the flag of an active log."""
        self._chunks[0][1][_FLAGS_OF_FIRST_EVENT] |= HeaderFlag.BINLOG_IN_USE

    def append(self, type_code: int, body: bytes, fields: HeaderFields, overrides: Overrides = NO_OVERRIDES) -> None:
        """Write one event at the end of the file."""
        self.copy(event_bytes(type_code, body, fields, self.format, self.offset, overrides))

    def copy(self, events: bytes) -> None:
        """Write bytes unchanged at the end of the file."""
        self._chunks[-1][1].extend(events)
        self.offset += len(events)


def event_bytes(
    type_code: int,
    body: bytes,
    fields: HeaderFields,
    log_format: LogFormat,
    offset: int | None,
    overrides: Overrides = NO_OVERRIDES,
) -> bytes:
    """Return a complete event. An event without an offset is inside a payload: its next position is 0."""
    checksum_length = _checksum_length(type_code, body, log_format)
    size = log_format.header_length + len(body) + checksum_length
    header = Header(
        timestamp=fields.timestamp,
        type_code=_written_code(type_code, log_format),
        server_id=fields.server_id,
        event_size=size if overrides.event_size is None else overrides.event_size,
        next_position=_next_position(offset, size) if overrides.next_position is None else overrides.next_position,
        flags=fields.flags,
    )
    writer = Writer()
    encode_header(header, log_format.version, writer)
    writer.raw(body)
    event = writer.take()
    if not checksum_length:
        return event
    return event + (_checksum(type_code, event) if overrides.checksum is None else overrides.checksum)


def _next_position(offset: int | None, size: int) -> int:
    return 0 if offset is None else (offset + size) % _U32


def _written_code(type_code: int, log_format: LogFormat) -> int:
    """Return the type code that a server of this version writes."""
    codes = log_format.event_codes
    return codes.index(type_code) if codes is not None and type_code in codes else type_code


def _checksum_length(type_code: int, body: bytes, log_format: LogFormat) -> int:
    """Return the length of the checksum. A format description has one in all logs of servers that support checksums."""
    if type_code != EventCode.FORMAT_DESCRIPTION:
        return log_format.checksum_length
    server_version, _ = split_server_version(body[_SERVER_VERSION])
    return CHECKSUM_LENGTH if carries_checksum(server_version) else 0


def _checksum(type_code: int, event: bytes) -> bytes:
    closed = with_in_use_flag_clear(event) if type_code == EventCode.FORMAT_DESCRIPTION else event
    return checksum_of(closed)


class LogWriter:
    """Writes events into log files. Its settings may be changed between two events.

    timestamp   the timestamp of the next events
    server_id   the server id of the next events
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
        default = ChecksumAlgorithm.CRC32 if server.has_checksums else ChecksumAlgorithm.NONE
        self.format: LogFormat = server.log_format(default if checksum is None else checksum)

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
        """The offset at which the next event begins."""
        return self.file.offset

    def save(self, folder: Path) -> list[Path]:
        """Write all files into a folder and return their paths."""
        return [file.save(folder) for file in self.files]

    def event(self, type_code: int, body: Any, flags: int = 0, *, extra: bytes = b"") -> None:
        """Write one event, given the value that it decodes to; `extra` follows its last field."""
        self.file.append(type_code, encode_body(type_code, body, self.format, extra), self._fields(flags))

    def raw(self, type_code: int, body: bytes, flags: int = 0, overrides: Overrides = NO_OVERRIDES) -> None:
        """Write one event, given the bytes of its body, and perhaps wrong values for its size, position or checksum."""
        self.file.append(type_code, body, self._fields(flags), overrides)

    def copy(self, events: bytes) -> None:
        """Write events of another log unchanged, as a replica does in its relay log."""
        self.file.copy(events)

    def skip_to(self, offset: int) -> None:
        """Continue at a later offset, as if the log had grown that far."""
        self.file.skip_to(offset)

    def write(self, specs: Iterable[EventSpec]) -> None:
        """Write events in order."""
        for spec in specs:
            self.event(*spec)

    def inner_bytes(self, specs: Iterable[EventSpec]) -> bytes:
        """Return events as they are inside a payload: without checksums, and with next position 0."""
        inner = replace(self.format, checksum=ChecksumAlgorithm.NONE)
        return b"".join(self._bytes_of(spec, inner, None) for spec in specs)

    def size_of(self, spec: EventSpec) -> int:
        """Return how many bytes an event has in the file."""
        return len(self._bytes_of(spec, self.format, self.offset))

    def _bytes_of(self, spec: EventSpec, log_format: LogFormat, offset: int | None) -> bytes:
        body = encode_body(spec.type_code, spec.body, log_format)
        return event_bytes(spec.type_code, body, self._fields(spec.flags), log_format, offset)

    def _fields(self, flags: int) -> HeaderFields:
        return HeaderFields(self.timestamp, self.server_id, flags)
