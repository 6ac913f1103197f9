"""From where on a place in a file is enough, for a stream that was asked for by GTIDs: without a server."""

from __future__ import annotations

import pytest

from binspark.client.group import Grouper
from binspark.client.identity import ServerIdentity
from binspark.client.left_out import Written
from binspark.client.progress import Progress
from binspark.client.resume import ResumePoint
from binspark.client.start import parse_gtids
from binspark.client.stream import StreamEvent
from binspark.frames import EventCode, Family
from binspark.gtid import GtidSet, MariadbState
from binspark.testing.builder import MARIADB_10_11, BinlogBuilder, insert, integer, table
from tests.support.client.scripted_channel import (
    ScriptedChannel,
    as_packets,
    file_events,
    heartbeat_v2,
    rotation,
    scripted_stream,
)

ORDERS = table("shop.orders", integer("id"))
MYSQL = ServerIdentity(Family.MYSQL, "uuid-1", 1, gtids_enabled=True)
MARIADB = ServerIdentity(Family.MARIADB, "uuid-2", 1, gtids_enabled=True)
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


def points_of(
    events: list[StreamEvent], identity: ServerIdentity, asked: str, written: Written | None
) -> list[tuple[int, ResumePoint]]:
    """Return the resume point behind each event, with the event's type."""
    point = ResumePoint("", 0, parse_gtids(asked), identity.uuid, by_file=False)
    progress, grouper = Progress(point, identity, by_file=False, written=written), Grouper(1 << 20)
    assert not progress.point.by_file
    points = []
    for event in events:
        for transaction, _ in grouper.feed(event.decode()):
            if transaction is not None:
                progress.delivered(transaction)
            elif not grouper.inside:
                progress.passed(event, event.decode())
        points.append((event.type_code, progress.point))
    return points


def enough_from(
    events: list[StreamEvent], identity: ServerIdentity, asked: str, written: Written | None = None
) -> tuple[int, str, int] | None:
    """Return behind which type of event, and where, the place is enough for good; None if it never is."""
    points = points_of(events, identity, asked, written)
    enough = [point.by_file for _, point in points]
    assert enough == sorted(enough)
    return next(((code, point.file, point.offset) for code, point in points if point.by_file), None)


def end_of(events: list[StreamEvent], code: EventCode, file: str) -> int:
    return next(event.end_offset for event in events if event.type_code == code and event.file == file)


@pytest.mark.parametrize("asked", [f"{OWN}:1-3", f"{OWN}:2", f"{OWN}:1:3,{OTHER}:6", f"{OTHER}:red:5"])
def test_a_file_is_enough_that_begins_behind_all_gtids_that_were_asked_with(asked: str) -> None:
    events = streamed(mysql_log(f"{OWN}:1", f"{OTHER}:6", f"{OWN}:2", f"{OTHER}:red:5", f"{OWN}:3"))
    end = end_of(events, EventCode.PREVIOUS_GTIDS, SECOND)
    assert enough_from(events, MYSQL, asked) == (EventCode.PREVIOUS_GTIDS, SECOND, end)


@pytest.mark.parametrize("asked", [f"{OWN}:1-9", f"{OTHER}:7", f"{OTHER}:red:5", f"{OWN}:blue:1"])
def test_gtids_that_the_server_does_not_have_may_always_follow(asked: str) -> None:
    events = streamed(mysql_log(f"{OWN}:1", f"{OTHER}:6"))
    assert enough_from(events, MYSQL, f"{asked},{OTHER}:6") is None


def test_the_first_file_of_a_stream_may_be_enough() -> None:
    log = mysql_log(f"{OWN}:1", f"{OWN}:2")
    events = played([rotation(SECOND), *file_events(log, 1)])
    end = end_of(events, EventCode.PREVIOUS_GTIDS, SECOND)
    assert enough_from(events, MYSQL, f"{OWN}:1-2") == (EventCode.PREVIOUS_GTIDS, SECOND, end)
    assert enough_from(events, MYSQL, f"{OWN}:1-3") is None


def test_where_nothing_is_left_out_the_first_place_is_enough() -> None:
    assert enough_from(streamed(mysql_log(f"{OWN}:1")), MYSQL, "") == (EventCode.ROTATE, FIRST, 4)
    assert enough_from(streamed(mariadb_log("0-1-1")), MARIADB, "") == (EventCode.ROTATE, FIRST, 4)


