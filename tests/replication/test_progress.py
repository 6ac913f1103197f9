"""The position after what was delivered, and from where on files are enough after GTIDs: without a server."""

from __future__ import annotations

import pytest

from binspark.frames import EventCode, Family
from binspark.gtid import GtidSet, MariadbState
from binspark.replication.chunk import LogChunk
from binspark.replication.gtids import parse_gtids
from binspark.replication.position import BinlogPosition
from binspark.replication.progress import FollowProgress, Written
from binspark.replication.sources import EventSource
from binspark.replication.stream import StreamEvent
from binspark.server.info import ServerInfo
from binspark.testing.builder import MARIADB_10_11, MYSQL_9_7, BinlogBuilder, ServerKind, insert, integer, table
from tests.support.replication.scripted_channel import (
    ScriptedChannel,
    as_packets,
    file_events,
    heartbeat_v2,
    rotation,
    scripted_stream,
)

ORDERS = table("shop.orders", integer("id"))
MYSQL = ServerInfo(Family.MYSQL, "9.7.4", "uuid-1", 1, gtids_enabled=True)
MARIADB = ServerInfo(Family.MARIADB, "10.11.18-MariaDB", "uuid-2", 1, gtids_enabled=True)
OWN = BinlogBuilder().server_uuid
OTHER = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
FIRST, SECOND = "binlog.000001", "binlog.000002"


def mysql_log(*gtids: str) -> BinlogBuilder:
    """Return a log of two files: these transactions, then one more."""
    return _filled(BinlogBuilder(), gtids)


def mariadb_log(*gtids: str) -> BinlogBuilder:
    return _filled(BinlogBuilder(MARIADB_10_11), gtids)


def _filled(log: BinlogBuilder, gtids: tuple[str, ...]) -> BinlogBuilder:
    for gtid in gtids:
        log.transaction(insert(ORDERS, (1,)), gtid=gtid)
    log.rotate()
    log.transaction(insert(ORDERS, (2,)))
    return log


def streamed(log: BinlogBuilder) -> list[StreamEvent]:
    """Return the events of a log as a stream brings them."""
    files = enumerate(log.files)
    return played([event for number, file in files for event in (rotation(file.name), *file_events(log, number))])


def played(script: list[bytes]) -> list[StreamEvent]:
    stream = scripted_stream(ScriptedChannel(as_packets(script)), gaps=True)
    return [next(stream) for _ in script]


def delivered(
    events: list[StreamEvent], server: ServerInfo, start: BinlogPosition, written: Written | None = None
) -> list[LogChunk]:
    """Return the chunks of events, each with its origin."""
    progress = FollowProgress(start, server, by_file=start.by_file, written=written)
    assert progress.position == start
    chunks = [progress.deliver(chunk) for chunk in EventSource(events, 1 << 20)]
    assert progress.position == chunks[-1].end_position
    return chunks


def skipping(gtids: str, server: ServerInfo) -> BinlogPosition:
    """Return a position by GTIDs, which the server is requested to skip."""
    return BinlogPosition("", 0, parse_gtids(gtids), server.uuid, by_file=False)


def enough_from(
    events: list[StreamEvent], server: ServerInfo, gtids: str, written: Written | None = None
) -> tuple[int, str, int] | None:
    """Return after which type of event, and where, file and offset are enough for good; None if they never are."""
    chunks = delivered(events, server, skipping(gtids, server), written)
    enough = [chunk.end_position.by_file for chunk in chunks]
    assert enough == sorted(enough)
    first = next((chunk for chunk in chunks if chunk.end_position.by_file), None)
    return None if first is None else (last_type(first), first.end_position.file, first.end_position.offset)


def last_type(chunk: LogChunk) -> int:
    return chunk.event.type_code if chunk.event is not None else list(chunk.events())[-1].type_code


def end_of(events: list[StreamEvent], code: EventCode, file: str) -> int:
    return next(event.end_offset for event in events if event.type_code == code and event.file == file)


@pytest.mark.parametrize("gtids", [f"{OWN}:1-3", f"{OWN}:2", f"{OWN}:1:3,{OTHER}:6", f"{OTHER}:red:5"])
def test_files_are_enough_from_one_that_begins_after_all_skipped_gtids(gtids: str) -> None:
    events = streamed(mysql_log(f"{OWN}:1", f"{OTHER}:6", f"{OWN}:2", f"{OTHER}:red:5", f"{OWN}:3"))
    end = end_of(events, EventCode.PREVIOUS_GTIDS, SECOND)
    assert enough_from(events, MYSQL, gtids) == (EventCode.PREVIOUS_GTIDS, SECOND, end)


