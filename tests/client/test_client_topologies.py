"""Following from one server to another of the same topology, by GTIDs."""

from __future__ import annotations

import threading

import pytest

from binspark.client.follow import follow
from binspark.client.resume import ResumePoint
from binspark.client.settings import Retry
from binspark.errors import ConnectionLost
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.client.client_help import (
    StartServer,
    every_family,
    following,
    ids_of,
    insert,
    make_table,
    options_of,
    quick,
    transactions_until,
)
from tests.support.replicas import catch_up, promote
from tests.support.tcp_proxy import proxied

pytestmark = pytest.mark.timeout(180)

START_REPLICA = {MySQL: "START REPLICA", MariaDB: "START SLAVE"}


@every_family
@pytest.mark.parametrize("start", ["earliest", pytest.param("gtid:", marks=pytest.mark.slow)])
def test_a_replica_that_is_promoted_goes_on_where_its_source_was_killed(
    family: Family, pair: tuple[Server, Server], start: str
) -> None:
    source, replica = pair
    insert(source, "d", 1, 2, 3)
    with following(options_of(source.port, replica.port), start) as follower:
        groups = transactions_until(follower, "d", 3)
        catch_up(replica, source)
        source.kill()
        promote(replica)
        insert(replica, "d", 4, 5)
        groups += transactions_until(follower, "d", 5)
    assert ids_of(groups, "d") == [1, 2, 3, 4, 5]
    assert groups[-1].resume.file.startswith("other.")


@every_family
def test_a_transaction_that_was_cut_off_comes_whole_from_the_other_server(
    family: Family, pair: tuple[Server, Server]
) -> None:
    source, replica = pair
    insert(source, "d", 1)
    with (
        proxied(source.port) as proxy,
        following(options_of(proxy.port, replica.port), "earliest") as follower,
    ):
        groups = transactions_until(follower, "d", 1)
        proxy.end_after(100_000)
        insert(source, "d", 2, pad=300_000)
        catch_up(replica, source)
        source.kill()
        promote(replica)
        insert(replica, "d", 3)
        groups += transactions_until(follower, "d", 3)
    assert ids_of(groups, "d") == [1, 2, 3]


@every_family
def test_a_stored_resume_point_goes_on_at_another_server(family: Family, pair: tuple[Server, Server]) -> None:
    source, replica = pair
    insert(source, "d", 1, 2, 3)
    catch_up(replica, source)
    with following(options_of(source.port), "earliest") as follower:
        stored = str(transactions_until(follower, "d", 2)[-1].resume)
    with following(options_of(replica.port), ResumePoint.parse(stored)) as follower:
        groups = transactions_until(follower, "d", 3)
    assert ids_of(groups, "d") == [3]


@every_family
def test_the_server_that_comes_back_is_followed_again(family: Family, pair: tuple[Server, Server]) -> None:
    source, replica = pair
    insert(source, "d", 1)
    catch_up(replica, source)
    with (
        proxied(source.port) as to_source,
        proxied(replica.port) as to_replica,
        following(options_of(to_source.port, to_replica.port), "earliest") as follower,
    ):
        groups = transactions_until(follower, "d", 1)
        to_source.refusing = True
        to_source.cut()
        insert(source, "d", 2)
        groups += transactions_until(follower, "d", 2)
        to_source.refusing, to_replica.refusing = False, True
        to_replica.cut()
        insert(source, "d", 3)
        groups += transactions_until(follower, "d", 3)
    assert ids_of(groups, "d") == [1, 2, 3]
    assert [group.resume.file[:5] for group in groups[-3:]] == ["binlo", "other", "binlo"]


@every_family
def test_a_replica_that_lags_is_waited_for(family: Family, pair: tuple[Server, Server]) -> None:
    source, replica = pair
    insert(source, "d", 1)
    catch_up(replica, source)
    promote(replica)
    insert(source, "d", 2)
    with proxied(source.port) as proxy:
        options = options_of(proxy.port, replica.port)
        with following(options, "earliest") as follower:
            groups = transactions_until(follower, "d", 2)
            proxy.refusing = True
            proxy.cut()
            insert(source, "d", 3)
            start_again = threading.Timer(1, lambda: replica.run_sql(START_REPLICA[family]))
            start_again.start()
            groups += transactions_until(follower, "d", 3)
            start_again.join()
    assert ids_of(groups, "d") == [1, 2, 3]


@every_family
def test_after_a_short_break_the_same_server_is_followed_on(family: Family, pair: tuple[Server, Server]) -> None:
    source, replica = pair
    insert(source, "d", 1)
    catch_up(replica, source)
    with (
        proxied(source.port) as proxy,
        following(options_of(proxy.port, replica.port), "earliest") as follower,
    ):
        groups = transactions_until(follower, "d", 1)
        proxy.cut()
        insert(source, "d", 2)
        groups += transactions_until(follower, "d", 2)
    assert ids_of(groups, "d") == [1, 2]
    assert groups[-1].resume.file.startswith("binlog.")


@pytest.mark.mysql
def test_without_gtids_only_the_same_server_will_do(start_server: StartServer) -> None:
    first, second = (start_server(MySQL, {"gtid-mode": "OFF", "server-id": number}) for number in (1, 2))
    make_table(first, "d")
    insert(first, "d", 1)
    settings = quick(retry=Retry(3, 0.01, 0.01))
    with proxied(first.port) as proxy:
        follower = follow(options_of(proxy.port, second.port), "earliest", settings)
        groups = transactions_until(follower, "d", 1)
        assert groups[-1].resume.gtids is None
        proxy.refusing = True
        proxy.cut()
        with pytest.raises(ConnectionLost, match="only that server can go on"):
            list(follower)


@pytest.mark.mysql
def test_transactions_without_gtids_are_followed_over_a_restart(start_server: StartServer) -> None:
    server = start_server(MySQL, {"gtid-mode": "OFF", "sync-binlog": 1})
    make_table(server, "d")
    insert(server, "d", 1)
    with following(options_of(server.port), "earliest") as follower:
        groups = transactions_until(follower, "d", 1)
        server.kill()
        server.launch()
        insert(server, "d", 2)
        groups += transactions_until(follower, "d", 2)
    assert ids_of(groups, "d") == [1, 2]


@pytest.mark.mysql
def test_gtids_are_learnt_where_the_next_file_begins(start_server: StartServer) -> None:
    server = start_server(MySQL)
    make_table(server, "d")
    insert(server, "d", 1)
    middle = server.log_files()[0].stat().st_size
    insert(server, "d", 2)
    server.query("FLUSH LOGS")
    insert(server, "d", 3)
    with following(options_of(server.port), f"binlog.000001:{middle}") as follower:
        second, third = transactions_until(follower, "d", 3)
    assert second.resume.gtids is None
    assert str(third.resume.gtids) == server.query("SELECT @@GLOBAL.gtid_executed")[0][0]
