"""`binspark restore` on real servers: the recovered server has the tables that the source had at that point."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.corpus.cases import CORPUS
from tests.support.replay.random_workload import Workload
from tests.support.replicas import catch_up, replicate, written_gtids
from tests.support.restored import apply, archived, contents, drop_all, options_of, pair, plan, restore
from tests.support.servers import StartServer, every_family

pytestmark = pytest.mark.timeout(300)

SHOP = """
CREATE DATABASE shop; USE shop;
CREATE TABLE orders (id INT PRIMARY KEY AUTO_INCREMENT, note VARCHAR(40));
INSERT INTO orders (note) VALUES ('first'), ('second');
CREATE TABLE copied AS SELECT * FROM orders;
UPDATE orders SET note = 'changed' WHERE id = 1;
"""

XA = """
USE d;
XA START 'a'; UPDATE t SET n = n + 1; XA END 'a'; XA PREPARE 'a'; XA COMMIT 'a';
XA START 'b'; UPDATE t SET n = n + 1; XA END 'b'; XA PREPARE 'b'; XA ROLLBACK 'b';
XA START 'c'; UPDATE t SET n = n + 1; XA END 'c'; XA COMMIT 'c' ONE PHASE;
"""

SESSIONS = """
CREATE DATABASE s; USE s;
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, a VARCHAR(200), b DOUBLE, at DATETIME(6), zoned TIMESTAMP NULL);
CREATE TABLE child (id INT PRIMARY KEY, t_id INT, FOREIGN KEY (t_id) REFERENCES t (id));
INSERT INTO t (a, b, at) VALUES ('now', RAND(), NOW(6));
INSERT INTO t (a) VALUES (LAST_INSERT_ID());
SET @word = 'it''s', @number = -5, @money = 1.50, @ratio = 1e-300, @nothing = NULL, @bytes = x'00ff27';
INSERT INTO t (a, b) VALUES (@word, @number), (HEX(@bytes), @ratio), (@money, @nothing);
SET time_zone = '+05:00'; INSERT INTO t (a, zoned) VALUES ('zone', '2026-01-02 03:04:05');
SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'; INSERT INTO t ("a") VALUES ('a\\b'); SET sql_mode = DEFAULT;
SET NAMES latin1; INSERT INTO t (a) VALUES ('\u00fc'); SET NAMES utf8mb4;
SET foreign_key_checks = 0; INSERT INTO child VALUES (1, 9999); SET foreign_key_checks = 1;
SET auto_increment_increment = 10, auto_increment_offset = 3; INSERT INTO t (a) VALUES ('x'), ('y');
SET auto_increment_increment = 1, auto_increment_offset = 1;
LOAD DATA LOCAL INFILE '{loaded}' INTO TABLE t FIELDS TERMINATED BY ',' (id, a);
INSERT INTO t (a) VALUES ('a comment at the end') -- of the statement
;
DELIMITER //
CREATE PROCEDURE p() BEGIN INSERT INTO t (a) VALUES ('called'); INSERT INTO t (a) VALUES ('twice'); END//
DELIMITER ;
CALL p();
XA START 'x'; INSERT INTO t (a) VALUES ('in XA'); XA END 'x'; XA PREPARE 'x'; XA COMMIT 'x';
"""


@every_family
def test_a_random_workload_is_recovered_exactly_and_once(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    source, target = pair(family, start_server)
    for seed in range(4):
        Workload(source, Random(seed), f"random_{seed}").run(40)
    archive = archived(source, tmp_path / "archive")
    apply(archive, target)
    assert contents(target) == contents(source)
    again = plan(archive, target)
    assert (again["transactions"], again["left_out"]["on_target"] > 0) == (0, True)
    if family is MySQL:
        assert written_gtids(source) == written_gtids(target)
    drop_all(target)
    target.query(source.query("SHOW CREATE DATABASE random_1")[0][1])
    apply(archive, target, "--tables", "random_1.*")
    expected = {name: found for name, found in contents(source).items() if name.startswith("random_1.")}
    assert contents(target) == expected


@every_family
def test_it_stops_where_it_should(family: Family, start_server: StartServer, tmp_path: Path) -> None:
    source, target = pair(family, start_server)
    source.run_sql(SHOP)
    expected, before = contents(source), written_gtids(source)
    source.run_sql("USE shop; DELETE FROM orders WHERE id = 2")
    mistake = written_gtids(source).replace(":1-", ":")
    source.run_sql("USE shop; INSERT INTO orders (note) VALUES ('third'); DROP TABLE\n  orders")
    archive = archived(source, tmp_path / "archive")

    by_statement = plan(archive, target, "--before-statement", "drop table *orders")
    assert by_statement["statement"].startswith("DROP TABLE `orders`")
    assert by_statement["stop"].endswith(f", transaction {written_gtids(source).replace(':1-', ':')}")
    assert by_statement["left_out"]["stopped"] == 1
    before_mistake = plan(archive, target, "--stop-before-gtid", mistake)
    last = before.replace(":1-", ":")
    assert (before_mistake["last"], before_mistake["stop"]) == (last, f"before {mistake}")
    assert plan(archive, target, "--stop-after-gtid", last)["transactions"] == before_mistake["transactions"]
    without = plan(archive, target, "--exclude-gtids", mistake)
    assert (without["left_out"]["excluded"], without["ddl"]) == (1, before_mistake["ddl"] + 1)
    assert plan(archive, target, "--stop-datetime", "2020-01-01 00:00:00")["transactions"] == 0

    apply(archive, target, "--stop-before-gtid", mistake)
    assert contents(target) == expected
    # Continue, without the mistake and up to the DROP.
    apply(archive, target, "--exclude-gtids", mistake, "--before-statement", "DROP TABLE")
    assert target.query("SELECT note FROM shop.orders ORDER BY id") == [("changed",), ("second",), ("third",)]
    # Only some rows, from the beginning.
    drop_all(target)
    apply(archive, target, "--where", "id = 2", "--stop-before-gtid", mistake, "--exclude-tables", "shop.copied")
    assert target.query("SELECT note FROM shop.orders ORDER BY id") == [("second",)]


def load_backup(source: Server, target: Server) -> None:
    """Give a server what its source has, and the position of that."""
    target.run_sql(f"SET sql_log_bin = 0; {SHOP}")
    variable = "gtid_purged" if source.family is MySQL else "gtid_slave_pos"
    target.query(f"SET GLOBAL {variable} = '{written_gtids(source)}'")


@every_family
@pytest.mark.parametrize("target_id", [1, 2], ids=["id of the source", "own id"])
def test_a_recovered_server_continues_as_a_replica(
    family: Family, target_id: int, start_server: StartServer, tmp_path: Path
) -> None:
    source, target = pair(family, start_server)
    source.run_sql(SHOP)
    load_backup(source, target)
    source.run_sql("USE shop; INSERT INTO orders (note) VALUES ('later')")
    archive = archived(source, tmp_path / "archive")
    target.restart({"server-id": target_id})  # as a backup may have it while it is recovered
    apply(archive, target)
    source.run_sql("USE shop; INSERT INTO orders (note) VALUES ('after the recovery')")
    target.restart({"server-id": 2})
    replicate(target, source)
    catch_up(target, source)
    assert contents(target) == contents(source)
    assert plan(archive, target)["transactions"] == 0


@pytest.mark.mariadb
def test_mariadb_without_a_log_continues_as_a_replica(start_server: StartServer, tmp_path: Path) -> None:
    source, target = pair(MariaDB, start_server)
    target.options.pop("log-bin")
    target.restart()
    source.run_sql(SHOP)
    load_backup(source, target)
    backup = written_gtids(source)
    source.run_sql("INSERT INTO shop.orders (note) VALUES ('later')")
    source.run_sql("SET gtid_domain_id = 7; INSERT INTO shop.orders (note) VALUES ('another domain')")
    apply(archived(source, tmp_path / "archive"), target, "--exclude-gtids", f"..{backup}")
    source.run_sql("INSERT INTO shop.orders (note) VALUES ('after the recovery')")
    replicate(target, source)
    catch_up(target, source)
    assert contents(target) == contents(source)


@pytest.mark.mariadb
def test_a_position_that_cannot_be_set_is_a_statement_to_run(start_server: StartServer, tmp_path: Path) -> None:
    source, target = pair(MariaDB, start_server)
    source.run_sql(SHOP)
    archive = archived(source, tmp_path / "archive")
    replicate(target, start_server(MariaDB, {"server-id": 3}))
    result = restore(archive, target, "--apply")
    assert result.exit_code == 0
    assert f"SET GLOBAL gtid_slave_pos = '{written_gtids(source)}'" in result.stderr
    assert target.query("SELECT @@gtid_slave_pos") == [("",)]


@every_family
def test_a_recovery_that_is_killed_continues_where_it_was(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    source, target = pair(family, start_server, {}, {"server-id": 1})  # as a backup, it has the id of its source
    archive = busy_archive(source, tmp_path / "archive")
    killed = kill_while_applying(archive, target)
    assert killed > 0
    apply(archive, target)
    assert contents(target) == contents(source)


@pytest.mark.slow
@every_family
def test_without_gtids_the_target_stores_how_far_it_is(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"} if family is MySQL else {}
    source, target = pair(family, start_server, options, options)
    if family is not MySQL:  # its transactions always have GTIDs, but a server without a log does not keep them
        target.options.pop("log-bin")
        target.restart()
    archive = busy_archive(source, tmp_path / "archive")
    assert "binspark_restore.progress" in plan(archive, target)["warnings"][0]
    assert kill_while_applying(archive, target) > 0
    apply(archive, target)
    assert contents(target) == contents(source)
    assert plan(archive, target)["transactions"] == 0

    # XA transactions cannot store their position themselves; a statement that is refused was not executed.
    source.run_sql(XA)
    source.run_sql("CREATE TABLE d.late (a INT); INSERT INTO d.late VALUES (1)")
    later = archived(source, tmp_path / "later")
    target.query("CREATE TABLE d.late (a INT)")
    failed = restore(later, target, "--apply")
    assert (failed.exit_code, "Table 'late' already exists" in failed.output) == (1, True)
    target.query("DROP TABLE d.late")
    apply(later, target)
    assert contents(target) == contents(source)


@every_family
def test_statements_are_executed_in_their_sessions(family: Family, start_server: StartServer, tmp_path: Path) -> None:
    source, target = pair(family, start_server, {"binlog-format": "STATEMENT", "local-infile": 1})
    loaded = tmp_path / "loaded.txt"
    loaded.write_text("1000,from a file\n1001,another\n")
    source.run_sql(SESSIONS.format(loaded=loaded))
    archive = archived(source, tmp_path / "archive")
    assert "logged as statements" in plan(archive, target)["warnings"][0]
    apply(archive, target)
    assert contents(target) == contents(source)


def busy_archive(source: Server, folder: Path) -> Path:
    """Return the log of many small transactions, whose result depends on each being applied once."""
    source.run_sql("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, n INT); ")
    source.run_sql("CREATE TABLE d.log (n INT); INSERT INTO d.t (n) VALUES (0), (0)")
    changes = ("UPDATE d.t SET n = n + 1;", "BEGIN; INSERT INTO d.log VALUES ({}); COMMIT;")
    source.run_sql("".join(changes[number % 2].format(number) for number in range(3000)))
    return archived(source, folder)


def kill_while_applying(archive: Path, target: Server) -> int:
    """Kill the command in the middle; return how many rows it had applied."""
    command = [sys.executable, "-m", "binspark", "restore", str(archive), *options_of(target), "--apply"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 120
        while applied_rows(target) < 100 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        process.kill()
        process.communicate()
    return applied_rows(target)


def applied_rows(target: Server) -> int:
    exists = target.query("SELECT 1 FROM information_schema.tables WHERE table_schema = 'd' AND table_name = 'log'")
    return int(target.query("SELECT COUNT(*) FROM d.log")[0][0]) if exists else 0


STATEMENTS = [
    "ddl",
    "format-statement",
    "load-data",
    "format-mixed",
    "temporary-tables",
    "types-minimal",
    "user-variables",
    "xa",
]

KEYRINGS = {"mysql": "mysql/encrypted/keyring", "mariadb": "mariadb/encrypted/keys.txt"}


@pytest.mark.slow
@every_family
def test_recorded_logs_are_applied_as_by_the_tool_of_the_server(family: Family, start_server: StartServer) -> None:
    by_tool, target = pair(family, start_server, {"local-infile": 1})
    for case in STATEMENTS:
        for server in (by_tool, target):
            drop_all(server)
        log = CORPUS / family.name / case / "binlog.000001"
        by_tool.run_sql(by_tool.mysqlbinlog(log).decode("utf-8", "surrogateescape"), "--binary-mode", "--force")
        apply(log, target, "--accept-gap")
        assert contents(target) == contents(by_tool), case
        assert target.query("XA RECOVER") == by_tool.query("XA RECOVER"), case
    drop_all(target)
    apply(CORPUS / family.name / "encrypted", target, "--keyring", str(CORPUS / KEYRINGS[family.name]))
    assert contents(target) != {}


@every_family
def test_what_stands_in_the_way_is_said_before_anything_is_applied(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    source, target = pair(family, start_server)
    source.run_sql(SHOP)
    archive = archived(source, tmp_path / "archive")
    source.run_sql("USE shop; INSERT INTO orders (note) VALUES ('late')")
    later = archived(source, tmp_path / "later")
    for log in archive.iterdir():
        (later / log.name).unlink()
    gap = plan(later, target)
    assert "lacks transactions from before the first log" in gap["obstacles"][0]
    refused = restore(later, target, "--apply")
    assert (refused.exit_code, "is not applied" in refused.output) == (1, True)
    assert contents(target) == {}

    # A transaction that cannot be applied is named, and how to leave it out.
    apply(archive, target)
    target.run_sql("INSERT INTO shop.orders VALUES (3, 'in the way')")
    failed = restore(later, target, "--apply")
    assert failed.exit_code == 1
    assert "Duplicate entry" in failed.output
    assert "--exclude-gtids" in failed.output
    target.run_sql("DELETE FROM shop.orders WHERE id = 3")
    apply(later, target)
    assert contents(target) == contents(source)
