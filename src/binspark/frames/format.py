"""The format of a log: the format description event, and the value `LogFormat` that readers pass along."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property

from binspark.errors import Malformed, Truncated
from binspark.frames.codes import V4_POST_HEADERS, EventCode, type_name
from binspark.frames.codes import EventCode as E
from binspark.frames.header import HEADER_LENGTH, V1_HEADER_LENGTH
from binspark.wire import Cursor, Writer
from binspark.wire.meaning import as_padded_text, code, quantity, seconds

_PRE_RELEASE = re.compile(r"5\.(?:1\.[1-5]-a_drop5|1\.4-a_drop6|2\.[0-2]-a_drop6)")
_PRE_RELEASE_TYPES = 22

# MySQL 5.1.1 to 5.2.2 pre-releases ("a_drop") inserted TABLE_MAP and the rows events before XID and others, which have
# different codes in all releases.
_PRE_RELEASE_CODES: tuple[int, ...] = (
    *range(E.UNKNOWN, E.FORMAT_DESCRIPTION + 1),
    E.TABLE_MAP,
    E.PRE_GA_WRITE_ROWS,
    E.PRE_GA_UPDATE_ROWS,
    E.PRE_GA_DELETE_ROWS,
    E.XID,
    E.BEGIN_LOAD_QUERY,
    E.EXECUTE_LOAD_QUERY,
)


def event_codes_of(server_version: str, listed_types: int) -> tuple[int, ...] | None:
    """Return the current code for each type code of this server, or None if they are the same."""
    if listed_types == _PRE_RELEASE_TYPES and _PRE_RELEASE.match(server_version):
        return _PRE_RELEASE_CODES
    return None


_LAST_BEFORE_V4 = E.USER_VAR


def _before_v4(*, query: int, rotate: int) -> bytes:
    lengths = {**V4_POST_HEADERS, E.QUERY: query, E.ROTATE: rotate}
    return bytes(lengths.get(type_code, 0) for type_code in range(1, _LAST_BEFORE_V4 + 1))


V1_POST_HEADERS = _before_v4(query=11, rotate=0)
V3_POST_HEADERS = _before_v4(query=11, rotate=8)


SERVER_VERSION_LENGTH = 50
CHECKSUM_LENGTH = 4
_VERSION_NUMBERS = re.compile(r"(\d+)(?:\.(\d+)(?:\.(\d+))?)?")
# MySQL 5.5 lists 27 types; servers with checksums list 35 and more. A damaged version must not disable checksums.
_TYPES_BEFORE_CHECKSUMS = 34
FORMAT_DESCRIPTION_MINIMUM = HEADER_LENGTH + 2 + SERVER_VERSION_LENGTH + 4 + 1


class ChecksumAlgorithm(IntEnum):
    """How events end: with no checksum, with a CRC32, or (relay logs of old sources) not known."""

    NONE = 0
    CRC32 = 1
    UNDEFINED = 255


class Family(IntEnum):
    """The family of the server that wrote a log."""

    MYSQL = 1
    MARIADB = 2


@dataclass(frozen=True, slots=True)
class FormatDescription:
    """FORMAT_DESCRIPTION: the first event of a version 4 log. `checksum_alg` is None before MySQL 5.6.1."""

    binlog_version: int
    server_version: str
    create_timestamp: int
    header_length: int
    post_header_lengths: bytes
    checksum_alg: int | None
    server_version_padding: bytes = b""


def decode_format_description(body: Cursor) -> FormatDescription:
    """Decode FORMAT_DESCRIPTION.

    offset  bytes  field
    0       2      binlog version, 4
    2       50     server version, zero-padded
    52      4      creation time; 0 unless this is the first log after a server start
    56      1      length of event headers
    57      n      length of the post-header of each event type, beginning with type 1
    57+n    1      checksum algorithm (MySQL since 5.6.1, MariaDB since 5.3)
    """
    binlog_version = body.u16("binlog_version")
    raw_version = body.raw("server_version", SERVER_VERSION_LENGTH, as_padded_text)
    server_version, padding = split_server_version(raw_version)
    create_timestamp = body.u32("create_timestamp", seconds)
    header_length = body.u8("header_length", quantity("byte", "the header of each event"))
    has_checksum = carries_checksum(server_version)
    lengths = body.raw(
        "post_header_lengths",
        body.remaining - has_checksum,
        lambda listed: _lengths_meaning(listed, server_version),
    )
    checksum_alg = body.u8("checksum_alg", code(ChecksumAlgorithm)) if has_checksum else None
    body.expect_end()
    return FormatDescription(
        binlog_version, server_version, create_timestamp, header_length, lengths, checksum_alg, padding
    )


def encode_format_description(event: FormatDescription, writer: Writer) -> None:
    """Write FORMAT_DESCRIPTION."""
    writer.u16(event.binlog_version)
    version = writer.encode_text(event.server_version) + event.server_version_padding
    writer.raw(version.ljust(SERVER_VERSION_LENGTH, b"\0")[:SERVER_VERSION_LENGTH])
    writer.u32(event.create_timestamp)
    writer.u8(event.header_length)
    writer.raw(event.post_header_lengths)
    if event.checksum_alg is not None:
        writer.u8(event.checksum_alg)


@dataclass(frozen=True)
class LogFormat:
    """The layout of a log's events: everything that decoders need to know besides the bytes."""

    version: int
    server_version: str
    header_length: int
    post_header_lengths: bytes = field(repr=False)
    checksum: ChecksumAlgorithm = ChecksumAlgorithm.NONE

    @cached_property
    def family(self) -> Family:
        """MySQL or MariaDB, by the server's version."""
        return family_of(self.server_version)

    @cached_property
    def server_version_numbers(self) -> tuple[int, int, int]:
        """The three numbers at the start of the server's version."""
        return version_numbers(self.server_version)

    @cached_property
    def names_every_transaction(self) -> bool:
        """Whether every transaction begins with a GTID event; False if the server is not known."""
        return names_every_transaction(self.family, self.server_version)

    @property
    def is_v4(self) -> bool:
        """Whether the server is MySQL 5.0 or later: the log has a FORMAT_DESCRIPTION, and headers the next position."""
        return self.version >= 4

    @cached_property
    def event_codes(self) -> tuple[int, ...] | None:
        """The current code of each type code where they differ, as in some pre-releases of 5.1 and 5.2; else None."""
        return event_codes_of(self.server_version, len(self.post_header_lengths))

    @cached_property
    def checksum_length(self) -> int:
        """The number of bytes of the checksum after each event: 4, or 0 without checksums."""
        return CHECKSUM_LENGTH if self.checksum is ChecksumAlgorithm.CRC32 else 0

    @cached_property
    def encoding(self) -> str:
        """The character set of identifiers. Before version 4 it is not known; Latin-1 preserves every byte."""
        return "utf-8" if self.is_v4 else "latin-1"

    def current_code(self, type_code: int) -> int:
        """Translate a type code of this log to the current one."""
        if self.event_codes is None or type_code >= len(self.event_codes):
            return type_code
        return self.event_codes[type_code]

    def post_header_length(self, type_code: int) -> int:
        """Return the length of the post-header of an event type, from the log's own list where it has the type."""
        listed = self._listed_length(type_code)
        if listed is None or (listed == 0 and type_code in _REMOVED_FROM_NEW_SERVERS):
            return V4_POST_HEADERS.get(type_code, 0)
        return listed

    def _listed_length(self, type_code: int) -> int | None:
        index = type_code
        if self.event_codes is not None:
            index = self.event_codes.index(type_code) if type_code in self.event_codes else -1
        return self.post_header_lengths[index - 1] if 0 < index <= len(self.post_header_lengths) else None

    @classmethod
    def from_description(cls, event: FormatDescription) -> LogFormat:
        """Return the format that a format description defines."""
        if event.binlog_version != 4:
            raise Malformed(f"binlog version in the format description is {event.binlog_version}, expected 4")
        if event.header_length < HEADER_LENGTH:
            found = f"header length in the format description is {event.header_length}"
            raise Malformed(f"{found}, expected at least {HEADER_LENGTH}")
        types = len(event.post_header_lengths)
        if event.checksum_alg is None and types > _TYPES_BEFORE_CHECKSUMS:
            # Without this check, one damaged byte of the version would turn off the checks of all later events.
            found = f"server version {event.server_version!r} has no checksums"
            raise Malformed(f"{found}, but the format description lists {types} event types")
        return cls(4, event.server_version, event.header_length, event.post_header_lengths, _algorithm(event))

    @classmethod
    def before_v4(cls, version: int, server_version: str = "") -> LogFormat:
        """Return the format of logs without a format description, which is fixed for each version."""
        if version == 1:
            return cls(1, server_version, V1_HEADER_LENGTH, V1_POST_HEADERS)
        return cls(3, server_version, HEADER_LENGTH, V3_POST_HEADERS)


