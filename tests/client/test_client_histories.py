"""Following a server whose logs were reset, purged or cut short: it is noticed, or it does not matter."""

from __future__ import annotations

import time

import pytest

from binspark.client.follow_files import follow_files
from binspark.client.group import Group, GroupKind
from binspark.errors import Purged
from binspark.testing.servers import Family
from tests.support.client.client_help import (
    StartServer,
    every_family,
    following,
    ids_of,
    insert,
    make_table,
    options_of,
    purge_to,
    quick,
    quick_stream,
    transactions_until,
)
from tests.support.replicas import reset_logs

pytestmark = pytest.mark.timeout(180)


@every_family
@pytest.mark.parametrize(
    ("start", "flushes", "rows"),
    [
        pytest.param("earliest", 0, 1, id="the same file, shorter", marks=pytest.mark.slow),
        pytest.param("earliest", 0, 60, id="the same file, longer"),
        pytest.param("gtid:", 0, 60, id="the same file, longer, by GTIDs"),
        pytest.param("gtid:", 1, 1, id="an older file", marks=pytest.mark.slow),
    ],
)
def test_logs_that_are_reset_under_the_reader_are_noticed(
    family: Family, start: str, flushes: int, rows: int, start_server: StartServer
) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, "d", *range(20))
    for _ in range(flushes):
        server.query("FLUSH LOGS")
    with following(options_of(server.port), start, check_seconds=0.3) as follower:
        transactions_until(follower, "d", 19)
        while next(follower).kind is not GroupKind.HEARTBEAT:
            pass
        time.sleep(1.1)  # a file is told from another of the same name by the second of its making
        reset_logs(server)
        insert(server, "d", *range(100, 100 + rows))
        with pytest.raises(Purged, match="reset"):
            transactions_until(follower, "d", 10_000)


@every_family
def test_a_copy_of_files_is_not_continued_with_those_of_another_history(
    family: Family, start_server: StartServer
) -> None:
    server = start_server(family)
    make_table(server, "d")
    follower = follow_files(options_of(server.port), "earliest", quick(stream=quick_stream(until_end=True)))
    assert list(follower)
    time.sleep(1.1)
    reset_logs(server)
    insert(server, "d", *range(30))
    assert follower.resume is not None
    with pytest.raises(Purged, match="the logs were reset"):
        list(follow_files(options_of(server.port), follower.resume, quick()))


@every_family
def test_a_reader_whose_file_was_purged_goes_on_by_gtids_if_it_has_all_of_it(
    family: Family, start_server: StartServer
) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, "d", 1)
    with following(options_of(server.port), "earliest") as follower:
        point = transactions_until(follower, "d", 1)[-1].resume
    server.query("FLUSH LOGS")
    insert(server, "d", 2)
    purge_to(server, "binlog.000002")
    assert point.file == "binlog.000001"
    with following(options_of(server.port), point) as follower:
        groups = transactions_until(follower, "d", 2)
    assert ids_of(groups, "d") == [2]


@every_family
def test_a_reader_whose_transactions_were_purged_is_told(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, "d", 1)
    with following(options_of(server.port), "earliest") as follower:
        point = transactions_until(follower, "d", 1)[-1].resume
    insert(server, "d", 2)
    server.query("FLUSH LOGS")
    purge_to(server, "binlog.000002")
    with following(options_of(server.port), point) as follower, pytest.raises(Purged, match=r"(?i)start from"):
        list(follower)


@every_family
def test_a_log_that_lost_its_end_in_a_crash_is_noticed(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, "d", 1, 2)
    with following(options_of(server.port), "earliest") as follower:
        groups: list[Group] = transactions_until(follower, "d", 2)
        server.kill()
        log = server.log_files()[0]
        transaction = groups[-1].transaction
        assert transaction is not None
        log.write_bytes(log.read_bytes()[: transaction.start])
        server.launch()
        with pytest.raises(Purged, match="crashed"):
            list(follower)
