"""Wrong lengths and counts are errors with a position, and no memory is allocated for what they claim."""

from __future__ import annotations

import pickle
import resource
import tracemalloc

import pytest

from binspark.errors import BinlogError, Malformed, Truncated, Unsupported
from binspark.event import GtidList, HeartbeatV2, MariadbGtidEvent, ViewChange
from binspark.frames import EventCode, Framer, type_name
from binspark.testing.builder import MARIADB_10_11, MYSQL_4_1, MYSQL_9_7, BinlogBuilder, Overrides, ServerKind
from tests.support.event.decoding import decode, decode_body_of
from tests.support.frames.reading import read

E = EventCode
UUID = "b8ae2fd2300511f08be80242ac150002"
HUGE = "fe" + "00" * 7 + "80"
MANY = "fe" + "00" * 7 + "10"

MALFORMED: list[tuple[int, str, type[BinlogError], str]] = [
    (E.QUERY, "0900000002000000" + "ff" + "0000" + "0000" + "73686f70" + "00", Truncated, "schema needs 255 bytes"),
    (E.QUERY, "0900000002000000" + "00" + "0000" + "ffff" + "00", Truncated, "status_vars needs 65535 bytes"),
    (E.QUERY, "09000000", Truncated, "needs 13 bytes"),
    (E.ROTATE, "04000000", Truncated, "position needs 8 bytes"),
    (E.ROTATE, "0400000000000000", Malformed, "next_file is empty"),
    (E.ROTATE, "0400000000000000ff", Malformed, "next_file is not valid utf-8"),
    (E.INTVAR, "02", Truncated, "needs 9 bytes"),
    (E.RAND, "00" * 15, Truncated, "needs 16 bytes"),
    (E.XID, "00" * 7, Truncated, "xid needs 8 bytes"),
    (E.SLAVE, "0400000000000000" + "ea0c" + "686f7374", Truncated, "no terminating zero byte"),
    (E.LOAD, "00" * 12 + "0000" + "ffffffff" + "00" * 7, Truncated, "field_lengths needs 4294967295 bytes"),
    (E.NEW_LOAD, "00" * 12 + "0000" + "00000000" + "ff", Truncated, "needs 255 bytes"),
    (E.CREATE_FILE, "00" * 17, Truncated, "needs 18 bytes"),
    (E.APPEND_BLOCK, "0100", Truncated, "file_id needs 4 bytes"),
    (E.INCIDENT, "0100" + "ff" + "6c", Truncated, "message needs 255 bytes"),
    (E.ROWS_QUERY, "", Truncated, "needs 1 byte"),
    (E.GTID, "01" + UUID + "00" * 8, Malformed, "GTID number is 0, expected 1 to"),
    (E.GTID, "01" + UUID + "ff" * 7 + "7f", Malformed, "GTID number is 9223372036854775807, expected 1 to"),
    (E.GTID, "01" + UUID + "ff" * 8, Malformed, "GTID number is -1, expected 1 to"),
    (
        E.ANONYMOUS_GTID,
        "01" + UUID + "01" + "00" * 7,
        Malformed,
        "number of an anonymous transaction is 1, expected 0",
    ),
    (E.GTID, "01" + UUID + "01" + "00" * 7 + "02" + "00" * 15, Truncated, "needs 16 bytes"),
    (E.GTID, "01" + UUID + "01" + "00" * 7 + "02" + "00" * 23 + "fb", Malformed, "begins with 0xfb"),
    (E.PREVIOUS_GTIDS, "ffffffffffff0000", Truncated, "needs 16 bytes"),
    (E.PREVIOUS_GTIDS, "0100000000000000" + UUID + "ff" * 8, Truncated, "18446744073709551615 intervals need"),
    (E.PREVIOUS_GTIDS, "01ffffffffffff01", Truncated, "uuid needs 16 bytes"),
    (E.GTID_TAGGED, "04" + "7800", Unsupported, "unsupported version 2 of the serialization framework"),
    (E.GTID_TAGGED, "02" + "fe" + "00", Malformed, "message size is 127, but the body has 3 bytes"),
    (E.GTID_TAGGED, "02" + "06" + "00", Malformed, "missing fields: gtid_flags, sid"),
    (E.GTID_TAGGED, "02" + "06" + "fe", Unsupported, "must not be ignored"),
    (E.XA_PREPARE, "00" + "01000000" + "41000000" + "00000000", Malformed, "parts of the XID have 65 and 0 bytes"),
    (E.XA_PREPARE, "00" + "01000000" + "40000000" + "00000000", Truncated, "gtrid needs 64 bytes"),
    (E.TRANSACTION_CONTEXT, "ff" + "00" * 17, Truncated, "server_uuid needs 255 bytes"),
    (E.TRANSACTION_CONTEXT, "00" * 6 + "ffffffff" + "00" * 8, Truncated, "snapshot_version needs 4294967295"),
    (E.TRANSACTION_CONTEXT, "00" * 10 + "ffffffff" + "00" * 4, Truncated, "length needs 2 bytes"),
    (E.VIEW_CHANGE, "00" * 48 + "ffffffff", Truncated, "key_length needs 2 bytes"),
    (E.VIEW_CHANGE, "00" * 48 + "01000000" + "0000" + "ffffffff", Truncated, "value needs 4294967295 bytes"),
    (E.TRANSACTION_PAYLOAD, "01" + HUGE, Truncated, "needs 9223372036854775808 bytes"),
    (E.TRANSACTION_PAYLOAD, "0109" + MANY + "020100" + "00", Truncated, "payload needs 1152921504606846976 bytes"),
    (E.TRANSACTION_PAYLOAD, "010200" + "00", Malformed, "unexpected 1 byte after"),
    (E.TRANSACTION_PAYLOAD, "fb", Malformed, "begins with 0xfb"),
    (E.TRANSACTION_PAYLOAD, "ff", Malformed, "begins with 0xff"),
    (E.TRANSACTION_PAYLOAD, "", Truncated, "field needs 1 byte"),
    (E.HEARTBEAT_V2, "01" + HUGE, Truncated, "log_file needs 9223372036854775808 bytes"),
    (E.HEARTBEAT_V2, "0201ff", Malformed, "begins with 0xff"),
    (E.LARGE_TRANSACTION_HEADER, "01", Truncated, "needs 10 bytes"),
    (E.BINLOG_CHECKPOINT, "ffffffff" + "62", Truncated, "log_file needs 4294967295 bytes"),
    (E.MARIADB_GTID, "00" * 12, Truncated, "needs 13 bytes"),
    (E.MARIADB_GTID, "00" * 12 + "02", Truncated, "commit_id needs 8 bytes"),
    (E.MARIADB_GTID, "00" * 12 + "40" + "01000000" + "ff00", Truncated, "gtrid needs 255 bytes"),
    (E.GTID_LIST, "ffffff0f", Truncated, "needs 16 bytes"),
    (E.START_ENCRYPTION, "01" + "01000000" + "00", Truncated, "nonce needs 12 bytes"),
    (E.PARTIAL_ROW_DATA, "01000000" + "01000000" + "01" + "00", Truncated, "original_event_size needs 8 bytes"),
]


