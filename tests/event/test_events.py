"""Events of real servers, byte for byte, and the values that they decode to."""

from __future__ import annotations

import pytest

from binspark.event import FormatDescription, GtidEvent, GtidTagged, Heartbeat, PreviousGtids, Rotate, decode_event
from binspark.frames import EventCode, Framer, Header, LogFormat
from binspark.frames.header import decode_header
from binspark.gtid import Gtid, GtidSet
from binspark.testing.builder import MARIADB_10_11, MYSQL_4_1, BinlogBuilder
from binspark.wire import Cursor
from tests.support.event.decoding import complete_event, decode, decode_body_of, encode, read_log

E = EventCode

GTID_8_0_40 = (
    "2d10356821010000004f00000014010000000001b8ae2fd2300511f08be80242ac1500020c000000000000000200"
    "000000000000000100000000000000c6551bae133606fc0501a838010068d62761"
)
ROTATE_8_0_40 = "3910356804010000002c000000c00500000000040000000000000062696e6c6f672e303030303235de7e7110"
GTID_TAGGED_9_6_0 = (
    "afae85692a0100000053000000480100000000027800000002aaee25020804650222c503c502e1029cc103110355"
    "02dead03040c060a6d7974616708000a040c7f1cf3b814244a0610a10412430f0b7872ad08"
)
FORMAT_DESCRIPTION_8_0_34_IN_USE = (
    "3a495c650f9c0d09007a0000007e00000001000400382e302e333400000000000000000000000000000000000000"
    "000000000000000000000000000000000000000000000000000000000013000d0008000000000400040000006200"
    "041a08000000080808020000000a0a0a2a2a001234000a280001a135e0cd"
)
FORMAT_DESCRIPTION_5_5_2 = (
    "822dc24b0f02000000670000006b00000000000400352e352e322d6d320000000000000000000000000000000000"
    "00000000000000000000000000000000000000000000000000822dc24b13380d0008001200040404041200005400"
    "041a080000000808080200"
)
PREVIOUS_GTIDS = {
    "0100000000000000b8ae2fd2300511f08be80242ac150002010000000000000001000000000000000c00000000000000": (
        PreviousGtids(False, GtidSet("b8ae2fd2-3005-11f0-8be8-0242ac150002:1-11"))
    ),
    "010200000000000155778904029911f1b1b84ef0c4956feb00010000000000000001000000000000000e00000000000000"
    "55778904029911f1b1b84ef0c4956feb0a6d79746167010000000000000001000000000000000300000000000000": (
        PreviousGtids(True, GtidSet("55778904-0299-11f1-b1b8-4ef0c4956feb:1-13:mytag:1-2"))
    ),
    "020000000000000024985463a53611e8a30c5254008138e4010000000000000001000000000000000800000000000000"
    "6cea48f6926c11e9b1cb5254008138e4010000000000000001000000000000000500000000000000": (
        PreviousGtids(
            False, GtidSet("24985463-a536-11e8-a30c-5254008138e4:1-7,6cea48f6-926c-11e9-b1cb-5254008138e4:1-4")
        )
    ),
}


def test_a_heartbeat_of_mariadb_past_4_gib_begins_with_its_position() -> None:
    body = (0x1_0000_0154).to_bytes(8, "little") + b"mariadb-bin.000004"
    heartbeat = decode_body_of(E.HEARTBEAT, body, MARIADB_10_11)
    assert heartbeat == Heartbeat("mariadb-bin.000004", 0x1_0000_0154)
    assert encode(E.HEARTBEAT, heartbeat, MARIADB_10_11) == body


def test_a_heartbeat_may_have_no_body() -> None:
    """So the protocol's documents describe it; servers write the name of the log."""
    assert decode_body_of(E.HEARTBEAT, b"") == Heartbeat("")
    assert encode(E.HEARTBEAT, Heartbeat("")) == b""


@pytest.mark.parametrize("end", [b"", b"\0"])
def test_a_zero_byte_after_the_file_of_load_is_not_part_of_its_name(end: bytes) -> None:
    """The protocol's documents show one, servers write none."""
    head = bytes(12) + bytes([1, 4]) + bytes(4) + b"\t\0\n\0\\" + b"\0\x0a" + b"t\0shop\0"
    event = decode(E.LOAD, head + b"/tmp/items.txt" + end, MYSQL_4_1)
    assert (event.body.file_name, event.extra) == ("/tmp/items.txt", end)
    assert encode(E.LOAD, event.body, MYSQL_4_1) + event.extra == head + b"/tmp/items.txt" + end


def test_a_heartbeat_up_to_4_gib_is_a_name() -> None:
    assert decode_body_of(E.HEARTBEAT, b"mariadb-bin.000004", MARIADB_10_11) == Heartbeat("mariadb-bin.000004")


