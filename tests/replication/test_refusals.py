"""What a server refuses, and what the reader learns then: why, and what to do."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from binspark.errors import Authentication, ConnectionLost, OptionError, Purged, Server
from binspark.replication.dump import open_stream
from binspark.replication.follow import Follower, follow
from binspark.replication.settings import FollowSettings, StreamSettings
from binspark.server.connection import connect
from binspark.server.info import server_logs
from binspark.server.retry import Retry
from binspark.testing.servers import Family, MariaDB, MySQL
from binspark.testing.servers import Server as RunningServer
from tests.support.replication.following import END_OF_LOG, insert, make_table, purge_to, quick, quick_stream
from tests.support.replication.streams import in_file
from tests.support.servers import StartServer, config_of, every_family

pytestmark = pytest.mark.timeout(120)

ALL = "REPLICATION SLAVE, REPLICATION CLIENT"


def read(port: int, start: Any, *, stream: StreamSettings | None = None, user: str = "root", **changes: Any) -> None:
    """Read to the end, or up to the refusal."""
    settings = quick(stream=stream or quick_stream(), retry=Retry(limit=0), **changes)
    with Follower(config_of(port, user=user), start, settings, stop=END_OF_LOG) as follower:
        list(follower)


def uuid_of(server: RunningServer) -> str:
    return str(server.query("SELECT @@server_uuid")[0][0])


@every_family
@pytest.mark.parametrize(
    ("granted", "missing"),
    [
        ("REPLICATION CLIENT", {"mysql": "REPLICATION SLAVE", "mariadb": "REPLICATION SLAVE"}),
        ("REPLICATION SLAVE", {"mysql": "REPLICATION CLIENT", "mariadb": "BINLOG MONITOR"}),
    ],
    ids=["slave", "client"],
)
def test_a_privilege_that_is_missing_is_named_and_granting_it_is_enough(
    family: Family, granted: str, missing: dict[str, str], shared: RunningServer, database: str
) -> None:
    shared.run_sql(f"CREATE USER `odd``{database}`; GRANT {granted} ON *.* TO `odd``{database}`")
    user = f"odd`{database}"
    with pytest.raises(Authentication, match=f"a privilege is missing: GRANT {missing[family.name]} ON") as refused:
        read(shared.port, "latest", user=user)
    statement = refused.value.message.removeprefix("a privilege is missing: ").partition(". The server reports")[0]
    assert statement.endswith(f"TO `odd``{database}`@`%`")
    shared.run_sql(statement)
    read(shared.port, "latest", user=user)


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


@every_family
@pytest.mark.parametrize("binlog_format", ["STATEMENT", "MIXED"])
def test_a_server_that_logs_statements_is_refused_where_rows_are_wanted(
    family: Family, binlog_format: str, start_server: StartServer
) -> None:
    server = start_server(family, {"binlog-format": binlog_format})
    with pytest.raises(Server, match=f"binlog_format is {binlog_format}.*SET GLOBAL binlog_format = ROW"):
        read(server.port, "earliest", require_rows=True)
    read(server.port, "earliest")


@every_family
def test_a_server_that_logs_rows_is_read_where_rows_are_wanted(family: Family, shared: RunningServer) -> None:
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
    with pytest.raises(OptionError, match="is after transactions that the server does not have"):
        read(server.port, start)


@every_family
def test_an_offset_at_which_no_event_begins_is_refused(family: Family, shared: RunningServer) -> None:
    shared.query("FLUSH BINARY LOGS")  # a server sends whatever it finds in a log that is large enough
    with pytest.raises(Server, match="no event begins"):
        read(shared.port, f"{shared.log_files()[-1].name}:100")


@every_family
def test_the_servers_own_id_is_refused(family: Family, shared: RunningServer) -> None:
    with pytest.raises(OptionError, match="connection_server_id must differ from the server's own id, got 1"):
        read(shared.port, "latest", stream=quick_stream(connection_server_id=1))


@every_family
def test_a_second_reader_of_the_same_name_ends_the_first(family: Family, shared: RunningServer) -> None:
    stream = quick_stream(connection_server_id=3_000_000_000, uuid="b8ae2fd2-3005-11f0-8be8-0242ac150002")
    settings = FollowSettings(stream=stream)
    first = follow(config_of(shared.port), "latest", settings)
    second = follow(config_of(shared.port), "latest", settings)
    next(first)
    next(second)
    with pytest.raises(Server, match="give each reader a connection_server_id of its own"):
        list(first)
    second.close()


@every_family
def test_an_error_says_which_server(family: Family, shared: RunningServer) -> None:
    with pytest.raises(OptionError, match="which the server does not have") as caught:
        read(shared.port, "binlog.999999:4")
    assert caught.value.position.source == f"127.0.0.1:{shared.port}"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.mysql
def test_a_statement_that_fails_is_the_servers_error(mysql: RunningServer) -> None:
    with connect(config_of(mysql.port)) as connection:
        with pytest.raises(Server, match=r"syntax.*\(error 1064\)"):
            connection.rows("SELEKT 1")
        assert connection.records("SELECT 1 AS one, %s AS two", ("x",)) == [{"one": 1, "two": "x"}]


@every_family
def test_a_connection_that_was_killed_is_a_lost_one(family: Family, shared: RunningServer) -> None:
    with connect(config_of(shared.port)) as connection:
        stream = open_stream(connection, in_file(server_logs_of(shared)[-1]), quick_stream())
        next(stream)
        shared.query(f"KILL {connection.id}")
        with pytest.raises(ConnectionLost):
            list(stream)


def server_logs_of(server: RunningServer) -> list[str]:
    with connect(config_of(server.port)) as connection:
        return [log.name for log in server_logs(connection)]
