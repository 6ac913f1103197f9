"""The server versions whose logs a builder writes: their version strings and post-header lengths."""

from __future__ import annotations

from dataclasses import dataclass, replace

from binspark.frames import ChecksumAlgorithm, EventCode, Family, FormatDescription, LogFormat
from binspark.frames.format import carries_checksum, family_of, version_numbers
from binspark.frames.header import HEADER_LENGTH

_FIRST_WITH_GTIDS = {Family.MYSQL: (5, 6, 5), Family.MARIADB: (10, 0, 2)}
_FIRST_WITH_ROWS_V2 = (5, 6, 0)


@dataclass(frozen=True, slots=True)
class ServerKind:
    """One server version.

    post_header_lengths   those in its format description; empty before version 4 of the format
    """

    server_version: str
    post_header_lengths: bytes = b""
    binlog_version: int = 4

    @property
    def family(self) -> Family:
        """MySQL or MariaDB."""
        return family_of(self.server_version)

    @property
    def version_number(self) -> int:
        """The version as it is written in GTID events: 90704 is 9.7.4."""
        major, minor, patch = version_numbers(self.server_version)
        return major * 10000 + minor * 100 + patch

    @property
    def has_checksums(self) -> bool:
        """Whether this server can write a checksum after each event."""
        return self.binlog_version == 4 and carries_checksum(self.server_version)

    @property
    def has_gtids(self) -> bool:
        """Whether each file begins with the GTIDs of the files before it."""
        return version_numbers(self.server_version) >= _FIRST_WITH_GTIDS[self.family]

    @property
    def writes_rows_v2(self) -> bool:
        """Whether rows events have version 2 of their post-header, with room for extra information."""
        return self.family is Family.MYSQL and version_numbers(self.server_version) >= _FIRST_WITH_ROWS_V2

    def with_post_header(self, type_code: int, length: int) -> ServerKind:
        """Return the same server with another post-header length for one event type."""
        lengths = bytearray(self.post_header_lengths)
        lengths[type_code - 1] = length
        return replace(self, post_header_lengths=bytes(lengths))

    def log_format(self, checksum: ChecksumAlgorithm) -> LogFormat:
        """Return the format of a log of this server."""
        if self.binlog_version < 4:
            return LogFormat.before_v4(self.binlog_version, self.server_version)
        return LogFormat(4, self.server_version, HEADER_LENGTH, self.post_header_lengths, checksum)

    def format_description(self, checksum: ChecksumAlgorithm, create_timestamp: int) -> FormatDescription:
        """Return the format description of a log of this server."""
        algorithm = checksum if self.has_checksums else None
        lengths = self.post_header_lengths
        return FormatDescription(4, self.server_version, create_timestamp, HEADER_LENGTH, lengths, algorithm)


def _mariadb_lengths(description: int, xa_and_later: str, own_types: str) -> bytes:
    """Return MariaDB's lengths: its own types begin at 160, and the unused ones before them have length 0."""
    shared = bytes.fromhex(
        f"380d000800120004040404120000{description:02x}00041a08000000080808020000000a0a0a{xa_and_later}"
    )
    return shared.ljust(EventCode.ANNOTATE_ROWS - 1, b"\0") + bytes.fromhex(own_types)


_MARIADB_OWN_TYPES = "00041304000d0808080a0a0a"

MYSQL_3_23 = ServerKind("3.23.58-log", binlog_version=1)
MYSQL_4_1 = ServerKind("4.1.22-log", binlog_version=3)
MYSQL_5_0 = ServerKind("5.0.96-log", bytes.fromhex("380d0008001200040404041200004b00041a"))
MYSQL_5_1_PRE_RELEASE = ServerKind("5.1.2-a_drop5p3-log", bytes.fromhex("380d0008001200040404041200004f0606060600041a"))
MYSQL_5_1_17 = ServerKind("5.1.17-beta-log", bytes.fromhex("380d0008001200040404041200004f00041a08080808"))
MYSQL_5_5 = ServerKind("5.5.62-log", bytes.fromhex("380d0008001200040404041200005400041a080000000808080200"))
MYSQL_5_6 = ServerKind(
    "5.6.51-log", bytes.fromhex("380d0008001200040404041200005c00041a08000000080808020000000a0a0a191900")
)
MYSQL_5_7 = ServerKind(
    "5.7.44-log", bytes.fromhex("380d0008001200040404041200005f00041a08000000080808020000000a0a0a2a2a00123400")
)
MYSQL_8_0 = ServerKind(
    "8.0.40", bytes.fromhex("000d0008000000000400040000006200041a08000000080808020000000a0a0a2a2a001234000a2800")
)
MYSQL_9_7 = ServerKind(
    "9.7.4", bytes.fromhex("000d0008000000000400040000006300041a08000000000000020000000a0a0a2a2a001234000a280000")
)
MARIADB_10_1 = ServerKind("10.1.48-MariaDB", _mariadb_lengths(0xDD, "", "0004130400"))
MARIADB_10_5 = ServerKind("10.5.15-MariaDB-log", _mariadb_lengths(0xE4, "", _MARIADB_OWN_TYPES))
MARIADB_10_11 = ServerKind("10.11.18-MariaDB-log", _mariadb_lengths(0xE4, "0000000000000a0a0a", _MARIADB_OWN_TYPES))
MARIADB_11_8 = replace(MARIADB_10_11, server_version="11.8.3-MariaDB-log")
MARIADB_12_3 = ServerKind("12.3.1-MariaDB-log", _mariadb_lengths(0xE5, "0000000000000a0a0a", f"{_MARIADB_OWN_TYPES}09"))

ALL_SERVERS = (
    MYSQL_3_23,
    MYSQL_4_1,
    MYSQL_5_0,
    MYSQL_5_1_PRE_RELEASE,
    MYSQL_5_5,
    MYSQL_5_6,
    MYSQL_5_7,
    MYSQL_8_0,
    MYSQL_9_7,
    MARIADB_10_1,
    MARIADB_10_5,
    MARIADB_10_11,
    MARIADB_11_8,
    MARIADB_12_3,
)