@pytest.mark.parametrize(
    ("log", "identity", "asked", "code"),
    [
        pytest.param(mysql_log(f"{OWN}:1"), MYSQL, f"{OWN}:1", EventCode.PREVIOUS_GTIDS, id="mysql"),
        pytest.param(mariadb_log("0-1-1"), MARIADB, "0-1-1", EventCode.GTID_LIST, id="mariadb"),
    ],
)
def test_an_event_that_is_in_no_file_says_nothing(
    log: BinlogBuilder, identity: ServerIdentity, asked: str, code: EventCode
) -> None:
    events = streamed(log)
    made_up = [event._replace(in_file=event.in_file and event.type_code != code) for event in events]
    assert enough_from(events, identity, asked) is not None
    assert enough_from(made_up, identity, asked) is None


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_place_is_enough_behind_what_the_server_had_when_it_was_asked(number: int) -> None:
    events = streamed(mysql_log(f"{OWN}:1", f"{OWN}:2", f"{OWN}:3"))
    end = [event.end_offset for event in events if event.type_code == EventCode.XID][number]
    written = Written(GtidSet(f"{OWN}:1,{OTHER}:1-9"), FIRST, end)
    assert enough_from(events, MYSQL, f"{OWN}:1,{OTHER}:3", written) == (EventCode.XID, FIRST, end)


def test_what_the_server_did_not_have_when_it_was_asked_may_follow() -> None:
    events = streamed(mysql_log(f"{OWN}:1", f"{OWN}:2"))
    end = end_of(events, EventCode.PREVIOUS_GTIDS, SECOND)
    written = Written(GtidSet(f"{OWN}:1,{OTHER}:1-9"), FIRST, 4)
    assert enough_from(events, MYSQL, f"{OWN}:1-2,{OTHER}:3", written) == (EventCode.PREVIOUS_GTIDS, SECOND, end)
    assert enough_from(events, MYSQL, f"{OWN}:1-2,{OTHER}:10", written) is None


@pytest.mark.parametrize(("offset", "found"), [(899, None), (900, (EventCode.HEARTBEAT_V2, FIRST, 900))])
def test_a_heartbeat_tells_that_a_stream_is_behind_what_it_leaves_out(
    offset: int, found: tuple[int, str, int] | None
) -> None:
    head = file_events(mysql_log(f"{OWN}:1"))[:2]
    events = played([rotation(FIRST), *head, heartbeat_v2(FIRST, offset)])
    assert enough_from(events, MYSQL, f"{OWN}:1", Written(GtidSet(f"{OWN}:1"), FIRST, 900)) == found


def test_a_later_file_is_behind_any_place_of_an_older_one() -> None:
    written = Written(GtidSet(), "binlog.999999", 5000)
    assert written.is_before("binlog.1000000", 4)
    assert not written.is_before("binlog.000002", 6000)


@pytest.mark.parametrize("asked", ["0-1-2", "0-1-1", "0-2-3", "5-1-4", "0-1-2,5-1-4"])
def test_a_file_of_mariadb_is_enough_whose_list_has_the_number_of_the_same_server(asked: str) -> None:
    events = streamed(mariadb_log("0-1-1", "0-1-2", "0-2-3", "5-1-4"))
    end = end_of(events, EventCode.GTID_LIST, SECOND)
    assert enough_from(events, MARIADB, asked) == (EventCode.GTID_LIST, SECOND, end)


@pytest.mark.parametrize("asked", ["0-3-2", "0-1-3", "7-1-1", "0-1-2,7-1-1"])
def test_in_mariadb_a_larger_number_of_another_server_says_nothing(asked: str) -> None:
    assert enough_from(streamed(mariadb_log("0-1-1", "0-1-2", "0-2-9")), MARIADB, asked) is None


def test_in_mariadb_a_number_is_not_known_to_be_behind_if_a_smaller_one_came_last() -> None:
    assert enough_from(streamed(mariadb_log("0-2-8", "0-2-3")), MARIADB, "0-2-8") is None


def test_a_place_is_enough_behind_what_mariadb_had_written_when_it_was_asked() -> None:
    events = streamed(mariadb_log("0-1-1", "0-2-2"))
    end, begin = end_of(events, EventCode.XID, FIRST), end_of(events, EventCode.GTID_LIST, SECOND)
    written = Written(MariadbState("0-1-1,0-2-2"), FIRST, end)
    assert enough_from(events, MARIADB, "0-1-1", written) == (EventCode.XID, FIRST, end)
    without = written._replace(gtids=MariadbState("0-2-2"))
    assert enough_from(events, MARIADB, "0-1-1", without) == (EventCode.GTID_LIST, SECOND, begin)


def test_a_place_that_is_enough_is_a_whole_resume_point() -> None:
    log = mysql_log(f"{OWN}:1", f"{OWN}:2")
    last = points_of(streamed(log), MYSQL, f"{OWN}:1", None)[-1][1]
    created = int.from_bytes(log.files[1].content[4:8], "little")
    end = len(log.files[1].content)
    assert last == ResumePoint(SECOND, end, log.executed, MYSQL.uuid, created, by_file=True)