# Recent servers list these types with length 0 because they no longer support them. Their own logs do not contain such
# events, but a relay log may: there the length is the one that the event always had.
_REMOVED_FROM_NEW_SERVERS = frozenset(
    {
        EventCode.START_V3,
        EventCode.LOAD,
        EventCode.CREATE_FILE,
        EventCode.EXEC_LOAD,
        EventCode.NEW_LOAD,
        EventCode.PRE_GA_WRITE_ROWS,
        EventCode.PRE_GA_UPDATE_ROWS,
        EventCode.PRE_GA_DELETE_ROWS,
        EventCode.WRITE_ROWS_V1,
        EventCode.UPDATE_ROWS_V1,
        EventCode.DELETE_ROWS_V1,
    }
)


def read_description(event: bytes) -> FormatDescription:
    """Decode the format description in a complete event, including header and checksum."""
    if len(event) < FORMAT_DESCRIPTION_MINIMUM:
        raise Truncated(f"format description has {len(event)} bytes, expected at least {FORMAT_DESCRIPTION_MINIMUM}")
    return decode_format_description(Cursor(event, HEADER_LENGTH, description_end(event)))


def description_end(event: bytes) -> int:
    """Return the end of the body of a format description.

    Whether a checksum follows depends on the server version inside the event, not on the checksum algorithm of the log:
    since they have checksums, servers write one after every format description.
    """
    start = HEADER_LENGTH + 2
    server_version, _ = split_server_version(event[start : start + SERVER_VERSION_LENGTH])
    if not carries_checksum(server_version):
        return len(event)
    end = len(event) - CHECKSUM_LENGTH
    if end <= FORMAT_DESCRIPTION_MINIMUM:
        raise Truncated(f"format description has {len(event)} bytes, too few for its checksum")
    return end


