"""Real servers start, answer, crash and restart, and listen on loopback only."""

from __future__ import annotations

import socket

import pytest

from binspark.testing.servers import Family, MariaDB, MySQL, Server, ServerUnavailable, SqlFailed, start
from tests.support.servers import StartServer

FAMILIES = [
    pytest.param(MySQL, marks=pytest.mark.mysql),
    pytest.param(MariaDB, marks=pytest.mark.mariadb),
]
MAGIC = b"\xfebin"

every_family = pytest.mark.parametrize("family", FAMILIES)


@pytest.mark.mysql
def test_the_shared_mysql_answers(mysql: Server) -> None:
    assert mysql.query("SELECT 1, VERSION()")[0][0] == 1
    assert mysql.query("SELECT VERSION()")[0][0].startswith(mysql.version)


@pytest.mark.mariadb
def test_the_shared_mariadb_answers(mariadb: Server) -> None:
    assert mariadb.query("SELECT VERSION()")[0][0].startswith(mariadb.version)


@pytest.mark.mysql
def test_each_mysql_server_has_another_uuid(start_server: StartServer) -> None:
    uuids = [start_server(MySQL).query("SELECT @@server_uuid")[0][0] for _ in range(2)]
    assert uuids[0] != uuids[1]


@every_family
def test_options_reach_the_server(family: Family, start_server: StartServer) -> None:
    server = start_server(family, {"server_id": 77, "binlog_row_image": "MINIMAL"})
    assert server.query("SELECT @@server_id, @@binlog_row_image") == [(77, "MINIMAL")]


@every_family
def test_the_log_is_readable_by_mysqlbinlog(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    server.run_sql("CREATE DATABASE shop; CREATE TABLE shop.t (a INT); INSERT INTO shop.t VALUES (7);")
    (log,) = server.log_files()
    assert log.read_bytes().startswith(MAGIC)
    printed = server.mysqlbinlog(log, "--verbose", "--base64-output=decode-rows", "--force-if-open")
    assert b"### INSERT INTO `shop`.`t`" in printed


@every_family
def test_a_script_keeps_its_session(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    assert server.run_sql("SET @a = 41; SELECT @a + 1;", "--skip-column-names").strip() == "42"


@every_family
def test_the_error_for_a_refused_script_has_the_reason(family: Family, start_server: StartServer) -> None:
    with pytest.raises(SqlFailed, match="no_such_table"):
        start_server(family).run_sql("SELECT * FROM mysql.no_such_table")


@every_family
def test_a_killed_server_restarts_with_its_data_and_a_second_log(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    server.run_sql("CREATE DATABASE shop; CREATE TABLE shop.t (a INT); INSERT INTO shop.t VALUES (7);")
    port = server.port
    server.kill()
    assert server.pid is None
    server.restart()
    assert server.port == port
    assert server.query("SELECT a FROM shop.t") == [(7,)]
    assert len(server.log_files()) == 2


@every_family
def test_the_server_listens_on_loopback_only(family: Family, start_server: StartServer) -> None:
    server = start_server(family)
    assert server.query("SELECT @@bind_address") == [("127.0.0.1",)]
    with socket.socket() as outside, pytest.raises(ConnectionRefusedError):
        outside.connect(("127.0.0.2", server.port))


@every_family
def test_the_server_and_its_folder_are_removed_at_the_end(family: Family, start_server: StartServer) -> None:
    start_server(family)  # skips this test where there is no such server
    with start(family) as server:
        datadir, port = server.datadir, server.port
    assert not datadir.exists()
    with socket.socket() as late, pytest.raises(ConnectionRefusedError):
        late.connect(("127.0.0.1", port))


@every_family
def test_the_error_for_a_wrong_option_names_it(family: Family, start_server: StartServer) -> None:
    start_server(family)  # skips this test where there is no such server
    with pytest.raises(ServerUnavailable, match="no-such-option"), start(family, {"no-such-option": 1}):
        pass