@pytest.mark.parametrize("gtids", [f"{OWN}:1-9", f"{OTHER}:7", f"{OTHER}:red:5", f"{OWN}:blue:1"])
def test_gtids_that_the_server_does_not_have_may_always_follow(gtids: str) -> None:
    events = streamed(mysql_log(f"{OWN}:1", f"{OTHER}:6"))
    assert enough_from(events, MYSQL, f"{gtids},{OTHER}:6") is None


def test_the_first_file_of_a_stream_may_be_enough() -> None:
    log = mysql_log(f"{OWN}:1", f"{OWN}:2")
    events = played([rotation(SECOND), *file_events(log, 1)])
    end = end_of(events, EventCode.PREVIOUS_GTIDS, SECOND)
    assert enough_from(events, MYSQL, f"{OWN}:1-2") == (EventCode.PREVIOUS_GTIDS, SECOND, end)
    assert enough_from(events, MYSQL, f"{OWN}:1-3") is None


def test_if_nothing_is_skipped_the_first_position_is_enough() -> None:
    assert enough_from(streamed(mysql_log(f"{OWN}:1")), MYSQL, "") == (EventCode.ROTATE, FIRST, 4)
    assert enough_from(streamed(mariadb_log("0-1-1")), MARIADB, "") == (EventCode.ROTATE, FIRST, 4)


@pytest.mark.parametrize(
    ("log", "server", "gtids", "code"),
    [
        pytest.param(mysql_log(f"{OWN}:1"), MYSQL, f"{OWN}:1", EventCode.PREVIOUS_GTIDS, id="mysql"),
        pytest.param(mariadb_log("0-1-1"), MARIADB, "0-1-1", EventCode.GTID_LIST, id="mariadb"),
    ],
)
def test_an_artificial_event_says_nothing(log: BinlogBuilder, server: ServerInfo, gtids: str, code: EventCode) -> None:
    events = streamed(log)
    artificial = [event._replace(in_file=event.in_file and event.type_code != code) for event in events]
    assert enough_from(events, server, gtids) is not None
    assert enough_from(artificial, server, gtids) is None


@pytest.mark.parametrize("number", [0, 1, 2])
def test_files_are_enough_after_what_the_server_had_when_the_stream_was_requested(number: int) -> None:
    events = streamed(mysql_log(f"{OWN}:1", f"{OWN}:2", f"{OWN}:3"))
    end = [event.end_offset for event in events if event.type_code == EventCode.XID][number]
    written = Written(GtidSet(f"{OWN}:1,{OTHER}:1-9"), BinlogPosition(FIRST, end))
    assert enough_from(events, MYSQL, f"{OWN}:1,{OTHER}:3", written) == (EventCode.XID, FIRST, end)


def test_what_the_server_did_not_have_when_the_stream_was_requested_may_follow() -> None:
    events = streamed(mysql_log(f"{OWN}:1", f"{OWN}:2"))
    end = end_of(events, EventCode.PREVIOUS_GTIDS, SECOND)
    written = Written(GtidSet(f"{OWN}:1,{OTHER}:1-9"), BinlogPosition(FIRST, 4))
    assert enough_from(events, MYSQL, f"{OWN}:1-2,{OTHER}:3", written) == (EventCode.PREVIOUS_GTIDS, SECOND, end)
    assert enough_from(events, MYSQL, f"{OWN}:1-2,{OTHER}:10", written) is None


@pytest.mark.parametrize(("offset", "found"), [(899, None), (900, (EventCode.HEARTBEAT_V2, FIRST, 900))])
def test_a_heartbeat_says_that_a_stream_is_after_what_it_skips(offset: int, found: tuple[int, str, int] | None) -> None:
    head = file_events(mysql_log(f"{OWN}:1"))[:2]
    events = played([rotation(FIRST), *head, heartbeat_v2(FIRST, offset)])
    assert enough_from(events, MYSQL, f"{OWN}:1", Written(GtidSet(f"{OWN}:1"), BinlogPosition(FIRST, 900))) == found


