"""Statements of replicas and clients: those that are answered, and those that are refused."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymysql
import pytest

from binspark.testing.builder import BinlogBuilder
from tests.corpus.cases import CORPUS, case_logs
from tests.support.serve.clients import serving

MYSQL, MARIADB = CORPUS / "mysql/rotation", CORPUS / "mariadb/rotation"


@contextmanager
def session(archive: object = MYSQL, **options: Any) -> Iterator[Any]:
    with (
        serving(str(archive), **options) as served,
        pymysql.connect(host="127.0.0.1", port=served.port, user="repl", autocommit=True) as connection,
        connection.cursor() as cursor,
    ):
        yield cursor


def rows(cursor: Any, statement: str) -> list[tuple[Any, ...]]:
    cursor.execute(statement)
    return list(cursor.fetchall())


def test_what_a_mysql_replica_sends_is_answered() -> None:
    """The statements are recorded, in their order."""
    with session() as cursor:
        assert abs(rows(cursor, "SELECT UNIX_TIMESTAMP()")[0][0] - time.time()) < 60
        assert abs(float(rows(cursor, "SELECT UNIX_TIMESTAMP(NOW(6)), 1")[0][0]) - time.time()) < 60
        assert rows(cursor, "SELECT @@GLOBAL.SERVER_ID") == [(1,)]
        periods = "SET @master_heartbeat_period = 1000000000, @source_heartbeat_period = 1000000000"
        assert rows(cursor, periods) == []
        checksum = "@@global.binlog_checksum"
        rows(cursor, f"SET @master_binlog_checksum = {checksum}, @source_binlog_checksum = {checksum}")
        assert rows(cursor, "SELECT @source_binlog_checksum") == [("CRC32",)]
        assert rows(cursor, "SELECT @@GLOBAL.GTID_MODE") == [("ON",)]
        assert len(rows(cursor, "SELECT @@GLOBAL.SERVER_UUID")[0][0]) == 36
        rows(cursor, "SET @slave_uuid = '096e4dd5-e1b9-11f1-ad2e-02fc00000001', @replica_uuid = 'x'")
        assert rows(cursor, "SELECT @slave_uuid, @replica_uuid") == [("096e4dd5-e1b9-11f1-ad2e-02fc00000001", "x")]
        for name in ("rpl_semi_sync_source_enabled", "rpl_semi_sync_master_enabled"):
            with pytest.raises(pymysql.err.MySQLError, match="1193"):
                rows(cursor, f"SELECT @@global.{name}")


def test_what_a_mariadb_replica_sends_is_answered() -> None:
    """The statements are recorded, in their order."""
    with session(MARIADB) as cursor:
        assert rows(cursor, "SHOW VARIABLES LIKE 'SERVER_ID'") == [("server_id", "1")]
        rows(cursor, "SET @master_heartbeat_period= 30000001024")
        rows(cursor, "SET @master_binlog_checksum= @@global.binlog_checksum")
        assert rows(cursor, "SELECT @master_binlog_checksum") == [("CRC32",)]
        rows(cursor, "SET @mariadb_slave_capability=4")
        assert rows(cursor, "SELECT @@GLOBAL.gtid_domain_id") == [(0,)]
        rows(cursor, "SET @slave_connect_state='0-1-6'")
        rows(cursor, "SET @slave_gtid_strict_mode=0")
        rows(cursor, "SET @slave_gtid_ignore_duplicates=0")
        assert rows(cursor, "SHOW VARIABLES LIKE 'rpl_semi_sync_master_enabled'") == []


def test_logs_and_their_end_are_listed() -> None:
    with session() as cursor:
        logs = rows(cursor, "SHOW BINARY LOGS")
        assert [log[0] for log in logs] == [path.name for path in case_logs("mysql/rotation")]
        assert [log[1] for log in logs] == [(MYSQL / log[0]).stat().st_size for log in logs]
        status = rows(cursor, "SHOW BINARY LOG STATUS")
        assert status == rows(cursor, "SHOW MASTER STATUS")
        file, offset, _, _, gtids = status[0]
        assert (file, offset) == (logs[-1][0], logs[-1][1])
        assert rows(cursor, "SELECT @@global.gtid_executed, @@global.gtid_purged") == [(gtids, "")]
        events = rows(cursor, f"SHOW BINLOG EVENTS IN '{logs[-1][0]}' LIMIT 3")
        assert [event[2] for event in events[:2]] == ["Format_desc", "Previous_gtids"]


def test_an_event_of_an_unknown_type_is_listed_by_its_number(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.unknown(b"new", type_code=120)
    log.stop()
    (tmp_path / "binlog.000001").write_bytes(log.content)
    with session(tmp_path) as cursor:
        events = rows(cursor, "SHOW BINLOG EVENTS IN 'binlog.000001' LIMIT 9")
    assert [event[2] for event in events] == ["Format_desc", "Previous_gtids", "UNKNOWN_120", "STOP"]


def test_gtid_positions_of_mariadb_are_found() -> None:
    with session(MARIADB) as cursor:
        file, offset, *_ = rows(cursor, "SHOW MASTER STATUS")[0]
        position = rows(cursor, "SELECT @@global.gtid_binlog_pos")[0][0]
        assert rows(cursor, f"SELECT BINLOG_GTID_POS('{file}', {offset})") == [(position,)]
        assert rows(cursor, "SELECT BINLOG_GTID_POS('binlog.999999', 4)") == [(None,)]
        first = rows(cursor, "SHOW BINARY LOGS")[0][0]
        assert rows(cursor, f"SELECT BINLOG_GTID_POS('{first}', 4)")[0][0] != position


def test_variables_are_selected_by_name_and_pattern() -> None:
    with session(server_id=4242) as cursor:
        wanted = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('server_id', 'gtid_mode', 'no_such_variable')"
        assert rows(cursor, wanted) == [("gtid_mode", "ON"), ("server_id", "4242")]
        assert rows(cursor, "SHOW VARIABLES LIKE 'binlog\\_checksum'") == [("binlog_checksum", "CRC32")]
        assert len(rows(cursor, "show variables")) > 10
        assert rows(cursor, "SELECT @@server_id AS id, @@version_comment, 1") == [(4242, "binspark serve", 1)]
        assert [column[0] for column in cursor.description] == ["id", "@@version_comment", "1"]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t VALUES (1)",
        "SELECT * FROM mysql.user",
        "SELECT SLEEP(100)",
        "SET GLOBAL read_only = 0",
        "SET @@global.server_id = 5",
        "DROP DATABASE d",
        "PURGE BINARY LOGS TO 'binlog.000002'",
        "SHOW TABLES",
        "garbage",
        "",
    ],
)
def test_other_statements_are_refused_and_the_session_continues(statement: str) -> None:
    with session() as cursor:
        with pytest.raises(pymysql.err.MySQLError, match=r"1290.*read-only, and cannot run this statement"):
            cursor.execute(statement or ";")
        assert rows(cursor, "SELECT 1") == [(1,)]


def test_an_unknown_variable_is_named() -> None:
    with session() as cursor, pytest.raises(pymysql.err.MySQLError, match=r"1193.*Unknown system variable 'nothing'"):
        cursor.execute("SELECT @@GLOBAL.nothing")


def test_there_are_no_tables() -> None:
    with session() as cursor:
        assert rows(cursor, "SELECT t.table_name, engine AS e FROM information_schema.tables t WHERE 1 = 1") == []
        assert [column[0] for column in cursor.description] == ["table_name", "e"]


def test_what_clients_set_for_themselves_is_accepted() -> None:
    with session() as cursor:
        for statement in (
            "SET NAMES utf8mb4",
            "SET SESSION net_write_timeout = 3600",
            "SET autocommit = 1, time_zone = '+00:00'",
            "/* a comment */ SET @x = NULL",
            "BEGIN",
            "COMMIT",
            "USE shop",
        ):
            assert rows(cursor, statement) == []
        assert rows(cursor, "SELECT @x, @y") == [(None, None)]
        cursor.connection.ping(reconnect=False)
        cursor.connection.select_db("shop")