@pytest.mark.parametrize(("code", "body", "error", "message"), MALFORMED)
def test_a_malformed_body_is_an_error_with_its_position(
    code: int, body: str, error: type[BinlogError], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        decode(code, body)
    refusal = caught.value
    assert (refusal.position.file, refusal.position.offset) == ("binlog.000001", 4)
    assert refusal.position.event == type_name(code)
    again = pickle.loads(pickle.dumps(refusal))
    assert (type(again), str(again), again.position) == (type(refusal), str(refusal), refusal.position)


@pytest.mark.parametrize(("code", "body"), [(row[0], row[1]) for row in MALFORMED])
def test_a_malformed_body_takes_no_memory(code: int, body: str) -> None:
    tracemalloc.start()
    with pytest.raises(BinlogError):
        decode(code, body)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000


@pytest.mark.parametrize("kind", [MYSQL_9_7, MARIADB_10_11, MYSQL_4_1], ids=lambda kind: kind.server_version)
@pytest.mark.parametrize("size", [0, 1, 12, 18])
def test_an_event_shorter_than_its_header_is_malformed(kind: ServerKind, size: int) -> None:
    log = BinlogBuilder(kind)
    start = log.offset
    log.raw(E.XID, bytes(8), overrides=Overrides(event_size=size))
    reading = read(log.content)
    assert isinstance(reading.error, Malformed)
    assert reading.error.message == f"event size is {size}, expected at least the 19 bytes of the header"
    assert reading.error.position.offset == start
    assert reading.events[-1].end_offset == start


@pytest.mark.parametrize("size", [19, 20, 22])
def test_an_event_without_room_for_its_checksum_is_malformed(size: int) -> None:
    log = BinlogBuilder()
    log.raw(E.XID, bytes(8), overrides=Overrides(event_size=size))
    assert "too small for a header and a checksum" in str(read(log.content).error)


@pytest.mark.parametrize("size", [32, 1 << 20, (1 << 31) - 1, (1 << 32) - 1])
def test_an_event_that_reaches_past_the_end_is_truncated(size: int) -> None:
    log = BinlogBuilder()
    start = log.offset
    log.raw(E.XID, bytes(8), overrides=Overrides(event_size=size))
    error = read(log.content).error
    assert isinstance(error, Truncated)
    assert error.message == f"the log ends 31 bytes into a {size}-byte event"
    assert (error.position.offset, error.position.event) == (start, "XID")


def test_an_event_that_claims_4_gib_takes_the_memory_of_its_bytes() -> None:
    log = BinlogBuilder()
    log.raw(E.XID, bytes(8), overrides=Overrides(event_size=(1 << 32) - 1))
    framer = Framer()
    _ = list(framer.feed(log.content))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    for _ in range(64):
        assert list(framer.feed(bytes(1024))) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


def test_a_next_position_before_the_event_does_not_loop() -> None:
    log = BinlogBuilder()
    for _ in range(3):
        log.raw(E.XID, bytes(8), overrides=Overrides(next_position=4))
    assert len(read(log.content).events) == 5


def test_what_a_later_server_adds_is_kept() -> None:
    heartbeat = decode_body_of(E.HEARTBEAT_V2, "0103616263" + "07021234" + "00")
    assert heartbeat == HeartbeatV2("abc", None, ((7, b"\x12\x34"),))
    gtid = decode_body_of(E.MARIADB_GTID, "00" * 12 + "00" + "e0" + "beef")
    assert gtid == MariadbGtidEvent(0, 0, 0, extra_flags=0xE0, padding=b"\xbe\xef")
    gtid_list = decode_body_of(E.GTID_LIST, "000000f0")
    assert gtid_list == GtidList(0xF0000000, ())
    view = decode_body_of(E.VIEW_CHANGE, b"1:2\0rest".ljust(40, b"\0").hex() + "00" * 12)
    assert view == ViewChange("1:2", 0, (), b"\0rest".ljust(37, b"\0"))
