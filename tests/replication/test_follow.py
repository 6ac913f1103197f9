"""Following a server: every transaction once and complete, whatever happens to its connections."""

from __future__ import annotations

import mmap
import pickle
import random
import threading
from typing import Any

import pytest

from binspark.errors import ConnectionLost
from binspark.replication.chunk import LogChunk
from binspark.replication.follow import Follower, follow
from binspark.replication.position import BinlogPosition
from binspark.replication.settings import FollowSettings, StreamSettings
from binspark.server.connection import connect
from binspark.server.retry import Retry
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.replication.following import (
    chunks_until,
    following,
    ids_of,
    in_background,
    insert,
    make_table,
    position_after_id,
    positions_after,
    quick,
    quick_stream,
    read_to_end,
    transactions_of,
    until_heartbeat,
)
from tests.support.replication.streams import bytes_as_they_come, chunk_files, end_of
from tests.support.servers import StartServer, config_of, each_stopped_family, every_family
from tests.support.tcp_proxy import proxied

pytestmark = pytest.mark.timeout(180)

DURABLE = {"sync-binlog": 1, "innodb-flush-log-at-trx-commit": 1}
STARTS = pytest.mark.parametrize("start", ["earliest", pytest.param("gtid:", marks=pytest.mark.slow)])
WAYS = pytest.mark.parametrize("one_per_chunk", [False, True], ids=["in bulk", "one by one"])


def all_transactions(port: int, start: Any = "earliest", **changes: Any) -> list[LogChunk]:
    return [chunk for chunk in read_to_end(config_of(port), start, **changes) if chunk.data]


@every_family
@WAYS
def test_transactions_are_delivered_complete_while_they_are_made(
    family: Family, one_per_chunk: bool, shared: Server, database: str
) -> None:
    make_table(shared, database)
    with following(config_of(shared.port), "latest", one_per_chunk=one_per_chunk) as follower:
        assert next(follower).is_rotation
        with in_background(lambda: insert(shared, database, *range(20))):
            chunks = chunks_until(follower, database, 19)
    assert ids_of(chunks, database) == list(range(20))
    assert {list(chunk.events())[-1].type for chunk in chunks} == {"XID"}
    assert not one_per_chunk or all(chunk.is_transaction for chunk in chunks)


@every_family
@STARTS
@WAYS
def test_every_position_continues_with_the_next_transaction(
    family: Family, start: str, one_per_chunk: bool, start_server: StartServer
) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, "d", 1, 2)
    server.query("FLUSH LOGS")
    insert(server, "d", 3)
    chunks = read_to_end(config_of(server.port), start, one_per_chunk=one_per_chunk)
    found = transactions_of(chunks)
    assert len(found) == 5
    for chunk in chunks:
        stored = BinlogPosition.parse(str(chunk.end_position))
        rest = [each for each in found if each[:2] >= (stored.file, stored.offset)]
        assert transactions_of(all_transactions(server.port, stored)) == rest
    for number, position in enumerate(positions_after(chunks), 1):
        assert transactions_of(all_transactions(server.port, str(position))) == found[number:]


@each_stopped_family
def test_a_server_that_restarts_is_followed_on(family: Family, start_server: StartServer) -> None:
    server = start_server(family, DURABLE)
    make_table(server, "d")
    insert(server, "d", 1, 2)
    with following(config_of(server.port), "earliest") as follower:
        chunks = chunks_until(follower, "d", 2)
        server.restart()
        insert(server, "d", 3)
        chunks += chunks_until(follower, "d", 3)
    assert ids_of(chunks, "d") == [1, 2, 3]
    assert chunks[-1].end_position.file == "binlog.000002"


@every_family
@STARTS
@WAYS
def test_a_server_that_is_killed_is_followed_on(
    family: Family, start: str, one_per_chunk: bool, start_server: StartServer
) -> None:
    server = start_server(family, DURABLE)
    make_table(server, "d")
    with following(config_of(server.port), start, one_per_chunk=one_per_chunk) as follower:
        chunks: list[LogChunk] = []
        for number in range(3):
            insert(server, "d", 10 * number, 10 * number + 1)
            chunks += chunks_until(follower, "d", 10 * number)
            server.kill()
            server.launch()
        insert(server, "d", 99)
        chunks += chunks_until(follower, "d", 99)
    assert ids_of(chunks, "d") == [0, 1, 10, 11, 20, 21, 99]


