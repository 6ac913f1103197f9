"""Following a server: every transaction once and whole, whatever happens to its connections."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest

from binspark.client.follow import follow
from binspark.client.follow_files import follow_files
from binspark.client.group import Group, GroupKind
from binspark.client.resume import ResumePoint
from binspark.client.settings import Retry
from binspark.errors import ConnectionLost, OptionError
from binspark.position import Position
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.client.client_help import (
    StartServer,
    every_family,
    following,
    ids_of,
    in_background,
    insert,
    make_table,
    options_of,
    quick,
    quick_stream,
    transactions_until,
)
from tests.support.tcp_proxy import proxied

pytestmark = pytest.mark.timeout(180)

DURABLE = {"sync-binlog": 1, "innodb-flush-log-at-trx-commit": 1}
STARTS = pytest.mark.parametrize("start", ["earliest", pytest.param("gtid:", marks=pytest.mark.slow)])


def all_transactions(port: int, start: Any = "earliest", **changes: Any) -> list[Group]:
    settings = quick(stream=quick_stream(until_end=True), **changes)
    return [group for group in follow(options_of(port), start, settings) if group.kind is GroupKind.TRANSACTION]


def places(groups: list[Group]) -> list[Any]:
    """Return what tells transactions apart."""
    transactions = [group.transaction for group in groups if group.transaction]
    return [(each.file, each.start, each.end, each.gtid, each.events) for each in transactions]


@every_family
def test_transactions_come_whole_while_they_are_made(family: Family, shared: Server, database: str) -> None:
    make_table(shared, database)
    with following(options_of(shared.port), "latest") as follower:
        assert next(follower).kind is GroupKind.LOG
        with in_background(lambda: insert(shared, database, *range(20))):
            groups = transactions_until(follower, database, 19)
    assert ids_of(groups, database) == list(range(20))
    assert {group.transaction.ending for group in groups if group.transaction} == {"xid"}


@every_family
@STARTS
def test_every_resume_point_goes_on_with_the_next_transaction(
    family: Family, start: str, start_server: StartServer
) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, "d", 1, 2)
    server.query("FLUSH LOGS")
    insert(server, "d", 3)
    groups = list(follow(options_of(server.port), start, quick(stream=quick_stream(until_end=True))))
    for number, group in enumerate(groups):
        stored = ResumePoint.parse(str(group.resume))
        assert places(all_transactions(server.port, stored)) == places(groups[number + 1 :])


@every_family
def test_a_server_that_restarts_is_followed_on(family: Family, start_server: StartServer) -> None:
    server = start_server(family, DURABLE)
    make_table(server, "d")
    insert(server, "d", 1, 2)
    with following(options_of(server.port), "earliest") as follower:
        groups = transactions_until(follower, "d", 2)
        server.restart()
        insert(server, "d", 3)
        groups += transactions_until(follower, "d", 3)
    assert ids_of(groups, "d") == [1, 2, 3]
    assert groups[-1].resume.file == "binlog.000002"


@every_family
@STARTS
def test_a_server_that_is_killed_is_followed_on(family: Family, start: str, start_server: StartServer) -> None:
    server = start_server(family, DURABLE)
    make_table(server, "d")
    with following(options_of(server.port), start) as follower:
        groups: list[Group] = []
        for number in range(3):
            insert(server, "d", 10 * number, 10 * number + 1)
            groups += transactions_until(follower, "d", 10 * number)
            server.kill()
            server.launch()
        insert(server, "d", 99)
        groups += transactions_until(follower, "d", 99)
    assert ids_of(groups, "d") == [0, 1, 10, 11, 20, 21, 99]


@every_family
@pytest.mark.parametrize("start", ["earliest", "gtid:"])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_nothing_is_lost_or_doubled_where_connections_are_cut(
    family: Family, start: str, seed: int, start_server: StartServer
) -> None:
    server = start_server(family)
    make_table(server, "d")
    for number in range(12):
        insert(server, "d", number, pad=random.Random(number).choice([10, 3000, 30_000]))
    whole = all_transactions(server.port, start)
    chance = random.Random(seed)
    with proxied(server.port) as proxy:
        proxy.budgets = [chance.randrange(100, 60_000) for _ in range(30)]
        groups = all_transactions(proxy.port, start)
    assert places(groups) == places(whole)
    assert ids_of(groups, "d") == list(range(12))


@every_family
def test_files_come_byte_for_byte_where_connections_are_cut(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    for number in range(6):
        insert(server, "d", number, pad=9000)
        server.query("FLUSH LOGS")
    chance = random.Random(5)
    with proxied(server.port) as proxy:
        proxy.budgets = [chance.randrange(5000, 20_000) for _ in range(20)]
        follower = follow_files(options_of(proxy.port), "earliest", quick(stream=quick_stream(until_end=True)))
        files: dict[str, bytes] = {}
        for event in follower:
            files[event.file] = files.get(event.file, b"\xfebin") + (event.data if event.in_file else b"")
    on_disk = {path.name: path.read_bytes() for path in server.log_files()[:-1]}
    assert {name: files[name] for name in on_disk} == on_disk
    assert follower.resume is not None
    assert (follower.resume.file, follower.resume.offset) == ("binlog.000007", len(files["binlog.000007"]))


def test_files_are_not_followed_from_gtids() -> None:
    with pytest.raises(OptionError, match="files are followed from a file"):
        follow_files(options_of(1), "0-1-5")


@every_family
def test_a_connection_that_falls_silent_is_noticed_by_its_missing_heartbeats(
    family: Family, shared: Server, database: str
) -> None:
    make_table(shared, database)
    with proxied(shared.port) as proxy:
        options = options_of(proxy.port, connect_seconds=0.5)
        with following(options, "latest") as follower:
            while next(follower).kind is not GroupKind.HEARTBEAT:
                pass
            proxy.stall()
            connections = proxy.accepted
            threading.Timer(2.5, proxy.flow).start()
            insert(shared, database, 1)
            groups = transactions_until(follower, database, 1)
        assert proxy.accepted > connections
    assert ids_of(groups, database) == [1]


@every_family
def test_heartbeats_tell_that_all_is_well(family: Family, shared: Server) -> None:
    heard: list[Position] = []
    follower = follow(options_of(shared.port), "latest", quick(), heard.append)
    group = next(group for group in follower if group.kind is GroupKind.HEARTBEAT)
    follower.close()
    assert [(place.file, place.offset) for place in heard] == [(group.resume.file, group.resume.offset)]
    assert [event.type.startswith("HEARTBEAT") for event in group.events()] == [True]


@every_family
def test_a_transaction_that_outgrows_memory_is_held_in_a_file(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
        for number in range(400):
            cursor.execute("INSERT INTO d.t VALUES (%s, REPEAT('x', 7000))", (number,))
        connection.commit()
    insert(server, "d", 1000)
    with proxied(server.port) as proxy:
        proxy.budgets = [1_000_000, 2_000_000]
        large, small = all_transactions(proxy.port, memory_bytes=100_000)[-2:]
    assert (large.held.spilled, small.held.spilled) == (True, False)
    for _ in range(2):
        assert ids_of([large, small], "d") == [*range(400), 1000]
    in_memory = all_transactions(server.port)[-2]
    assert [event.body for event in large.events()] == [event.body for event in in_memory.events()]
    assert [event.offset for event in large.events()] == [event.offset for event in in_memory.events()]


@pytest.mark.mysql
def test_a_compressed_transaction_comes_with_the_events_inside(start_server: StartServer) -> None:
    server = start_server(MySQL, {"binlog-transaction-compression": "ON"})
    make_table(server, "d")
    insert(server, "d", 1, pad=10_000)
    with following(options_of(server.port), "earliest") as follower:
        group = transactions_until(follower, "d", 1)[-1]
    assert [event.type for event in group.events()] == [
        "GTID", "TRANSACTION_PAYLOAD", "QUERY", "TABLE_MAP", "WRITE_ROWS", "XID",
    ]  # fmt: skip
    assert [event.type for event in group.events(expand_payloads=False)] == ["GTID", "TRANSACTION_PAYLOAD"]


@every_family
def test_a_server_that_waits_for_acknowledgements_has_them_once_the_next_group_is_asked_for(
    family: Family, start_server: StartServer
) -> None:
    server = start_server(family, {"plugin-load-add": "semisync_source.so"} if family is MySQL else {})
    side = {MySQL: "source", MariaDB: "master"}[family]
    make_table(server, "d")
    server.query(f"SET GLOBAL rpl_semi_sync_{side}_timeout = 60000")
    with following(options_of(server.port), "latest", stream=quick_stream(semi_sync=True)) as follower:
        while next(follower).kind is not GroupKind.HEARTBEAT:
            pass
        server.query(f"SET GLOBAL rpl_semi_sync_{side}_enabled = ON")
        with in_background(lambda: insert(server, "d", 1)):
            groups = transactions_until(follower, "d", 1)
            waiting = dict(server.query("SHOW STATUS LIKE 'Rpl_semi_sync%'"))
            next(follower)
        acknowledged = dict(server.query("SHOW STATUS LIKE 'Rpl_semi_sync%'"))
    assert ids_of(groups, "d") == [1]
    assert waiting[f"Rpl_semi_sync_{side}_yes_tx"] == "0"
    assert acknowledged[f"Rpl_semi_sync_{side}_yes_tx"] == "1"


def test_where_nobody_answers_following_ends_after_so_many_attempts() -> None:
    settings = quick(retry=Retry(limit=3, first_seconds=0.01, longest_seconds=0.02))
    with pytest.raises(ConnectionLost, match=r"4 attempts in a row failed, the last so: 127\.0\.0\.1:1: no server"):
        next(follow(options_of(1), "latest", settings))


@pytest.mark.mysql
def test_attempts_are_counted_from_the_last_progress(mysql: Server, database: str) -> None:
    make_table(mysql, database)
    insert(mysql, database, 1)
    settings = quick(retry=Retry(limit=2, first_seconds=0.01, longest_seconds=0.02))
    with proxied(mysql.port) as proxy:
        follower = follow(options_of(proxy.port), "latest", settings)
        for _ in range(6):
            while next(follower).kind is not GroupKind.HEARTBEAT:
                pass
            proxy.cut()
        proxy.refusing = True
        proxy.cut()
        with pytest.raises(ConnectionLost, match="3 attempts"):
            list(follower)


@every_family
def test_another_thread_can_stop_following(family: Family, shared: Server) -> None:
    follower = follow(options_of(shared.port), "latest", quick(stream=quick_stream(heartbeat_seconds=60)))
    next(follower)
    thread = threading.Thread(target=lambda: list(follower))
    thread.start()
    follower.stop()
    thread.join(30)
    assert not thread.is_alive()


def test_another_thread_can_stop_the_wait_for_the_next_attempt() -> None:
    follower = follow(options_of(1), "latest", quick(retry=Retry(None, 60, 60)))
    thread = threading.Thread(target=lambda: list(follower))
    thread.start()
    follower.stop()
    thread.join(30)
    assert not thread.is_alive()