@pytest.mark.parametrize("gtids", ["0-1-2", "0-1-1", "0-2-3", "5-1-4", "0-1-2,5-1-4"])
def test_files_of_mariadb_are_enough_if_the_list_has_the_number_of_the_same_server(gtids: str) -> None:
    events = streamed(mariadb_log("0-1-1", "0-1-2", "0-2-3", "5-1-4"))
    end = end_of(events, EventCode.GTID_LIST, SECOND)
    assert enough_from(events, MARIADB, gtids) == (EventCode.GTID_LIST, SECOND, end)


@pytest.mark.parametrize("gtids", ["0-3-2", "0-1-3", "7-1-1", "0-1-2,7-1-1"])
def test_in_mariadb_a_larger_number_of_another_server_says_nothing(gtids: str) -> None:
    assert enough_from(streamed(mariadb_log("0-1-1", "0-1-2", "0-2-9")), MARIADB, gtids) is None


def test_in_mariadb_a_number_is_not_known_to_be_passed_if_a_smaller_one_came_last() -> None:
    assert enough_from(streamed(mariadb_log("0-2-8", "0-2-3")), MARIADB, "0-2-8") is None


def test_files_are_enough_after_what_mariadb_had_written_when_the_stream_was_requested() -> None:
    events = streamed(mariadb_log("0-1-1", "0-2-2"))
    end, begin = end_of(events, EventCode.XID, FIRST), end_of(events, EventCode.GTID_LIST, SECOND)
    written = Written(MariadbState("0-1-1,0-2-2"), BinlogPosition(FIRST, end))
    assert enough_from(events, MARIADB, "0-1-1", written) == (EventCode.XID, FIRST, end)
    without = written._replace(gtids=MariadbState("0-2-2"))
    assert enough_from(events, MARIADB, "0-1-1", without) == (EventCode.GTID_LIST, SECOND, begin)


def test_a_position_that_is_enough_has_all_its_parts() -> None:
    log = mysql_log(f"{OWN}:1", f"{OWN}:2")
    last = delivered(streamed(log), MYSQL, skipping(f"{OWN}:1", MYSQL))[-1].end_position
    created = int.from_bytes(log.files[1].content[4:8], "little")
    end = len(log.files[1].content)
    assert last == BinlogPosition(SECOND, end, log.executed, MYSQL.uuid, created, by_file=True)


KINDS = pytest.mark.parametrize(("kind", "server"), [(MYSQL_9_7, MYSQL), (MARIADB_10_11, MARIADB)], ids=["m", "a"])


def positions_after_transactions(log: BinlogBuilder, server: ServerInfo, start: BinlogPosition) -> list[BinlogPosition]:
    return [chunk.end_position for chunk in delivered(streamed(log), server, start) if chunk.is_transaction]


@KINDS
def test_a_position_has_file_gtids_server_and_when_the_file_was_created(kind: ServerKind, server: ServerInfo) -> None:
    log = BinlogBuilder(kind)
    log.transaction(insert(ORDERS, (1,)))
    log.rotate()
    log.transaction(insert(ORDERS, (2,)))
    first, second = positions_after_transactions(log, server, BinlogPosition("binlog.000001", 4, resets=3))
    assert (first.file, second.file) == ("binlog.000001", "binlog.000002")
    assert second.offset == len(log.files[1].content)
    assert str(second.gtids) == {Family.MYSQL: str(log.executed), Family.MARIADB: "0-1-2"}[server.family]
    assert (second.server, second.resets) == (server.uuid, 3)
    assert second.created == int.from_bytes(log.files[1].content[4:8], "little")


def test_a_transaction_without_a_gtid_makes_gtids_unknown_until_the_next_file() -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1,)))
    log.transaction(insert(ORDERS, (2,)), gtid="anonymous")
    log.transaction(insert(ORDERS, (3,)))
    log.rotate()
    log.transaction(insert(ORDERS, (4,)))
    positions = positions_after_transactions(log, MYSQL, BinlogPosition("binlog.000001", 4))
    assert [position.gtids is not None for position in positions] == [True, False, False, True]


def test_a_server_without_gtids_has_positions_without_them() -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1,)))
    server = ServerInfo(Family.MYSQL, "9.7.4", "uuid-1", 1, gtids_enabled=False)
    (position,) = positions_after_transactions(log, server, BinlogPosition("binlog.000001", 4))
    assert position.gtids is None
