"""A stream knows where its events are, and what a server's packets mean; played from scripts."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import Checksum, ConnectionLost, Malformed, Purged, Server
from binspark.event import Xid
from binspark.frames import ChecksumAlgorithm, EventCode
from binspark.frames.checksum import ChecksumState
from binspark.position import Position
from binspark.replication.event_positions import widened
from binspark.replication.packets import (
    EndPacket,
    ErrorPacket,
    encode_acknowledgement,
    encode_end,
    encode_error,
    encode_semi_sync_header,
)
from binspark.replication.position import BinlogPosition
from binspark.replication.settings import StreamSettings
from binspark.replication.stream import BinlogStream, StreamEvent
from binspark.testing.builder import MARIADB_10_11, BinlogBuilder, insert, integer, table
from tests.support.replication.scripted_channel import (
    ScriptedChannel,
    as_packets,
    event_bytes,
    far_heartbeat,
    file_events,
    heartbeat,
    heartbeat_v2,
    rotation,
    scripted_stream,
)

ORDERS = table("shop.orders", integer("id"))
GIB = 1 << 30


def take(stream: BinlogStream, count: int) -> list[StreamEvent]:
    return list(islice(stream, count))


def built_log() -> BinlogBuilder:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1,), (2,)))
    log.transaction(insert(ORDERS, (3,)))
    return log


def xid_at(end: int) -> bytes:
    return event_bytes(EventCode.XID, Xid(7), next_position=end, timestamp=1)


XID_SIZE = len(xid_at(0))


def test_events_come_with_file_offset_and_bytes() -> None:
    log = built_log()
    log.rotate()
    events = file_events(log)
    stream = scripted_stream(ScriptedChannel(as_packets([rotation("binlog.000001"), *events])))
    read = take(stream, 1 + len(events))
    assert [event.data for event in read[1:]] == events
    assert read[0].in_file is False
    assert b"\xfebin" + b"".join(event.data for event in read if event.in_file) == log.files[0].content
    assert [event.offset for event in read[1:]] == [read[1].offset, *[event.end_offset for event in read[1:-1]]]
    assert (stream.file, stream.offset) == ("binlog.000001", len(log.files[0].content))


def test_a_stream_from_the_middle_repeats_the_format_description() -> None:
    first, *others = file_events(built_log())
    start = 4 + len(first) + len(others[0])
    script = as_packets([rotation("binlog.000001", start), first, *others[1:]])
    read = take(scripted_stream(ScriptedChannel(script)), len(script))
    assert [event.in_file for event in read] == [False, False] + [True] * (len(script) - 2)
    assert read[2].offset == start


def test_a_file_follows_a_file() -> None:
    log = built_log()
    log.rotate()
    log.transaction(insert(ORDERS, (4,)))
    script = [rotation("binlog.000001"), *file_events(log), rotation("binlog.000002"), *file_events(log, 1)]
    events = take(scripted_stream(ScriptedChannel(as_packets(script))), len(script))
    for file in log.files:
        streamed = [event.data for event in events if event.file == file.name and event.in_file]
        assert b"\xfebin" + b"".join(streamed) == file.content


@pytest.mark.parametrize("start", [4 * GIB - 1, 4 * GIB, 5 * GIB, 17 * GIB + 5])
def test_events_past_4_gib_have_their_true_offset(start: int) -> None:
    script = [rotation("binlog.000001", start), xid_at(start + XID_SIZE), xid_at(start + 2 * XID_SIZE)]
    stream = scripted_stream(ScriptedChannel(as_packets(script)))
    offsets = [(event.offset, event.end_offset) for event in take(stream, 3)]
    assert offsets[1:] == [(start, start + XID_SIZE), (start + XID_SIZE, start + 2 * XID_SIZE)]


def test_what_was_not_requested_is_skipped_up_to_the_requested_offset() -> None:
    events = file_events(built_log())
    offset = 4 + sum(map(len, events[:4]))
    stream = scripted_stream(ScriptedChannel(as_packets([rotation("binlog.000001"), *events])), skip_to=offset)
    first, second, third = take(stream, 3)
    assert [(event.type_code, event.offset, event.in_file) for event in (first, second)] == [
        (EventCode.ROTATE, offset, False), (EventCode.FORMAT_DESCRIPTION, offset, False),
    ]  # fmt: skip
    assert (third.data, third.offset, third.in_file) == (events[4], offset, True)


@given(st.integers(0, 1 << 62), st.integers(0, 1 << 34))
def test_32_bits_are_widened_to_the_next_number_that_has_them(at_least: int, more: int) -> None:
    whole = at_least + more
    found = widened(whole % (1 << 32), at_least)
    assert found % (1 << 32) == whole % (1 << 32)
    assert at_least <= found < at_least + (1 << 32)


def test_an_event_that_is_missing_is_noticed() -> None:
    events = file_events(built_log())
    del events[3]
    stream = scripted_stream(ScriptedChannel(as_packets([rotation("binlog.000001"), *events])))
    with pytest.raises(Malformed, match=r"expected the next event at \d+, found one that begins at \d+"):
        list(stream)


def test_by_gtids_a_server_may_skip_events() -> None:
    script = [rotation("binlog.000001", 4), xid_at(5000), heartbeat("binlog.000001", 9000), xid_at(9000 + XID_SIZE)]
    stream = scripted_stream(ScriptedChannel(as_packets(script)), gaps=True)
    assert [event.offset for event in take(stream, 4)] == [4, 5000 - XID_SIZE, 9000, 9000]


@pytest.mark.parametrize(
    ("beat", "expected"),
    [
        (heartbeat_v2("binlog.000001", 9 * GIB), 9 * GIB),
        (heartbeat("binlog.000001", 5 * GIB), 5 * GIB),
        (heartbeat_v2("binlog.000001", 3), 4 * GIB),
        (far_heartbeat("binlog.000001", 9 * GIB + 5), 9 * GIB + 5),
    ],
    ids=["v2", "v1", "v2 that lags", "v1 of MariaDB past 4 GiB"],
)
def test_a_heartbeat_says_where_the_server_is(beat: bytes, expected: int) -> None:
    script = ScriptedChannel(as_packets([rotation("binlog.000001", 4 * GIB), beat]))
    stream = scripted_stream(script, gaps=True)
    events = take(stream, 2)
    assert [event.is_heartbeat for event in events] == [False, True]
    assert events[1].offset == stream.offset == expected
    assert stream.position == Position(file="binlog.000001", offset=expected, source="db1:3306")


def test_an_event_without_a_position_follows_the_one_before() -> None:
    log = BinlogBuilder(MARIADB_10_11)
    log.transaction(insert(ORDERS, (1,)))
    script = [rotation("binlog.000001", 500), event_bytes(EventCode.XID, Xid(7), timestamp=1)]
    stream = scripted_stream(ScriptedChannel(as_packets(script)))
    assert take(stream, 2)[1].end_offset == 500 + XID_SIZE


def test_the_first_event_may_take_longer_than_the_others() -> None:
    channel = ScriptedChannel(as_packets([rotation("binlog.000001"), *file_events(built_log())]))
    stream = scripted_stream(channel, settings=StreamSettings(heartbeat_seconds=2, missed_heartbeats=4))
    take(stream, 3)
    assert channel.limits == [60, 8, 8]


def test_a_log_may_have_no_checksums() -> None:
    log = BinlogBuilder(checksum=ChecksumAlgorithm.NONE)
    log.transaction(insert(ORDERS, (1,)))
    script = as_packets([rotation("binlog.000001", checksum=False), *file_events(log)])
    stream = scripted_stream(ScriptedChannel(script), checksum=ChecksumAlgorithm.NONE)
    assert take(stream, len(script))[-1].decode().type == "XID"


def test_a_wrong_checksum_is_refused_with_its_position() -> None:
    events = file_events(built_log())
    events[2] = events[2][:-1] + bytes([events[2][-1] ^ 1])
    stream = scripted_stream(ScriptedChannel(as_packets([rotation("binlog.000001"), *events])))
    with pytest.raises(Checksum, match=r"db1:3306 binlog\.000001:\d+ .*stored 0x[0-9a-f]{8}, computed 0x[0-9a-f]{8}"):
        list(stream)


def cleared(description: bytes, *fields: slice) -> bytes:
    """Return a format description as servers change it; the checksum stays that of the file."""
    changed = bytearray(description)
    for field in fields:
        changed[field] = bytes(4)
    return bytes(changed)


NEXT_POSITION, CREATED = slice(13, 17), slice(71, 75)


def description_of(checksum: ChecksumAlgorithm) -> bytes:
    return file_events(BinlogBuilder(checksum=checksum))[0]


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("fields", [(), (NEXT_POSITION,), (NEXT_POSITION, CREATED)], ids=["none", "one", "both"])
def test_a_description_that_a_server_changed_may_have_the_checksum_of_its_file(
    fields: tuple[slice, ...], gaps: bool
) -> None:
    sent = cleared(description_of(ChecksumAlgorithm.NONE), *fields)
    script = as_packets([rotation("binlog.000001", 500, checksum=False), sent])
    read = take(scripted_stream(ScriptedChannel(script), checksum=ChecksumAlgorithm.NONE, gaps=gaps), 2)
    assert (read[1].data, read[1].in_file, read[1].end_offset) == (sent, False, 500)


def test_by_gtids_the_first_description_may_be_changed() -> None:
    sent = cleared(description_of(ChecksumAlgorithm.NONE), CREATED)
    script = as_packets([rotation("binlog.000001", checksum=False), sent])
    read = take(scripted_stream(ScriptedChannel(script), checksum=ChecksumAlgorithm.NONE, gaps=True), 2)
    assert (read[1].in_file, read[1].frame.checksum) == (True, ChecksumState.NONE)


WRONG = {
    "in its file": (4, cleared(description_of(ChecksumAlgorithm.NONE), CREATED)),
    "of a file with checksums": (500, cleared(description_of(ChecksumAlgorithm.CRC32), NEXT_POSITION, CREATED)),
    "of another time": (500, cleared(description_of(ChecksumAlgorithm.NONE), NEXT_POSITION, slice(0, 4))),
    "of another server": (500, cleared(description_of(ChecksumAlgorithm.NONE), NEXT_POSITION, slice(5, 9))),
}


@pytest.mark.parametrize(("offset", "sent"), WRONG.values(), ids=WRONG)
def test_a_description_that_differs_otherwise_is_refused(offset: int, sent: bytes) -> None:
    script = as_packets([rotation("binlog.000001", offset, checksum=False), sent])
    stream = scripted_stream(ScriptedChannel(script), checksum=ChecksumAlgorithm.NONE)
    with pytest.raises(Checksum, match=rf"db1:3306 binlog\.000001:{offset} \(FORMAT_DESCRIPTION\)"):
        take(stream, 2)


def test_an_offset_at_which_no_event_begins_is_not_skipped_to() -> None:
    events = file_events(built_log())
    inside = 4 + len(events[0]) + 1
    stream = scripted_stream(ScriptedChannel(as_packets([rotation("binlog.000001"), *events])), skip_to=inside)
    with pytest.raises(Server, match=rf"no event begins at {inside}"):
        list(stream)


@pytest.mark.parametrize("name", ["", "../etc/passwd", "a/b.000001", "a\\b", "..", "a\0b"])
def test_a_file_name_that_is_a_path_is_refused(name: str) -> None:
    with pytest.raises(Malformed):
        next(scripted_stream(ScriptedChannel(as_packets([rotation(name)]))))


@pytest.mark.parametrize(
    ("packet", "error"),
    [
        (b"", Malformed),
        (b"\x01whatever", Malformed),
        (b"\0", Malformed),
        (b"\0" + rotation("binlog.000001")[:-5], Malformed),
        (b"\0" + rotation("binlog.000001") * 2, Malformed),
        (encode_end(EndPacket()), ConnectionLost),
        (encode_error(ErrorPacket(1236, "could not find next log", "HY000")), Purged),
        (encode_error(ErrorPacket(9999, "something new", "HY000")), Server),
    ],
    ids=["empty", "unknown", "short", "cut off", "two events", "end", "purged", "another error"],
)
def test_a_packet_that_is_no_event_ends_the_stream_with_an_error(packet: bytes, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"db1:3306 binlog\.000001:4"):
        next(scripted_stream(ScriptedChannel([packet])))


def test_where_only_what_is_there_was_requested_the_end_is_the_end() -> None:
    script = [*as_packets([rotation("binlog.000001"), *file_events(built_log())]), encode_end(EndPacket())]
    stream = scripted_stream(ScriptedChannel(script), until_end=True)
    assert len(list(stream)) == len(script) - 1


def test_an_event_is_acknowledged_when_the_next_one_is_requested() -> None:
    marks = [encode_semi_sync_header(waits=waits) for waits in (True, False, True, True)]
    events = [rotation("binlog.000001"), *file_events(built_log())[:3]]
    script = [as_packets([event], mark)[0] for event, mark in zip(events, marks, strict=True)]
    channel = ScriptedChannel(script)
    stream = scripted_stream(channel, semi_sync=True)
    read = take(stream, 3)
    assert channel.answers == []
    next(stream)
    assert channel.answers == [encode_acknowledgement(BinlogPosition("binlog.000001", read[2].end_offset))]
    stream.acknowledge()
    stream.acknowledge()
    assert len(channel.answers) == 2


def test_without_the_bytes_of_semi_synchronous_replication_the_packet_is_refused() -> None:
    with pytest.raises(Malformed, match="semi-synchronous"):
        next(scripted_stream(ScriptedChannel(as_packets([rotation("binlog.000001")])), semi_sync=True))
