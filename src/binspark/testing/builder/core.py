"""The part of a builder that every event goes through."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from binspark.event import encode_body
from binspark.frames import ChecksumAlgorithm, LogFormat
from binspark.testing.builder.log_file import THE_TRUTH, Lies, LogFile, Stamp, event_bytes
from binspark.testing.builder.servers import MYSQL_9_7, ServerKind

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
