"""Events into whole transactions, resume points and attempts: without a server."""

from __future__ import annotations

import logging
import pickle
import random
from typing import Literal

import pytest

from binspark.client import reconnect
from binspark.client.connect import Connection
from binspark.client.follow import follow
from binspark.client.group import Grouper
from binspark.client.hold import HeldEvents
from binspark.client.identity import ServerIdentity
from binspark.client.options import ConnectionOptions
from binspark.client.progress import Progress
from binspark.client.reconnect import Reconnector
from binspark.client.resume import ResumePoint
from binspark.client.settings import FollowSettings, Retry, StreamSettings
from binspark.client.stream import StreamEvent
from binspark.errors import ConnectionLost, OptionError
from binspark.event import Event
from binspark.frames import Family
from binspark.testing.builder import MARIADB_10_11, MYSQL_9_7, BinlogBuilder, ServerKind, insert, integer, table
from binspark.transactions import Transaction
from tests.support.client.client_help import options_of, quick
from tests.support.client.scripted_channel import ScriptedChannel, as_packets, file_events, rotation, scripted_stream

ORDERS = table("shop.orders", integer("id"))
MYSQL = ServerIdentity(Family.MYSQL, "uuid-1", 1, gtids_enabled=True)
MARIADB = ServerIdentity(Family.MARIADB, "uuid-2", 1, gtids_enabled=True)
KINDS = pytest.mark.parametrize(("kind", "identity"), [(MYSQL_9_7, MYSQL), (MARIADB_10_11, MARIADB)], ids=["m", "a"])


def streamed(log: BinlogBuilder) -> list[StreamEvent]:
    """Return the events of a built log as a stream brings them."""
    files = enumerate(log.files)
    script = [event for number, file in files for event in (rotation(file.name), *file_events(log, number))]
    stream = scripted_stream(ScriptedChannel(as_packets(script)))
    return [next(stream) for _ in script]


def grouped(grouper: Grouper, events: list[StreamEvent]) -> list[tuple[Transaction | None, list[Event]]]:
    """Return what is whole, in order."""
    return [(transaction, list(held)) for event in events for transaction, held in grouper.feed(event.decode())]


@KINDS
@pytest.mark.parametrize("memory_bytes", [0, 1 << 20])
def test_every_event_is_in_exactly_one_group(kind: ServerKind, identity: ServerIdentity, memory_bytes: int) -> None:
    log = BinlogBuilder(kind)
    log.ddl("CREATE TABLE t (a INT)")
    log.transaction(insert(ORDERS, (1,), (2,)), insert(ORDERS, (3,)))
    log.rotate()
    log.transaction(insert(ORDERS, (4,)), compress=True)
    log.transaction(insert(ORDERS, (5,)), xa=b"x")
    log.stop()
    events = streamed(log)
    groups = grouped(Grouper(memory_bytes), events)
    assert [event.frame.data for _, group in groups for event in group] == [event.data for event in events]
    endings = [transaction.ending for transaction, _ in groups if transaction]
    assert endings == [endings[0], "xid", endings[2], "xa_prepare"]


@pytest.mark.parametrize("compress", [None, True], ids=["plain", "compressed"])
def test_a_transaction_is_whole_with_its_last_event_not_with_the_next_one(compress: Literal[True] | None) -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1,)), compress=compress)
    last = grouped(Grouper(1 << 20), streamed(log))[-1]
    assert last[0] is not None


def test_a_transaction_that_a_crash_cut_short_is_left_out_and_told() -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1,)))
    log.transaction(insert(ORDERS, (2,)))
    whole = file_events(log)
    log.rotate()
    log.transaction(insert(ORDERS, (3,)))
    script = [rotation("binlog.000001"), *whole[:-1], rotation("binlog.000002"), *file_events(log, 1)]
    stream = scripted_stream(ScriptedChannel(as_packets(script)))
    grouper = Grouper(1 << 20)
    groups = grouped(grouper, [next(stream) for _ in script])
    assert [transaction.gtid for transaction, _ in groups if transaction] == [
        f"{log.server_uuid}:1", f"{log.server_uuid}:3",
    ]  # fmt: skip
    (dropped,) = grouper.take_dropped()
    assert (dropped.file, dropped.gtid) == ("binlog.000001", f"{log.server_uuid}:2")
    assert grouper.take_dropped() == []