@every_family
@pytest.mark.parametrize("start", ["earliest", "gtid:"])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
@WAYS
def test_nothing_is_lost_or_doubled_where_connections_are_cut(
    family: Family, start: str, seed: int, one_per_chunk: bool, start_server: StartServer
) -> None:
    server = start_server(family)
    make_table(server, "d")
    for number in range(12):
        insert(server, "d", number, pad=random.Random(number).choice([10, 3000, 30_000]))
    expected = all_transactions(server.port, start)
    chance = random.Random(seed)
    with proxied(server.port) as proxy:
        proxy.budgets = [chance.randrange(100, 60_000) for _ in range(30)]
        chunks = all_transactions(proxy.port, start, one_per_chunk=one_per_chunk)
    assert transactions_of(chunks) == transactions_of(expected)
    assert ids_of(chunks, "d") == list(range(12))


@every_family
def test_bytes_come_as_they_are_where_connections_are_cut(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    for number in range(6):
        insert(server, "d", number, pad=9000)
        server.query("FLUSH LOGS")
    chance = random.Random(5)
    with proxied(server.port) as proxy:
        proxy.budgets = [chance.randrange(5000, 20_000) for _ in range(20)]
        chunks = bytes_as_they_come(proxy.port, "earliest")
    files = chunk_files(chunks)
    on_disk = {path.name: path.read_bytes() for path in server.log_files()[:-1]}
    assert {name: files[name] for name in on_disk} == on_disk
    last = chunks[-1][0].end_position
    assert (last.file, last.offset, last.gtids) == ("binlog.000007", len(files["binlog.000007"]), None)


@every_family
@WAYS
def test_a_connection_that_falls_silent_is_noticed_by_its_missing_heartbeats(
    family: Family, one_per_chunk: bool, shared: Server, database: str
) -> None:
    make_table(shared, database)
    with proxied(shared.port) as proxy:
        config = config_of(proxy.port, connect_timeout=0.5)
        with following(config, "latest", one_per_chunk=one_per_chunk) as follower:
            until_heartbeat(follower)
            proxy.stall()
            connections = proxy.accepted
            threading.Timer(2.5, proxy.flow).start()
            insert(shared, database, 1)
            chunks = chunks_until(follower, database, 1)
        assert proxy.accepted > connections
    assert ids_of(chunks, database) == [1]


@every_family
@WAYS
def test_a_heartbeat_is_a_chunk_without_bytes(family: Family, one_per_chunk: bool, shared: Server) -> None:
    with following(config_of(shared.port), "latest", one_per_chunk=one_per_chunk) as follower:
        chunk = next(chunk for chunk in follower if chunk.is_heartbeat)
        assert follower.position == chunk.end_position
    assert chunk.event is not None
    assert (chunk.event.file, chunk.event.offset) == (chunk.end_position.file, chunk.end_position.offset)
    assert (len(chunk.data), list(chunk.events())) == (0, [])


@every_family
@WAYS
def test_a_transaction_that_outgrows_memory_is_kept_in_a_file(
    family: Family, one_per_chunk: bool, start_server: StartServer
) -> None:
    server = start_server(family)
    make_table(server, "d")
    with server.connect(autocommit=False) as connection, connection.cursor() as cursor:
        for number in range(400):
            cursor.execute("INSERT INTO d.t VALUES (%s, REPEAT('x', 7000))", (number,))
        connection.commit()
    insert(server, "d", 1000)
    with proxied(server.port) as proxy:
        proxy.budgets = [1_000_000, 2_000_000]
        chunks = all_transactions(proxy.port, memory_bytes=100_000, one_per_chunk=one_per_chunk)
    large = next(chunk for chunk in chunks if 0 in ids_of([chunk], "d"))
    assert isinstance(large.data.obj, mmap.mmap)
    for _ in range(2):
        assert ids_of(chunks, "d") == [*range(400), 1000]
    in_memory = all_transactions(server.port, memory_bytes=1 << 30)
    assert not any(isinstance(chunk.data.obj, mmap.mmap) for chunk in in_memory)
    assert transactions_of(chunks) == transactions_of(in_memory)
    both = [[(event.offset, event.body) for chunk in each for event in chunk.events()] for each in (chunks, in_memory)]
    assert both[0] == both[1]


@pytest.mark.mysql
def test_a_compressed_transaction_comes_with_the_events_inside(start_server: StartServer) -> None:
    server = start_server(MySQL, {"binlog-transaction-compression": "ON"})
    make_table(server, "d")
    insert(server, "d", 1, pad=10_000)
    with following(config_of(server.port), "earliest", one_per_chunk=True) as follower:
        chunk = chunks_until(follower, "d", 1)[-1]
    assert [event.type for event in chunk.events()] == [
        "GTID", "TRANSACTION_PAYLOAD", "QUERY", "TABLE_MAP", "WRITE_ROWS", "XID",
    ]  # fmt: skip
    assert [event.type for event in chunk.events(expand_payloads=False)] == ["GTID", "TRANSACTION_PAYLOAD"]


@every_family
def test_a_server_that_waits_for_acknowledgements_has_them_once_the_next_chunk_is_requested(
    family: Family, start_server: StartServer
) -> None:
    server = start_server(family, {"plugin-load-add": "semisync_source.so"} if family is MySQL else {})
    side = {MySQL: "source", MariaDB: "master"}[family]
    make_table(server, "d")
    server.query(f"SET GLOBAL rpl_semi_sync_{side}_timeout = 60000")
    with following(config_of(server.port), "latest", stream=quick_stream(semi_sync=True)) as follower:
        until_heartbeat(follower)
        server.query(f"SET GLOBAL rpl_semi_sync_{side}_enabled = ON")
        with in_background(lambda: insert(server, "d", 1)):
            chunks = chunks_until(follower, "d", 1)
            waiting = dict(server.query("SHOW STATUS LIKE 'Rpl_semi_sync%'"))
            next(follower)
        acknowledged = dict(server.query("SHOW STATUS LIKE 'Rpl_semi_sync%'"))
    assert ids_of(chunks, "d") == [1]
    assert waiting[f"Rpl_semi_sync_{side}_yes_tx"] == "0"
    assert acknowledged[f"Rpl_semi_sync_{side}_yes_tx"] == "1"


def test_where_nobody_answers_following_ends_after_some_attempts() -> None:
    settings = quick(retry=Retry(limit=3, first_seconds=0.01, max_seconds=0.02))
    with pytest.raises(ConnectionLost, match=r"giving up after 4 attempts; last error: 127\.0\.0\.1:1: no server"):
        next(follow(config_of(1), "latest", settings))


@pytest.mark.mysql
def test_attempts_are_counted_from_the_last_progress(mysql: Server, database: str) -> None:
    make_table(mysql, database)
    insert(mysql, database, 1)
    settings = quick(retry=Retry(limit=2, first_seconds=0.01, max_seconds=0.02))
    with proxied(mysql.port) as proxy:
        follower = follow(config_of(proxy.port), "latest", settings)
        for _ in range(6):
            until_heartbeat(follower)
            proxy.cut()
        proxy.refusing = True
        proxy.cut()
        with pytest.raises(ConnectionLost, match="after 3 attempts"):
            list(follower)


@every_family
@WAYS
def test_another_thread_can_stop_following(family: Family, one_per_chunk: bool, shared: Server) -> None:
    settings = quick(stream=quick_stream(heartbeat_seconds=60))
    follower = Follower(config_of(shared.port), "latest", settings, one_per_chunk=one_per_chunk)
    next(follower)
    thread = threading.Thread(target=lambda: list(follower))
    thread.start()
    follower.stop()
    thread.join(30)
    assert not thread.is_alive()


def test_another_thread_can_stop_the_wait_for_the_next_attempt() -> None:
    follower = follow(config_of(1), "latest", quick(retry=Retry(None, 60, 60)))
    thread = threading.Thread(target=lambda: list(follower))
    thread.start()
    follower.stop()
    thread.join(30)
    assert not thread.is_alive()


@pytest.mark.mysql
def test_a_connection_that_is_given_is_used_for_the_first_stream(mysql: Server, database: str) -> None:
    start = end_of(mysql)
    make_table(mysql, database)
    insert(mysql, database, 1, 2, 3)
    with proxied(mysql.port) as proxy:
        connection = connect(config_of(proxy.port))
        with follow(connection, start, quick(), until="end") as follower:
            chunks = [chunk for chunk in follower if chunk.data]
        assert proxy.accepted == 1
    position = position_after_id(chunks, database, 2)
    assert ids_of(all_transactions(mysql.port, position), database) == [3]


def test_settings_travel() -> None:
    settings = FollowSettings(stream=StreamSettings(connection_server_id=7), retry=Retry(3))
    assert pickle.loads(pickle.dumps(settings)) == settings
