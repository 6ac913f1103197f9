"""Logs of random workloads: dumped as mariadb-binlog prints them, and applied to an empty server."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random, SystemRandom

import pytest
from click.testing import CliRunner

from binspark.cli.main import main
from binspark.dump.mariadb import dumper
from binspark.testing.servers import MariaDB, Server
from binspark.testing.servers.programs import Programs
from tests.support.dump.mariadb_tool import OPTION_SETS, assert_same_text, mariadb_tool
from tests.support.replay.random_workload import Workload
from tests.support.servers import StartServer

__all__ = ["mariadb_tool"]

pytestmark = pytest.mark.mariadb
QUICK_OPTIONS = ((), ("-vv", "--print-table-metadata"), ("--hexdump",), ("-v", "--base64-output=decode-rows"))
STATEMENTS = """
CREATE DATABASE special; USE special; SET SESSION binlog_format = {format};
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a VARCHAR(300), b DOUBLE, u UUID, i INET6, g GEOMETRY);
SET @text = 'it''s', @number = -17, @real = 1.5e300, @exact = 12.50, @nothing = NULL;
INSERT INTO t (a) VALUES (@text), (@number), (@real), (@exact), (@nothing), (RAND());
INSERT INTO t (a, b, u, i) SELECT CONCAT(a, '\\n\\t\\\\'), b, UUID(), '::1' FROM t;
INSERT INTO t (a, g) VALUES ('point', ST_GeomFromText('POINT(1 2)')), (LAST_INSERT_ID(), NULL);
CREATE FUNCTION twice(x INT) RETURNS INT DETERMINISTIC RETURN 2 * x;
UPDATE t SET b = twice(id) WHERE id < 4;
CREATE SEQUENCE s START WITH 5; SELECT NEXT VALUE FOR s;
CREATE TABLE versioned (id INT PRIMARY KEY, a INT) WITH SYSTEM VERSIONING;
INSERT INTO versioned VALUES (1, 1); UPDATE versioned SET a = 2; DELETE FROM versioned;
CREATE TABLE compressed (id INT PRIMARY KEY, a TEXT COMPRESSED, b VARCHAR(300) COMPRESSED);
INSERT INTO compressed VALUES (1, REPEAT('a', 200), REPEAT('b', 200)), (2, 'short', NULL);
XA START 'first', 'branch', 7; INSERT INTO t (a) VALUES ('xa'); XA END 'first', 'branch', 7;
XA PREPARE 'first', 'branch', 7; XA COMMIT 'first', 'branch', 7;
SET SESSION time_zone = '+05:00', lc_time_names = 'de_DE', foreign_key_checks = 0, NAMES latin1;
INSERT INTO t (a) VALUES (NOW());
CREATE TEMPORARY TABLE temporary (a INT); INSERT INTO temporary VALUES (1); INSERT INTO t (a) SELECT a FROM temporary;
BEGIN; SAVEPOINT before_it; INSERT INTO t (a) VALUES ('undone'); ROLLBACK TO before_it; INSERT INTO t (a) VALUES (1);
COMMIT; DELETE FROM t WHERE id % 3 = 0;
CREATE TABLE my (a INT) ENGINE=MyISAM; INSERT INTO my VALUES (1), (2); UPDATE my SET a = a + 1;
SET SESSION gtid_domain_id = 5; INSERT INTO t (a) VALUES ('other domain');
"""


def seeds(count: int) -> range:
    """Return random seeds; BINSPARK_RANDOM_SEED repeats those that a failure shows."""
    first = int(os.environ.get("BINSPARK_RANDOM_SEED") or SystemRandom().randrange(1 << 31))
    print(f"seed {first}")  # noqa: T201 (pytest shows it when the test fails)
    return range(first, first + count)


def random_logs(server: Server, count: int) -> list[Path]:
    """Let a server do random work, and return all of its logs."""
    for seed in seeds(count):
        Workload(server, Random(seed), f"random_{seed}").run(40)
    for number, binlog_format in enumerate(("ROW", "MIXED")):
        script = STATEMENTS.replace("special", f"special_{number}")
        server.run_sql(script.format(format=binlog_format))
    server.query("FLUSH BINARY LOGS")
    return server.log_files()[:-1]


def test_random_logs_are_printed_as_the_tool_does(
    mariadb_tool: Programs, start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = random_logs(start_server(MariaDB), 4)
    for minimum in (dumper.MIN_BULK_BYTES, 0):
        monkeypatch.setattr(dumper, "MIN_BULK_BYTES", minimum)
        for log in logs:
            for options in QUICK_OPTIONS:
                assert_same_text(mariadb_tool, tmp_path, options, log)


@pytest.mark.slow
@pytest.mark.parametrize("minimum", [0, 1 << 30], ids=["kernel", "reference"])
def test_many_random_logs_are_printed_as_the_tool_does(
    mariadb_tool: Programs, start_server: StartServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, minimum: int
) -> None:
    monkeypatch.setattr(dumper, "MIN_BULK_BYTES", minimum)
    for log in random_logs(start_server(MariaDB), 8):
        for options in OPTION_SETS:
            assert_same_text(mariadb_tool, tmp_path, options, log)


def test_a_dump_that_is_applied_to_an_empty_server_gives_equal_tables(
    mariadb_tool: Programs, start_server: StartServer, tmp_path: Path
) -> None:
    source, copy = start_server(MariaDB), start_server(MariaDB)
    logs = random_logs(source, 3)
    arguments = ["dump", f"--local-load={tmp_path}", *map(str, logs)]
    dump = CliRunner().invoke(main, arguments, standalone_mode=False).stdout_bytes
    options = ("--no-defaults", f"--socket={copy.socket}", "--user=root", "--binary-mode", "--local-infile=1")
    applied = mariadb_tool.run(MariaDB.client, *options, stdin=dump)
    assert not applied.returncode, applied.stderr.decode(errors="replace")
    tables = tables_of(source)
    assert len(tables) > 10
    assert tables_of(copy) == tables
    for table in tables:
        assert rows_of(copy, table) == rows_of(source, table), table


def tables_of(server: Server) -> list[str]:
    """Return the tables of the workloads."""
    query = "SELECT CONCAT(table_schema, '.', table_name) FROM information_schema.tables WHERE "
    return [row[0] for row in server.query(f"{query} table_schema REGEXP '^(random|special)_' ORDER BY 1")]


def rows_of(server: Server, table: str) -> list[tuple[object, ...]]:
    """Return the rows of a table in an order of their own."""
    return sorted(server.query(f"SELECT * FROM {table}"), key=repr)