def test_held_events_can_be_read_while_others_read_them() -> None:
    log = BinlogBuilder()
    log.transaction(*(insert(ORDERS, (number,)) for number in range(50)))
    held = HeldEvents(100)
    events = [event.decode() for event in streamed(log)][3:]
    for event in events:
        held.add(event)
    pairs = list(zip(held, held, strict=True))
    assert held.spilled
    assert [one.frame for one, _ in pairs] == [other.frame for _, other in pairs] == [event.frame for event in events]


def resume_points(log: BinlogBuilder, identity: ServerIdentity, start: ResumePoint) -> list[ResumePoint]:
    progress = Progress(start, identity, by_file=True)
    grouper = Grouper(1 << 20)
    points = []
    for event in streamed(log):
        for transaction, _ in grouper.feed(event.decode()):
            if transaction is not None:
                progress.delivered(transaction)
                points.append(progress.point)
            elif not grouper.inside:
                progress.passed(event, event.decode())
    return points


@KINDS
def test_a_resume_point_knows_file_gtids_server_and_when_the_file_was_made(
    kind: ServerKind, identity: ServerIdentity
) -> None:
    log = BinlogBuilder(kind)
    log.transaction(insert(ORDERS, (1,)))
    log.rotate()
    log.transaction(insert(ORDERS, (2,)))
    first, second = resume_points(log, identity, ResumePoint("binlog.000001", 4))
    assert (first.file, second.file) == ("binlog.000001", "binlog.000002")
    assert second.offset == len(log.files[1].content)
    assert str(second.gtids) == {Family.MYSQL: str(log.executed), Family.MARIADB: "0-1-2"}[identity.family]
    assert second.server == identity.uuid
    assert second.created == int.from_bytes(log.files[1].content[4:8], "little")


def test_a_transaction_without_a_gtid_makes_gtids_useless_until_the_next_file() -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1,)))
    log.transaction(insert(ORDERS, (2,)), gtid="anonymous")
    log.transaction(insert(ORDERS, (3,)))
    log.rotate()
    log.transaction(insert(ORDERS, (4,)))
    known = [point.gtids is not None for point in resume_points(log, MYSQL, ResumePoint("binlog.000001", 4))]
    assert known == [True, False, False, True]


def test_delays_double_up_to_the_longest() -> None:
    retry = Retry(None, 1.0, 10.0)
    for round_number, longest in enumerate([1, 2, 4, 8, 10, 10, 10], 1):
        delays = [retry.delay(round_number) for _ in range(50)]
        assert longest / 2 <= min(delays) <= max(delays) <= longest
    assert retry.delay(10_000) <= 10.0


@pytest.mark.parametrize("wrong", [{"limit": -1}, {"first_seconds": -1}, {"first_seconds": 9, "longest_seconds": 8}])
def test_attempts_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(OptionError):
        Retry(**wrong)  # type: ignore[arg-type]


class Attempts:
    """Stands for `connect`: remembers which port was asked for."""

    def __init__(self) -> None:
        self.ports: list[int] = []

    def connect(self, options: ConnectionOptions) -> Connection:
        (address,) = options.addresses
        self.ports.append(address.port)
        return Connection(None, options)


def test_servers_are_tried_in_turn_from_the_one_that_was_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = Attempts()
    monkeypatch.setattr(reconnect, "connect", attempts.connect)
    reconnector = Reconnector(options_of(1, 2, 3), Retry(None, 0, 0))
    for _ in range(5):
        reconnector.connect()
        reconnector.failed(ConnectionLost("x"))
    reconnector.connect()
    reconnector.progressed()
    reconnector.failed(ConnectionLost("x"))
    reconnector.connect()
    assert attempts.ports == [1, 1, 2, 3, 1, 2, 2]


def test_settings_and_resume_points_travel() -> None:
    settings = FollowSettings(stream=StreamSettings(server_id=7), retry=Retry(3))
    point = ResumePoint("binlog.000001", 4, server="x", created=1)
    assert pickle.loads(pickle.dumps((settings, point))) == (settings, point)


def test_nothing_that_is_logged_holds_the_password(caplog: pytest.LogCaptureFixture) -> None:
    secret = f"secret-{random.randrange(1 << 40)}"
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ConnectionLost):
        next(follow(options_of(1, password=secret), "latest", quick(retry=Retry(2, 0, 0))))
    assert "attempt 2" in caplog.text
    assert secret not in caplog.text
