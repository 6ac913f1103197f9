"""Following a server whose logs were reset, purged or cut short: it is noticed, or it does not matter."""

from __future__ import annotations

import time

import pytest

from binspark.errors import Purged
from binspark.testing.servers import Family
from tests.support.replicas import reset_logs
from tests.support.replication.following import (
    chunks_until,
    following,
    ids_of,
    insert,
    make_table,
    position_after_id,
    purge_to,
    until_heartbeat,
)
from tests.support.replication.streams import bytes_as_they_come
from tests.support.servers import StartServer, config_of, every_family

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
    with following(config_of(server.port), start, check_seconds=0.3) as follower:
        chunks_until(follower, "d", 19)
        until_heartbeat(follower)
        time.sleep(1.1)  # a file is distinguished from another of the same name by the second of its creation
        reset_logs(server)
        insert(server, "d", *range(100, 100 + rows))
        with pytest.raises(Purged, match="reset"):
            chunks_until(follower, "d", 10_000)


@every_family
def test_a_copy_of_files_is_not_continued_with_those_of_another_history(
    family: Family, start_server: StartServer
) -> None:
    server = start_server(family)
    make_table(server, "d")
    last = bytes_as_they_come(server.port, "earliest")[-1][0].end_position
    time.sleep(1.1)
    reset_logs(server)
    insert(server, "d", *range(30))
    with pytest.raises(Purged, match="the logs were reset"):
        bytes_as_they_come(server.port, last)


@every_family
def test_a_reader_whose_file_was_purged_continues_by_gtids_if_it_has_all_of_it(
    family: Family, start_server: StartServer
) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, "d", 1)
    with following(config_of(server.port), "earliest") as follower:
        position = position_after_id(chunks_until(follower, "d", 1), "d", 1)
    server.query("FLUSH LOGS")
    insert(server, "d", 2)
    purge_to(server, "binlog.000002")
    assert position.file == "binlog.000001"
    with following(config_of(server.port), position) as follower:
        chunks = chunks_until(follower, "d", 2)
    assert ids_of(chunks, "d") == [2]


@every_family
def test_a_reader_whose_transactions_were_purged_learns_it(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, "d", 1)
    with following(config_of(server.port), "earliest") as follower:
        position = position_after_id(chunks_until(follower, "d", 1), "d", 1)
    insert(server, "d", 2)
    server.query("FLUSH LOGS")
    purge_to(server, "binlog.000002")
    with following(config_of(server.port), position) as follower, pytest.raises(Purged, match=r"(?i)start from"):
        list(follower)


@every_family
def test_a_log_that_lost_its_end_in_a_crash_is_noticed(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    insert(server, "d", 1, 2)
    with following(config_of(server.port), "earliest") as follower:
        chunks = chunks_until(follower, "d", 2)
        server.kill()
        log = server.log_files()[0]
        log.write_bytes(log.read_bytes()[: chunks[-1].transactions.starts[-1]])
        server.launch()
        with pytest.raises(Purged, match="crashed"):
            list(follower)
