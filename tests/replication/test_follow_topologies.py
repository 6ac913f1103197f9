"""Following from one server to another of the same topology, by GTIDs."""

from __future__ import annotations

import threading

import pytest

from binspark.errors import ConnectionLost
from binspark.replication.follow import follow
from binspark.replication.position import BinlogPosition
from binspark.server.retry import Retry
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.replicas import catch_up, promote
from tests.support.replication.following import (
    chunks_until,
    following,
    ids_of,
    insert,
    make_table,
    position_after_id,
    quick,
)
from tests.support.servers import StartServer, config_of, every_family
from tests.support.tcp_proxy import proxied

pytestmark = pytest.mark.timeout(180)

START_REPLICA = {MySQL: "START REPLICA", MariaDB: "START SLAVE"}


@every_family
@pytest.mark.parametrize("start", ["earliest", pytest.param("gtid:", marks=pytest.mark.slow)])
def test_a_replica_that_is_promoted_continues_where_its_source_was_killed(
    family: Family, pair: tuple[Server, Server], start: str
) -> None:
    source, replica = pair
    insert(source, "d", 1, 2, 3)
    with following(config_of(source.port, replica.port), start) as follower:
        chunks = chunks_until(follower, "d", 3)
        catch_up(replica, source)
        source.kill()
        promote(replica)
        insert(replica, "d", 4, 5)
        chunks += chunks_until(follower, "d", 5)
    assert ids_of(chunks, "d") == [1, 2, 3, 4, 5]
    assert chunks[-1].end_position.file.startswith("other.")


@every_family
def test_a_transaction_that_was_cut_off_comes_complete_from_the_other_server(
    family: Family, pair: tuple[Server, Server]
) -> None:
    source, replica = pair
    insert(source, "d", 1)
    with (
        proxied(source.port) as proxy,
        following(config_of(proxy.port, replica.port), "earliest") as follower,
    ):
        chunks = chunks_until(follower, "d", 1)
        proxy.end_after(100_000)
        insert(source, "d", 2, pad=300_000)
        catch_up(replica, source)
        source.kill()
        promote(replica)
        insert(replica, "d", 3)
        chunks += chunks_until(follower, "d", 3)
    assert ids_of(chunks, "d") == [1, 2, 3]


@every_family
def test_a_stored_position_continues_at_another_server(family: Family, pair: tuple[Server, Server]) -> None:
    source, replica = pair
    insert(source, "d", 1, 2, 3)
    catch_up(replica, source)
    with following(config_of(source.port), "earliest") as follower:
        stored = str(position_after_id(chunks_until(follower, "d", 2), "d", 2))
    with following(config_of(replica.port), BinlogPosition.parse(stored)) as follower:
        chunks = chunks_until(follower, "d", 3)
    assert ids_of(chunks, "d") == [3]


@every_family
def test_the_server_that_comes_back_is_followed_again(family: Family, pair: tuple[Server, Server]) -> None:
    source, replica = pair
    insert(source, "d", 1)
    catch_up(replica, source)
    with (
        proxied(source.port) as to_source,
        proxied(replica.port) as to_replica,
        following(config_of(to_source.port, to_replica.port), "earliest") as follower,
    ):
        chunks = chunks_until(follower, "d", 1)
        to_source.refusing = True
        to_source.cut()
        insert(source, "d", 2)
        chunks += chunks_until(follower, "d", 2)
        to_source.refusing, to_replica.refusing = False, True
        to_replica.cut()
        insert(source, "d", 3)
        chunks += chunks_until(follower, "d", 3)
    assert ids_of(chunks, "d") == [1, 2, 3]
    assert [chunk.end_position.file[:5] for chunk in chunks[-3:]] == ["binlo", "other", "binlo"]


@every_family
def test_a_replica_that_lags_is_waited_for(family: Family, pair: tuple[Server, Server]) -> None:
    source, replica = pair
    insert(source, "d", 1)
    catch_up(replica, source)
    promote(replica)
    insert(source, "d", 2)
    with proxied(source.port) as proxy:
        options = config_of(proxy.port, replica.port)
        with following(options, "earliest") as follower:
            chunks = chunks_until(follower, "d", 2)
            proxy.refusing = True
            proxy.cut()
            insert(source, "d", 3)
            start_again = threading.Timer(1, lambda: replica.run_sql(START_REPLICA[family]))
            start_again.start()
            chunks += chunks_until(follower, "d", 3)
            start_again.join()
    assert ids_of(chunks, "d") == [1, 2, 3]


@every_family
def test_after_a_short_break_the_same_server_is_followed_on(family: Family, pair: tuple[Server, Server]) -> None:
    source, replica = pair
    insert(source, "d", 1)
    catch_up(replica, source)
    with (
        proxied(source.port) as proxy,
        following(config_of(proxy.port, replica.port), "earliest") as follower,
    ):
        chunks = chunks_until(follower, "d", 1)
        proxy.cut()
        insert(source, "d", 2)
        chunks += chunks_until(follower, "d", 2)
    assert ids_of(chunks, "d") == [1, 2]
    assert chunks[-1].end_position.file.startswith("binlog.")


@pytest.mark.mysql
def test_without_gtids_only_the_same_server_will_do(start_server: StartServer) -> None:
    first, second = (start_server(MySQL, {"gtid-mode": "OFF", "server-id": number}) for number in (1, 2))
    make_table(first, "d")
    insert(first, "d", 1)
    settings = quick(retry=Retry(3, 0.01, 0.01))
    with proxied(first.port) as proxy:
        follower = follow(config_of(proxy.port, second.port), "earliest", settings)
        chunks = chunks_until(follower, "d", 1)
        assert chunks[-1].end_position.gtids is None
        proxy.refusing = True
        proxy.cut()
        with pytest.raises(ConnectionLost, match="only the first server can continue"):
            list(follower)


@pytest.mark.mysql
def test_transactions_without_gtids_are_followed_over_a_restart(start_server: StartServer) -> None:
    server = start_server(MySQL, {"gtid-mode": "OFF", "sync-binlog": 1})
    make_table(server, "d")
    insert(server, "d", 1)
    with following(config_of(server.port), "earliest") as follower:
        chunks = chunks_until(follower, "d", 1)
        server.kill()
        server.launch()
        insert(server, "d", 2)
        chunks += chunks_until(follower, "d", 2)
    assert ids_of(chunks, "d") == [1, 2]


@pytest.mark.mysql
def test_gtids_are_learnt_where_the_next_file_begins(start_server: StartServer) -> None:
    server = start_server(MySQL)
    make_table(server, "d")
    insert(server, "d", 1)
    middle = server.log_files()[0].stat().st_size
    insert(server, "d", 2)
    server.query("FLUSH LOGS")
    insert(server, "d", 3)
    with following(config_of(server.port), f"binlog.000001:{middle}") as follower:
        chunks = chunks_until(follower, "d", 3)
    assert position_after_id(chunks, "d", 2).gtids is None
    assert str(chunks[-1].end_position.gtids) == server.query("SELECT @@GLOBAL.gtid_executed")[0][0]