def test_a_gtid_of_mysql_8_0_40() -> None:
    event = complete_event(GTID_8_0_40)
    assert event.header == Header(1748308013, 33, 1, 79, 276, 0)
    assert event.checksum.value == "ok"
    assert event.frame.data[-4:].hex() == "68d62761"
    assert event.body == GtidEvent(
        gtid_flags=1,
        sid="b8ae2fd2-3005-11f0-8be8-0242ac150002",
        gno=12,
        logical_clock_typecode=2,
        last_committed=0,
        sequence_number=1,
        immediate_commit_timestamp=1748308013569478,
        original_commit_timestamp=1748308013569478,
        transaction_length=261,
        immediate_server_version=80040,
        original_server_version=80040,
        commit_group_ticket=None,
    )
    assert str(event.body.gtid) == "b8ae2fd2-3005-11f0-8be8-0242ac150002:12"


def test_the_rotate_that_ends_a_file() -> None:
    event = complete_event(ROTATE_8_0_40)
    assert event.header == Header(1748308025, 4, 1, 44, 1472, 0)
    assert event.body == Rotate(position=4, next_file="binlog.000025")
    assert (event.artificial, event.checksum.value, event.frame.data[-4:].hex()) == (False, "ok", "de7e7110")


def test_the_rotate_that_opens_a_stream_is_artificial() -> None:
    log = BinlogBuilder()
    log.artificial_rotate("binlog.000025", 1472)
    event = read_log(log.content)[-1]
    assert event.artificial
    assert (event.header.timestamp, event.header.flags) == (0, 0x20)
    assert event.body == Rotate(position=1472, next_file="binlog.000025")


def test_the_header_of_a_previous_gtids() -> None:
    header = decode_header(Cursor(bytes.fromhex("6e0f3568230100000047000000c50000008000")), version=4)
    assert header == Header(1748307822, 35, 1, 71, 197, 128)


@pytest.mark.parametrize(("body", "expected"), PREVIOUS_GTIDS.items(), ids=["untagged", "tagged", "two servers"])
def test_previous_gtids_in_three_forms(body: str, expected: PreviousGtids) -> None:
    assert decode_body_of(E.PREVIOUS_GTIDS, body) == expected
    assert encode(E.PREVIOUS_GTIDS, expected).hex() == body


def test_a_tagged_gtid_of_mysql_9_6_0() -> None:
    event = complete_event(GTID_TAGGED_9_6_0)
    assert event.header == Header(1770368687, 42, 1, 83, 328, 0)
    assert event.checksum.value == "ok"
    assert event.body == GtidTagged(
        gtid_flags=0,
        sid="55778904-0299-11f1-b1b8-4ef0c4956feb",
        gno=3,
        tag="mytag",
        last_committed=0,
        sequence_number=1,
        immediate_commit_timestamp=1770368687207196,
        original_commit_timestamp=1770368687207196,
        transaction_length=296,
        immediate_server_version=90600,
        original_server_version=90600,
    )
    assert event.body.gtid == Gtid("55778904-0299-11f1-b1b8-4ef0c4956feb", 3, "mytag")


def description(event: str) -> tuple[Header, FormatDescription, LogFormat, str]:
    (frame,) = Framer().feed(b"\xfebin" + bytes.fromhex(event))
    body = decode_event(frame).body
    assert isinstance(body, FormatDescription)
    return frame.header, body, frame.format, frame.checksum.value


def test_the_format_description_of_an_active_log_of_mysql_8_0_34() -> None:
    header, body, log_format, checksum = description(FORMAT_DESCRIPTION_8_0_34_IN_USE)
    assert header == Header(1700546874, 15, 593308, 122, 126, 1)
    assert (body.binlog_version, body.server_version, body.create_timestamp) == (4, "8.0.34", 0)
    assert (body.header_length, len(body.post_header_lengths), body.checksum_alg) == (19, 41, 1)
    assert checksum == "ok"
    assert log_format.checksum_length == 4


def test_the_format_description_of_mysql_5_5_2_has_no_checksum() -> None:
    header, body, log_format, checksum = description(FORMAT_DESCRIPTION_5_5_2)
    assert header == Header(1271016834, 15, 2, 103, 107, 0)
    assert (body.binlog_version, body.server_version, body.create_timestamp) == (4, "5.5.2-m2", 1271016834)
    assert (body.header_length, len(body.post_header_lengths), body.checksum_alg) == (19, 27, None)
    assert (checksum, log_format.checksum_length) == ("none", 0)


def test_a_mariadb_gtid_and_an_empty_gtid_list() -> None:
    gtid = decode_body_of(E.MARIADB_GTID, "0100000000000000000000000c000000000000")
    assert (gtid.sequence_number, gtid.domain_id, gtid.gtid_flags, gtid.padding) == (1, 0, 0x0C, bytes(5))
    assert str(gtid.gtid(server_id=7)) == "0-7-1"
    gtid_list = decode_body_of(E.GTID_LIST, "000000000000")
    assert (gtid_list.gtids, gtid_list.flags, gtid_list.padding) == ((), 0, bytes(2))
