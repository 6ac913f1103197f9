"""What a server refuses, and what a reader must be told then: why, and what to do."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from binspark.client.advice import explained_dump
from binspark.client.checks import row_problems
from binspark.client.connect import connect
from binspark.client.dump import open_stream
from binspark.client.facts import server_facts, server_logs
from binspark.client.follow import follow
from binspark.client.settings import FollowSettings, Retry, StreamSettings
from binspark.client.start import AtFile
from binspark.errors import Authentication, ConnectionLost, OptionError, Purged, Server, SourceError
from binspark.position import Position
from binspark.testing.servers import Family, MariaDB, MySQL
from binspark.testing.servers import Server as RunningServer
from tests.support.client.client_help import (
    StartServer,
    every_family,
    insert,
    make_table,
    options_of,
    purge_to,
    quick,
    quick_stream,
)

pytestmark = pytest.mark.timeout(120)

ALL = "REPLICATION SLAVE, REPLICATION CLIENT"


def read(port: int, start: Any, *, stream: StreamSettings | None = None, user: str = "root", **changes: Any) -> None:
    """Read to the end, or up to the refusal."""
    settings = quick(stream=stream or quick_stream(until_end=True), retry=Retry(limit=0), **changes)
    list(follow(options_of(port, user=user), start, settings))


def uuid_of(server: RunningServer) -> str:
    return str(server.query("SELECT @@server_uuid")[0][0])


@every_family
@pytest.mark.parametrize("granted", ["REPLICATION CLIENT", "REPLICATION SLAVE"])
def test_a_privilege_that_is_missing_is_named(
    family: Family, granted: str, shared: RunningServer, database: str
) -> None:
    shared.run_sql(f"CREATE USER {database}; GRANT {granted} ON *.* TO {database}")
    with pytest.raises(Authentication, match="GRANT REPLICATION SLAVE, REPLICATION CLIENT"):
        read(shared.port, "latest", user=database)


@every_family
def test_both_privileges_are_enough(family: Family, shared: RunningServer, database: str) -> None:
    shared.run_sql(f"CREATE USER {database}; GRANT {ALL} ON *.* TO {database}")
    for start in ("earliest", "latest", "gtid:", "binlog.000001:4"):
        read(shared.port, start, user=database)


@every_family
def test_a_server_without_a_log_is_named(family: Family, start_server: StartServer) -> None:
    server = start_server(family, {"skip-log-bin": None})
    for start in ("earliest", "latest", "binlog.000001:4"):
        with pytest.raises(Server, match="log_bin"):
            read(server.port, start)
    with connect(options_of(server.port)) as connection:
        assert row_problems(server_facts(connection)) == ["the server writes no binary log: start it with log_bin"]


@every_family
@pytest.mark.parametrize("binlog_format", ["STATEMENT", "MIXED"])
def test_a_server_that_logs_statements_is_refused_where_rows_are_wanted(
    family: Family, binlog_format: str, start_server: StartServer
) -> None:
    server = start_server(family, {"binlog-format": binlog_format, "binlog-row-image": "MINIMAL"})
    with pytest.raises(Server, match=f"binlog_format is {binlog_format}.*SET GLOBAL binlog_format = ROW"):
        read(server.port, "earliest", require_rows=True)
    read(server.port, "earliest")
    with connect(options_of(server.port)) as connection:
        about_format, about_image = row_problems(server_facts(connection))
    assert f"binlog_format is {binlog_format}" in about_format
    assert "binlog_row_image is MINIMAL" in about_image


IMAGES = {
    "MINIMAL": "columns that did not change are missing. SET GLOBAL binlog_row_image = FULL",
    "NOBLOB": "columns that did not change are missing. SET GLOBAL binlog_row_image = FULL",
    "FULL_NODUP": "missing from the new row of an update, and stand in its old row only. SET GLOBAL",
}


@every_family
@pytest.mark.parametrize(("image", "missing"), IMAGES.items(), ids=IMAGES)
def test_rows_that_are_not_logged_whole_are_a_problem(
    family: Family, image: str, missing: str, shared: RunningServer
) -> None:
    with connect(options_of(shared.port)) as connection:
        facts = server_facts(connection)
    (problem,) = row_problems(replace(facts, variables={**facts.variables, "binlog_row_image": image}))
    assert problem.startswith(f"binlog_row_image is {image}: ")
    assert missing in problem


@every_family
def test_a_server_that_logs_whole_rows_has_no_problem(family: Family, shared: RunningServer) -> None:
    with connect(options_of(shared.port)) as connection:
        assert row_problems(server_facts(connection)) == []
    read(shared.port, "latest", require_rows=True)


@pytest.mark.mysql
def test_gtids_are_refused_where_the_server_has_none(start_server: StartServer) -> None:
    server = start_server(MySQL, {"gtid-mode": "OFF"})
    with pytest.raises(Server, match="set gtid_mode=ON"):
        read(server.port, "gtid:")


@every_family
def test_a_log_that_was_purged_is_named(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    server.query("FLUSH LOGS")
    purge_to(server, "binlog.000002")
    with pytest.raises(Purged, match=r"binlog\.000001:4: .*earliest") as caught:
        read(server.port, "binlog.000001:4")
    assert caught.value.position.file == "binlog.000001"


@pytest.mark.mysql
def test_gtids_that_were_purged_are_named(start_server: StartServer) -> None:
    server = start_server(MySQL)
    make_table(server, "d")
    insert(server, "d", 1)
    server.query("FLUSH LOGS")
    purge_to(server, "binlog.000002")
    uuid = uuid_of(server)
    with pytest.raises(Purged, match=f"missing transactions are '{uuid}:2-3'"):
        read(server.port, f"{uuid}:1")


@pytest.mark.mariadb
def test_gtids_that_were_purged_are_named_by_mariadb(start_server: StartServer) -> None:
    server = start_server(MariaDB)
    make_table(server, "d")
    insert(server, "d", 1, 2)
    server.query("FLUSH LOGS")
    purge_to(server, "binlog.000002")
    with pytest.raises(Purged, match="no longer in the server's logs"):
        read(server.port, "0-1-1")


@every_family
def test_gtids_that_the_server_never_had_are_refused(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    make_table(server, "d")
    start = f"{uuid_of(server)}:1-100" if family is MySQL else "0-1-100"
    with pytest.raises(Purged, match=r"compare the data|never there"):
        read(server.port, start)


@every_family
def test_a_place_where_no_event_begins_is_refused(family: Family, shared: RunningServer) -> None:
    with pytest.raises(Server, match="no event begins"):
        read(shared.port, "binlog.000001:100")


@every_family
def test_the_servers_own_id_is_refused(family: Family, shared: RunningServer) -> None:
    with pytest.raises(OptionError, match="server_id: 1 is the server's own"):
        read(shared.port, "latest", stream=quick_stream(server_id=1))


@every_family
def test_a_second_reader_of_the_same_name_ends_the_first(family: Family, shared: RunningServer) -> None:
    stream = quick_stream(server_id=3_000_000_000, uuid="b8ae2fd2-3005-11f0-8be8-0242ac150002")
    settings = FollowSettings(stream=stream)
    first = follow(options_of(shared.port), "latest", settings)
    second = follow(options_of(shared.port), "latest", settings)
    next(first)
    next(second)
    with pytest.raises(Server, match="give each reader a server_id of its own"):
        list(first)
    second.close()


@every_family
def test_an_error_says_which_server(family: Family, shared: RunningServer) -> None:
    with pytest.raises(SourceError) as caught:
        read(shared.port, "binlog.999999:4")
    assert caught.value.position.source == f"127.0.0.1:{shared.port}"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.mysql
def test_a_statement_that_fails_is_the_servers_error(mysql: RunningServer) -> None:
    with connect(options_of(mysql.port)) as connection:
        with pytest.raises(Server, match=r"syntax.*\(error 1064\)"):
            connection.rows("SELEKT 1")
        assert connection.records("SELECT 1 AS one, %s AS two", ("x",)) == [{"one": 1, "two": "x"}]


@every_family
def test_a_connection_that_was_killed_is_a_lost_one(family: Family, shared: RunningServer) -> None:
    with connect(options_of(shared.port)) as connection:
        stream = open_stream(connection, AtFile(server_logs_of(shared)[-1]), quick_stream())
        next(stream)
        shared.query(f"KILL {connection.session.thread_id()}")
        with pytest.raises(ConnectionLost):
            list(stream)


def server_logs_of(server: RunningServer) -> list[str]:
    with connect(options_of(server.port)) as connection:
        return [log.name for log in server_logs(connection)]


TEXTS = {
    "A slave with the same server_uuid/server_id as this slave has connected to the master": Server,
    "Misconfigured source - source server_id is 0": Server,
    "Binary log is not open": Server,
    "Client requested master to start replication from impossible position": Purged,
    "Client requested source to start replication from position > file size": Purged,
    "Could not find first log file name in binary log index file": Purged,
    "log event entry exceeded max_allowed_packet; Increase max_allowed_packet on source": Server,
    "I/O error reading log event": ConnectionLost,
    "something that nobody has seen": Server,
}


@pytest.mark.parametrize(("text", "kind"), TEXTS.items(), ids=TEXTS)
def test_the_text_of_a_failed_dump_tells_what_failed(text: str, kind: type[SourceError]) -> None:
    error = explained_dump(1236, text, Position(source="db1:3306"))
    assert type(error) is kind
    assert str(error).startswith("db1:3306: ")
    assert text in str(error)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (1236, "A slave with the same server_uuid/server_id as this slave has connected to the master"),
        (4052, "A slave with the same server_id is already connected; the first event 'binlog.000001' at 4"),
    ],
    ids=["MySQL, MariaDB 10", "MariaDB 11"],
)
def test_a_reader_of_the_same_name_is_told_what_to_do(code: int, text: str) -> None:
    assert "give each reader a server_id of its own" in str(explained_dump(code, text, Position(source="db1:3306")))
