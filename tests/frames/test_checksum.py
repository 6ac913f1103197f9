"""The CRC32 at the end of an event, and the error where it does not match."""

from __future__ import annotations

from zlib import crc32

import pytest

from binspark.errors import Checksum
from binspark.frames import MAGIC, EventCode, Framer
from binspark.frames.checksum import ChecksumState, check_event, check_format_description, checksum_mismatch
from binspark.testing.builder import BinlogBuilder, Overrides

WRONG = bytes.fromhex("4d3c2b1a")


def test_a_mismatch_shows_the_stored_and_the_computed_value() -> None:
    log = BinlogBuilder()
    start = log.offset
    log.raw(EventCode.XID, bytes(8), overrides=Overrides(checksum=WRONG))
    computed = crc32(log.content[start:-4])
    with pytest.raises(Checksum) as caught:
        list(Framer().feed(log.content))
    assert (
        caught.value.message == f"checksum mismatch: stored 0x1a2b3c4d, computed 0x{computed:08x} (31-byte XID event)"
    )
    assert (caught.value.position.offset, caught.value.position.event) == (start, "XID")


def test_the_checksum_of_a_format_description_does_not_cover_the_in_use_flag() -> None:
    closed = next(iter(Framer().feed(BinlogBuilder().content))).data
    in_use = closed[:17] + b"\x01" + closed[18:]
    assert check_format_description(closed) is check_format_description(in_use) is ChecksumState.OK
    assert check_event(in_use) is ChecksumState.BAD


def test_a_mismatch_of_an_active_log_computes_the_value_of_the_closed_log() -> None:
    closed = next(iter(Framer().feed(BinlogBuilder().content))).data
    in_use = closed[:17] + b"\x01" + closed[18:-4] + WRONG
    expected = int.from_bytes(closed[-4:], "little")
    message = checksum_mismatch(in_use, "FORMAT_DESCRIPTION").message
    assert message == (
        f"checksum mismatch: stored 0x1a2b3c4d, computed 0x{expected:08x} ({len(closed)}-byte FORMAT_DESCRIPTION event)"
    )
    with pytest.raises(Checksum, match=f"computed 0x{expected:08x}"):
        list(Framer().feed(MAGIC + in_use))
