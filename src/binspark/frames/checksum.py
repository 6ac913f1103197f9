"""The CRC32 that ends an event."""

from __future__ import annotations

from enum import StrEnum
from zlib import crc32

from binspark.errors import Checksum
from binspark.frames.codes import EventCode, HeaderFlag
from binspark.frames.format import CHECKSUM_LENGTH

# The CRC32 of any bytes followed by their own CRC32, little-endian: one pass over the event checks it.
RESIDUE = 0x2144DF1C

_TYPE_OFFSET = 4
_FLAGS_OFFSET = 17


class ChecksumState(StrEnum):
    """Whether the checksum of an event matches."""

    OK = "ok"
    BAD = "bad"
    NONE = "none"


def check_event(event: bytes) -> ChecksumState:
    """Check an event that ends with its CRC32."""
    return ChecksumState.OK if crc32(event) == RESIDUE else ChecksumState.BAD


def check_format_description(event: bytes) -> ChecksumState:
    """Check a format description, whose checksum is computed with the flag BINLOG_IN_USE clear."""
    return check_event(with_in_use_flag_clear(event))


def with_in_use_flag_clear(event: bytes) -> bytes:
    """Return a format description as it is in a closed log.

    A server sets the flag in the active log and clears it on disk when it closes the log, in both cases without
    computing the checksum again.
    """
    low_flags = event[_FLAGS_OFFSET] & ~HeaderFlag.BINLOG_IN_USE
    return event[:_FLAGS_OFFSET] + bytes((low_flags,)) + event[_FLAGS_OFFSET + 1 :]


def checksum_of(event: bytes) -> bytes:
    """Return the checksum of an event, as the four bytes that end it."""
    return crc32(event).to_bytes(CHECKSUM_LENGTH, "little")


def checksum_mismatch(data: bytes, type_name: str) -> Checksum:
    """Return the error for an event that does not match the checksum at its end."""
    is_description = data[_TYPE_OFFSET] == EventCode.FORMAT_DESCRIPTION
    covered = with_in_use_flag_clear(data) if is_description else data
    computed = crc32(covered[:-CHECKSUM_LENGTH])
    stored = int.from_bytes(data[-CHECKSUM_LENGTH:], "little")
    return Checksum(
        f"checksum mismatch: stored 0x{stored:08x}, computed 0x{computed:08x} ({len(data)}-byte {type_name} event)"
    )
