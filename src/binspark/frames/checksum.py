"""The CRC32 that ends an event."""

from __future__ import annotations

from enum import StrEnum
from zlib import crc32

from binspark.errors import Checksum
from binspark.frames.codes import EventCode, HeaderFlag

# The CRC32 of any bytes followed by their own CRC32, little-endian.
RESIDUE = 0x2144DF1C

_FLAGS_OFFSET = 17


class ChecksumState(StrEnum):
    """What is known of an event's checksum."""

    OK = "ok"
    BAD = "bad"
    NONE = "none"


def check_event(event: bytes) -> ChecksumState:
    """Check an event that ends with its CRC32."""
    return ChecksumState.OK if crc32(event) == RESIDUE else ChecksumState.BAD


def check_format_description(event: bytes) -> ChecksumState:
    """Check a format description: its checksum is computed as if the log were closed."""
    return check_event(with_in_use_flag_clear(event))


def with_in_use_flag_clear(event: bytes) -> bytes:
    """Return a format description as it is when the log is closed."""
    low_flags = event[_FLAGS_OFFSET] & ~HeaderFlag.BINLOG_IN_USE
    return event[:_FLAGS_OFFSET] + bytes((low_flags,)) + event[_FLAGS_OFFSET + 1 :]


def checksum_of(event: bytes) -> bytes:
    """Return the four bytes that end an event."""
    return crc32(event).to_bytes(4, "little")


def checksum_mismatch(data: bytes, type_name: str) -> Checksum:
    """Return the error for a complete event, checksum included, whose CRC32 does not match."""
    if type_name == EventCode.FORMAT_DESCRIPTION.name:
        data = with_in_use_flag_clear(data)
    stored, computed = int.from_bytes(data[-4:], "little"), crc32(data[:-4])
    found = f"stored 0x{stored:08x}, computed 0x{computed:08x} ({len(data)}-byte {type_name} event)"
    return Checksum(f"checksum mismatch: {found}")
