"""Statements of random sessions, executed again as a script and by restore: the tables are those of their source."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

import pytest

import binspark
from binspark.testing.servers import Family, MySQL, Server
from tests.support.replicas import reset_logs
from tests.support.restored import apply, archived, contents, drop_all, pair
from tests.support.servers import StartServer, database, every_family
from tests.support.sql.round_trips import logs_of, script_of

__all__ = ["database"]

_NEXT_NUMBER = re.compile(r" AUTO_INCREMENT=\d+")
TABLES = """
CREATE DATABASE s; USE s;
CREATE TABLE parent (id INT PRIMARY KEY);
CREATE TABLE t (
  id INT PRIMARY KEY AUTO_INCREMENT, n INT NOT NULL DEFAULT 0, text VARCHAR(200) CHARACTER SET utf8mb4, at DATETIME(6),
  zoned TIMESTAMP NULL, CHECK (n >= 0 {enforced})
);
CREATE TABLE child (id INT PRIMARY KEY AUTO_INCREMENT, parent INT, FOREIGN KEY (parent) REFERENCES parent (id));
INSERT INTO parent VALUES (-1); INSERT INTO t (id) VALUES (-1); INSERT INTO child VALUES (-1, -1);
"""
"""They have rows: of what is inserted into an empty table without any checks MariaDB loses all, although it logs it, if
a later statement of the transaction fails.
"""
ENFORCED = {"mysql": "OR n < 0", "mariadb": ""}

COMMON = {
    "sql_mode": ["''", "'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'", "'ANSI'", "'TRADITIONAL'", "'PIPES_AS_CONCAT'", "DEFAULT"],
    "foreign_key_checks": ["0", "1"],
    "unique_checks": ["0", "1"],
    "sql_auto_is_null": ["0", "1"],
    "autocommit": ["0", "1"],
    "auto_increment_increment": ["1", "7"],
    "auto_increment_offset": ["1", "3"],
    "lc_time_names": ["'de_DE'", "'en_US'", "'ja_JP'"],
    "time_zone": ["'+05:00'", "'-03:30'", "DEFAULT"],
    "timestamp": ["1700000000.123456", "1600000000", "DEFAULT"],
    "collation_connection": ["utf8mb4_bin", "utf8mb4_general_ci", "latin1_german1_ci"],
    "collation_server": ["latin1_bin", "utf8mb4_general_ci"],
}
OWN = {
    "mysql": {
        "explicit_defaults_for_timestamp": ["0", "1"],
        "sql_require_primary_key": ["0", "1"],
        "default_table_encryption": ["0", "1"],
        "default_collation_for_utf8mb4": ["utf8mb4_general_ci", "utf8mb4_0900_ai_ci"],
        "enable_cascade_triggers": ["0", "1"],
    },
    "mariadb": {
        "sql_mode": [
            "'MAXDB'",
            "'ORACLE'",
            "'MSSQL'",
            "'IGNORE_BAD_TABLE_OPTIONS'",
            "'EMPTY_STRING_IS_NULL'",
            "DEFAULT",
        ],
        "explicit_defaults_for_timestamp": ["0", "1"],
        "check_constraint_checks": ["0", "1"],
        "sql_if_exists": ["0", "1"],
        "system_versioning_insert_history": ["0", "1"],
    },
}
STATEMENTS = [
    "INSERT INTO t (text, at) VALUES (DATE_FORMAT('2026-03-01', '%M'), NOW(6)), ('A' = 'a', NOW(6)), ('', NULL)",
    "INSERT INTO t (text, zoned) VALUES ('zone', '2026-01-02 03:04:05'), ('a' || 'b', NULL)",
    "INSERT INTO t (n, text) VALUES (-1, 'below')",
    "INSERT INTO t (n, text) VALUES (LAST_INSERT_ID(), @word)",
    "UPDATE t SET n = n + 1000 WHERE id IS NULL",
    "INSERT INTO child (parent) VALUES (4711)",
    "INSERT INTO parent SELECT COALESCE(MAX(id), 0) + 1 FROM t",
    "INSERT INTO t (text) VALUES ('it\\\\s')",
    "CREATE TABLE x{number} (a TIMESTAMP, b VARCHAR(9) CHARACTER SET utf8mb4, c REAL)",
    "CREATE TABLE x{number} (id INT PRIMARY KEY, a TIMESTAMP, b TIMESTAMP NULL)",
    "CREATE DATABASE s{number}",
    "ALTER TABLE t DROP COLUMN missing, ADD COLUMN c{number} INT",
    "INSERT INTO t (text) VALUES (CONCAT(@@sql_auto_is_null, @@foreign_key_checks, @@unique_checks))",
]
OTHER = (
    "auto_increment_increment = 5, lc_time_names = 'fr_FR', sql_auto_is_null = 1, sql_mode = 'PIPES_AS_CONCAT',"
    " time_zone = '+02:00'"
)
DEFAULTS = {
    "mysql": f"{OTHER}, explicit_defaults_for_timestamp = 0",
    "mariadb": f"{OTHER}, check_constraint_checks = 0, sql_if_exists = 1",
}
"""Other defaults on the server that executes the statements again: nothing may depend on them."""


def random_statements(family: Family, seed: int) -> str:
    """Return a script with random settings before each statement; some of its statements fail."""
    random = Random(seed)
    variables = [*COMMON.items(), *OWN[family.name].items()]
    lines = []
    for number in range(60):
        chosen = random.sample(variables, random.randrange(4))
        lines += [f"SET @@session.{name} = {random.choice(values)};" for name, values in chosen]
        lines.append(f"SET @word = 'w{number}', @@session.insert_id = {1000 * (number + 1)};")
        lines.append(random.choice(STATEMENTS).format(number=number) + ";")
    return "\n".join([*lines, "COMMIT;"])


def every_setting(family: Family) -> str:
    """Return a script with every statement under each value of each variable."""
    lines = []
    numbers = itertools.count(1)
    for name, values in [*COMMON.items(), *OWN[family.name].items()]:
        for value in values:
            lines.append(f"SET @@session.{name} = {value}, @@session.insert_id = {1000 * next(numbers)};")
            lines += [statement.format(number=next(numbers)) + ";" for statement in STATEMENTS]
            lines.append("COMMIT;")
        lines.append(f"SET @@session.{name} = DEFAULT;")
    return "\n".join(lines)


def run(server: Server, script: bytes, *options: str) -> None:
    reached = ("--no-defaults", f"--socket={server.socket}", "--user=root", *options)
    done = server.programs.run(server.family.client, *reached, stdin=script)
    assert not done.returncode, done.stderr.decode(errors="replace")[-2000:]


def tables_of(server: Server) -> dict[str, tuple[str, list[tuple[Any, ...]]]]:
    """Return all tables, without the next number: a statement that failed has taken one, and is not logged."""
    return {name: (_NEXT_NUMBER.sub("", created), rows) for name, (created, rows) in contents(server).items()}


def replayed(source: Server, target: Server, archive: Path) -> None:
    """Execute logs as a script and by restore: each time the tables must be those of their source."""
    logs = sorted(map(str, archive.iterdir()))
    expected = tables_of(source)
    run(target, b"".join(binspark.sql(logs)), "--init-command=SET autocommit = 0, sql_mode = 'NO_BACKSLASH_ESCAPES'")
    assert tables_of(target) == expected
    drop_all(target)
    apply(archive, target, "--accept-gap")
    assert tables_of(target) == expected


def check_sessions(family: Family, start_server: StartServer, folder: Path, scripts: list[str]) -> None:
    without_gtids = {"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"} if family is MySQL else {}
    source, target = pair(family, start_server, {"binlog-format": "STATEMENT", **without_gtids}, without_gtids)
    target.query(f"SET GLOBAL {DEFAULTS[family.name].replace(', ', ', GLOBAL ')}")
    for number, script in enumerate(scripts):
        for server in (source, target):
            drop_all(server)
        reset_logs(source)
        source.run_sql(TABLES.format(enforced=ENFORCED[family.name]))
        source.run_sql(script, "--force", "--database=s")
        replayed(source, target, archived(source, folder / str(number)))


@every_family
def test_statements_are_executed_in_the_session_that_they_had(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    seed = int(os.environ.get("BINSPARK_RANDOM_SEED") or SystemRandom().randrange(1 << 31))
    check_sessions(family, start_server, tmp_path, [every_setting(family), random_statements(family, seed)])


@pytest.mark.slow
@every_family
def test_statements_of_many_random_sessions_are_executed_as_they_were(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    check_sessions(family, start_server, tmp_path, [random_statements(family, seed) for seed in range(20)])


def test_rows_that_violate_a_constraint_are_inserted_and_deleted_again(mariadb: Server, database: str) -> None:
    mariadb.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.t (n INT PRIMARY KEY, CHECK (n > 0))")
    violating = f"SET check_constraint_checks = 0; INSERT INTO {database}.t VALUES (-1), (-2);"
    with logs_of(mariadb) as inserted:
        mariadb.run_sql(violating)
    with logs_of(mariadb) as deleted:
        mariadb.run_sql(f"DELETE FROM {database}.t")
    rows = [(-2,), (-1,)]
    for log, options in ((inserted, {}), (deleted, {"undo": True})):
        mariadb.query(f"DELETE FROM {database}.t")
        run(mariadb, script_of(log, tables=f"{database}.*", **options))
        assert mariadb.query(f"SELECT n FROM {database}.t ORDER BY n") == rows