def split_server_version(raw: bytes) -> tuple[str, bytes]:
    """Split the fixed-length version into its text and, if they are not all zero, the bytes after the text."""
    text, _, padding = raw.partition(b"\0")
    return text.decode("latin-1"), (b"\0" + padding if padding.strip(b"\0") else b"")


def family_of(server_version: str) -> Family:
    """Return the family of a server, given its version text."""
    return Family.MARIADB if "mariadb" in server_version.lower() else Family.MYSQL


def carries_checksum(server_version: str) -> bool:
    """Return whether a server of this version ends its format description with an algorithm and a checksum."""
    since = (5, 3, 0) if family_of(server_version) is Family.MARIADB else (5, 6, 1)
    return version_numbers(server_version) >= since


_NAME_EVERY_TRANSACTION = {Family.MYSQL: (8, 0, 0), Family.MARIADB: (10, 0, 2)}
"""The servers, from these versions on, that begin every transaction with a GTID event, even an anonymous one."""


def names_every_transaction(family: Family, server_version: str) -> bool:
    """Return whether a server begins every transaction with a GTID event."""
    return version_numbers(server_version) >= _NAME_EVERY_TRANSACTION[family]


def version_numbers(server_version: str) -> tuple[int, int, int]:
    """Return the three numbers at the start of a version text; missing numbers are 0."""
    match = _VERSION_NUMBERS.match(server_version)
    major, minor, patch = match.groups(default="0") if match else ("0", "0", "0")
    return int(major), int(minor), int(patch)


def _lengths_meaning(lengths: bytes, server_version: str) -> str:
    """Name the types that have a post-header, with the type codes of this server."""
    codes = event_codes_of(server_version, len(lengths)) or range(len(lengths) + 1)
    named = [f"{type_name(codes[index])} {length}" for index, length in enumerate(lengths, 1) if length]
    return f"one byte for each of {len(lengths)} types: {', '.join(named)}, others 0"


def _algorithm(event: FormatDescription) -> ChecksumAlgorithm:
    if event.checksum_alg is None:
        return ChecksumAlgorithm.NONE
    try:
        return ChecksumAlgorithm(event.checksum_alg)
    except ValueError:
        expected = ", ".join(f"{known.value} ({known.name})" for known in ChecksumAlgorithm)
        raise Malformed(f"unknown checksum algorithm {event.checksum_alg}, expected one of {expected}") from None
