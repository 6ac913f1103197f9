"""All versions of rows beside a mirrored table: exactly once, in the order of the log, whatever interrupts it."""

from __future__ import annotations

import logging
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from binspark.errors import SchemaError
from binspark.mirror.check.run import check
from binspark.mirror.leaves import LeafLimits
from binspark.mirror.schema.version_table import seq_at
from binspark.mirror.settings import DropMode
from binspark.mirror.source.change_source import TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.replication.find import end_of_log
from binspark.schema.table import TableName
from binspark.server.connection import connect
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.mirror.live_mirrors import (
    FORMATS,
    assert_equal,
    each_family,
    each_format,
    make_mirror,
    rows_of,
    run_mirror,
)
from tests.support.mirror.tables import reached
from tests.support.servers import StartServer, every_family

every_format = pytest.mark.parametrize("kind", FORMATS)
OWN = ("_valid_from", "_valid_to", "_is_current", "_seq", "_until")


class Crash(Exception):
    """A crash that a test wants."""


def create(server: Server, database: str) -> str:
    server.query(f"CREATE DATABASE {database}")
    server.query(f"CREATE TABLE {database}.items (id VARCHAR(9) PRIMARY KEY, name VARCHAR(20))")
    server.query(f"INSERT INTO {database}.items VALUES ('a', 'one'), ('b', 'two')")
    return f"{database}.items"


def versions(lake: Path, table: str, kind: Format = Format.DELTA) -> list[tuple[Any, ...]]:
    """Return the columns of all versions in their order, and whether each is current; each follows the one before."""
    rows = rows_of(lake, f"{table}__scd2", kind).to_pylist()
    rows.sort(key=lambda row: (row["id"], row["_seq"], row["_until"]))
    by_key: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_key.setdefault(row["id"], []).append(row)
        assert row["_is_current"] == (row["_valid_to"] is None) == (row["_until"] == "~")
        assert row["_is_current"] or row["_valid_from"] <= row["_valid_to"]
    for lives in by_key.values():
        assert sum(row["_is_current"] for row in lives) <= 1
        for one, other in pairwise(lives):
            assert one["_until"] <= other["_seq"]
            assert one["_valid_to"] <= other["_valid_from"]
    return [(*(row[name] for name in row if name not in OWN), row["_is_current"]) for row in rows]


def reached_position(server: Server) -> str:
    """Return what versions have that end at the end of the log."""
    with connect(reached(server)) as connection:
        return seq_at(end_of_log(connection))


def assert_current(lake: Path, table: str, kind: Format = Format.DELTA) -> None:
    """Check that the versions which are current are the rows of the table."""
    current = sorted(row[:-1] for row in versions(lake, table, kind) if row[-1])
    assert current == sorted(tuple(row.values()) for row in rows_of(lake, table, kind).to_pylist())


@every_family
@every_format
def test_each_change_ends_a_version(shared: Server, database: str, kind: Format, tmp_path: Path) -> None:
    table = create(shared, database)
    run_mirror(shared, tmp_path, table, kind, scd2=True)
    assert versions(tmp_path, table, kind) == [("a", "one", True), ("b", "two", True)]
    shared.query(f"UPDATE {table} SET name = 'uno' WHERE id = 'a'")
    shared.query(f"UPDATE {table} SET id = 'c' WHERE id = 'b'")
    run_mirror(shared, tmp_path, table, kind, scd2=True)
    shared.query(f"UPDATE {table} SET name = 'eins' WHERE id = 'a'")
    shared.query(f"UPDATE {table} SET name = 'un' WHERE id = 'a'")
    shared.query(f"DELETE FROM {table} WHERE id = 'c'")
    run_mirror(shared, tmp_path, table, kind, scd2=True)
    run_mirror(shared, tmp_path, table, kind, scd2=True)
    assert versions(tmp_path, table, kind) == [
        ("a", "one", False),
        ("a", "uno", False),
        ("a", "eins", False),
        ("a", "un", True),
        ("b", "two", False),
        ("c", "two", False),
    ]
    report = check(reached(shared), parse_target(str(tmp_path), kind), TablePatterns(frozenset({f"{database}.*"})))
    assert [str(found.name) for found in report.tables] == [table, f"{table}__scd2"]
    assert report.is_equal


@every_format
@pytest.mark.mysql
def test_schema_changes_are_made_to_versions_too(mysql: Server, database: str, kind: Format, tmp_path: Path) -> None:
    table = create(mysql, database)
    run_mirror(mysql, tmp_path, f"{database}.*", kind, scd2=True)
    mysql.query(f"UPDATE {table} SET name = 'uno' WHERE id = 'a'")
    mysql.query(f"ALTER TABLE {table} ADD COLUMN price INT DEFAULT 5, RENAME COLUMN name TO title")
    mysql.query(f"UPDATE {table} SET price = 6 WHERE id = 'a'")
    mysql.query(f"RENAME TABLE {table} TO {database}.goods")
    mysql.query(f"UPDATE {database}.goods SET price = 7 WHERE id = 'a'")
    mysql.query(f"TRUNCATE TABLE {database}.goods")
    mysql.query(f"INSERT INTO {database}.goods VALUES ('z', 'new', 1)")
    run_mirror(mysql, tmp_path, f"{database}.*", kind, scd2=True)
    assert versions(tmp_path, f"{database}.goods", kind) == [
        ("a", "one", 5, False),
        ("a", "uno", 5, False),
        ("a", "uno", 6, False),
        ("a", "uno", 7, False),
        ("b", "two", 5, False),
        ("z", "new", 1, True),
    ]
    assert_equal(mysql, tmp_path, f"{database}.goods", kind=kind)


@each_family
@pytest.mark.parametrize("step", ["table", "rows", "statement", "before the cut", "after the cut"])
def test_a_crash_neither_loses_nor_repeats_a_version(shared: Server, database: str, step: str, tmp_path: Path) -> None:
    table = create(shared, database)
    run_mirror(shared, tmp_path, table, scd2=True)
    shared.query(f"UPDATE {table} SET name = 'uno' WHERE id = 'a'")
    shared.query(f"ALTER TABLE {table} ADD COLUMN price INT")

    def crash(at: str) -> None:
        if at == step:
            raise Crash

    with pytest.raises(Crash):
        make_mirror(shared, tmp_path, table, checkpoint=crash, scd2=True).run()
    shared.query(f"UPDATE {table} SET price = 1 WHERE id = 'a'")
    run_mirror(shared, tmp_path, table, scd2=True)
    assert versions(tmp_path, table) == [
        ("a", "one", None, False),
        ("a", "uno", None, False),
        ("a", "uno", 1, True),
        ("b", "two", None, True),
    ]


@pytest.mark.mysql
def test_a_new_copy_ends_only_versions_that_differ(mysql: Server, database: str, tmp_path: Path) -> None:
    table = create(mysql, database)
    run_mirror(mysql, tmp_path, table, scd2=True)
    mysql.query(f"UPDATE {table} SET name = 'uno' WHERE id = 'a'")
    mysql.query(f"INSERT INTO {table} VALUES ('c', 'three')")
    run_mirror(mysql, tmp_path, table, scd2=True, resnapshot=(table,))
    assert versions(tmp_path, table) == [
        ("a", "one", False),
        ("a", "uno", True),
        ("b", "two", True),
        ("c", "three", True),
    ]
    mysql.query(f"DROP TABLE {table}")
    run_mirror(mysql, tmp_path, table, scd2=True)
    assert not any(row[-1] for row in versions(tmp_path, table))
    mysql.query(f"CREATE TABLE {table} (id VARCHAR(9) PRIMARY KEY, amount INT)")
    mysql.query(f"INSERT INTO {table} VALUES ('a', 4)")
    run_mirror(mysql, tmp_path, table, scd2=True)
    assert_current(tmp_path, table)
    assert len(versions(tmp_path, table)) == 5


@pytest.mark.mysql
@each_format
@pytest.mark.parametrize(
    ("statement", "mode"),
    [
        ("DROP TABLE {0}", DropMode.KEEP),
        ("DROP TABLE {0}", DropMode.DROP),
        ("ALTER TABLE {0} RENAME TO {1}", DropMode.KEEP),
    ],
)
def test_versions_end_where_a_table_is_dropped_while_it_is_copied_again(
    mysql: Server, database: str, kind: Format, statement: str, mode: DropMode, tmp_path: Path
) -> None:
    table, other = create(mysql, database), f"{database}.other"
    mysql.query(f"CREATE TABLE {database}.calm (id VARCHAR(9) PRIMARY KEY)")
    run_mirror(mysql, tmp_path, f"{database}.*", kind, scd2=True)
    mysql.query(f"ALTER TABLE {table} ADD n INT AS (LENGTH(id)) STORED")

    def crash(at: str) -> None:
        if at == "chunk":
            raise Crash

    with pytest.raises(Crash):
        make_mirror(mysql, tmp_path, f"{database}.*", kind, crash, scd2=True).run()
    mysql.query(statement.format(table, other))
    before = reached_position(mysql)
    mysql.query(f"CREATE TABLE {table} (id VARCHAR(9) PRIMARY KEY, name VARCHAR(20))")
    mysql.query(f"INSERT INTO {table} VALUES ('a', 'anew')")
    mysql.query(f"DROP TABLE {table}")
    run_mirror(mysql, tmp_path, f"{database}.*", kind, scd2=True, on_drop=mode)
    is_there = parse_target(str(tmp_path), kind).table(TableName(database, "items__scd2")) is not None
    assert is_there == (mode is DropMode.KEEP)
    if is_there:
        assert versions(tmp_path, table, kind) == [("a", "one", False), ("a", "anew", False), ("b", "two", False)]
        ended = {row["_until"] for row in rows_of(tmp_path, f"{table}__scd2", kind).to_pylist()}
        assert before in ended
    if "RENAME" in statement:
        assert_current(tmp_path, other, kind)


@pytest.mark.mysql
@pytest.mark.parametrize("statement", ["DROP TABLE {0}", "RENAME TABLE {0} TO {1}"])
@pytest.mark.parametrize("step", ["DROP PRIMARY KEY", "ADD n INT"])
def test_versions_end_where_a_table_is_dropped_or_is_mirrored_no_longer(
    mysql: Server, database: str, statement: str, step: str, tmp_path: Path
) -> None:
    table, other = create(mysql, database), f"{database}.zoo"
    run_mirror(mysql, tmp_path, f"{database}.i*", scd2=True)
    mysql.query(f"ALTER TABLE {table} {step}")
    run_mirror(mysql, tmp_path, f"{database}.i*", scd2=True)
    mysql.query(statement.format(table, other))
    run_mirror(mysql, tmp_path, f"{database}.i*", scd2=True)
    assert [row[-1] for row in versions(tmp_path, table)] == [False, False]


@pytest.mark.mysql
def test_versions_of_a_table_without_a_key_end_where_it_gets_another_name(
    mysql: Server, database: str, tmp_path: Path
) -> None:
    table, other = create(mysql, database), f"{database}.other"
    run_mirror(mysql, tmp_path, f"{database}.*", scd2=True)
    mysql.query(f"ALTER TABLE {table} DROP PRIMARY KEY")
    mysql.query(f"RENAME TABLE {table} TO {other}")
    mysql.query(f"ALTER TABLE {other} ADD PRIMARY KEY (id)")
    run_mirror(mysql, tmp_path, f"{database}.*", scd2=True)
    assert [row[-1] for row in versions(tmp_path, table)] == [False, False]
    assert_current(tmp_path, other)


@pytest.mark.mysql
def test_versions_of_a_copy_by_another_clock_follow_those_of_the_log(
    mysql: Server, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create(mysql, database)
    run_mirror(mysql, tmp_path, table, scd2=True)
    mysql.query(f"DELETE FROM {table} WHERE id = 'a'")
    mysql.query(f"UPDATE {table} SET name = 'zwei' WHERE id = 'b'")
    run_mirror(mysql, tmp_path, table, scd2=True)
    mysql.query(f"INSERT INTO {table} VALUES ('a', 'anew')")
    mysql.query(f"DELETE FROM {table} WHERE id = 'b'")
    now = time.time()
    monkeypatch.setattr("binspark.mirror.tables.staged_files.time.time", lambda: now - 100)
    run_mirror(mysql, tmp_path, table, scd2=True, resnapshot=(table,))
    assert versions(tmp_path, table) == [
        ("a", "one", False),
        ("a", "anew", True),
        ("b", "two", False),
        ("b", "zwei", False),
    ]


@pytest.mark.mysql
def test_versions_end_where_a_table_is_copied_again_under_another_name(
    mysql: Server, database: str, tmp_path: Path
) -> None:
    table, other = create(mysql, database), f"{database}.other"
    run_mirror(mysql, tmp_path, f"{database}.*", scd2=True)
    mysql.query(f"INSERT INTO {table} VALUES ('c', 'three')")
    mysql.query(f"ALTER TABLE {table} ADD n INT AS (LENGTH(id)) STORED, RENAME TO {other}")
    run_mirror(mysql, tmp_path, f"{database}.*", scd2=True)
    assert versions(tmp_path, table) == [("a", "one", False), ("b", "two", False), ("c", "three", False)]
    assert_current(tmp_path, other)


@pytest.mark.mariadb
@pytest.mark.parametrize("family", [MariaDB])
def test_a_table_that_is_replaced_begins_anew(shared: Server, database: str, family: Family, tmp_path: Path) -> None:
    table = create(shared, database)
    run_mirror(shared, tmp_path, table, scd2=True)
    shared.query(
        f"CREATE OR REPLACE TABLE {table} (id VARCHAR(9) PRIMARY KEY, size INT) AS SELECT 'a' AS id, 4 AS size"
    )
    shared.query(f"UPDATE {table} SET size = 5")
    run_mirror(shared, tmp_path, table, scd2=True)
    assert_current(tmp_path, table)
    assert_equal(shared, tmp_path, table)
    assert [row[0] for row in versions(tmp_path, table) if not row[-1]].count("b") == 1


@pytest.mark.mysql
def test_a_gap_is_named(mysql: Server, database: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = create(mysql, database)
    run_mirror(mysql, tmp_path, table, scd2=True)
    mysql.query(f"UPDATE {table} SET name = 'lost'")
    mysql.query(f"UPDATE {table} SET name = 'kept'")
    run_mirror(mysql, tmp_path, table)
    with caplog.at_level(logging.WARNING, "binspark.mirror"):
        run_mirror(mysql, tmp_path, table, scd2=True)
    assert f"{table}__scd2 lacks the changes from" in caplog.text
    assert versions(tmp_path, table) == [
        ("a", "one", False),
        ("a", "kept", True),
        ("b", "two", False),
        ("b", "kept", True),
    ]


@pytest.mark.mysql
def test_rows_with_only_some_columns_are_refused(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(MySQL, {"binlog-row-image": "MINIMAL"})
    table = create(server, "shop")
    server.query(f"ALTER TABLE {table} ADD COLUMN price INT")
    run_mirror(server, tmp_path, table, scd2=True)
    server.query(f"UPDATE {table} SET name = 'uno' WHERE id = 'a'")
    with pytest.raises(SchemaError, match=r"--scd2 needs all of them: set binlog_row_image=FULL"):
        run_mirror(server, tmp_path, table, scd2=True)


@pytest.mark.mysql
def test_many_versions_in_many_leaves(mysql: Server, database: str, tmp_path: Path) -> None:
    limits = LeafLimits(leaf_bytes=4096, row_group_rows=50)
    mysql.query(f"CREATE DATABASE {database}")
    table = f"{database}.items"
    mysql.query(f"CREATE TABLE {table} (id INT PRIMARY KEY, name VARCHAR(40))")
    values = ", ".join(f"({number}, LEFT(SHA2({number}, 256), 40))" for number in range(400))
    mysql.query(f"INSERT INTO {table} VALUES {values}")
    run_mirror(mysql, tmp_path, table, scd2=True, limits=limits)
    for number in range(6):
        mysql.query(
            f"UPDATE {table} SET name = LEFT(SHA2(CONCAT(name, {number}), 256), 40) WHERE id % 4 = {number % 4}"
        )
        mysql.query(
            f"UPDATE {table} SET name = LEFT(SHA2(name, 256), 40) WHERE id BETWEEN {number * 10} AND {number * 50}"
        )
        mysql.query(f"DELETE FROM {table} WHERE id = {number}")
        run_mirror(mysql, tmp_path, table, scd2=True, limits=limits)
    changed = sum(len(range(number % 4, 400, 4)) for number in range(6))
    assert_current(tmp_path, table)
    found = versions(tmp_path, table)
    assert len(found) > 400 + changed
    assert sum(not row[-1] for row in found) > changed - 6


KEYS = {
    "another key": "DROP PRIMARY KEY, ADD PRIMARY KEY (id, name)",
    "a new column": "DROP PRIMARY KEY, ADD n INT NOT NULL AUTO_INCREMENT PRIMARY KEY",
    "another type": "MODIFY id VARBINARY(50)",
}


@pytest.mark.mysql
@pytest.mark.parametrize("steps", KEYS.values(), ids=KEYS)
def test_a_table_whose_key_becomes_another_has_versions_from_then_on(
    mysql: Server, database: str, steps: str, tmp_path: Path
) -> None:
    table = create(mysql, database)
    run_mirror(mysql, tmp_path, table, scd2=True)
    mysql.query(f"UPDATE {table} SET name = 'uno' WHERE id = 'a'")
    run_mirror(mysql, tmp_path, table, scd2=True)
    mysql.query(f"ALTER TABLE {table} {steps}")
    mysql.query(f"UPDATE {table} SET name = 'un' WHERE name = 'uno'")
    run_mirror(mysql, tmp_path, table, scd2=True)
    assert_current(tmp_path, table)
    assert_equal(mysql, tmp_path, table)
    mysql.query(f"DELETE FROM {table} WHERE name = 'two'")
    run_mirror(mysql, tmp_path, table, scd2=True)
    assert_current(tmp_path, table)


@pytest.mark.mysql
@pytest.mark.parametrize("renamed", [False, True], ids=["", "renamed"])
def test_a_table_that_loses_its_key_has_no_versions_until_it_has_one(
    mysql: Server, database: str, tmp_path: Path, renamed: bool
) -> None:
    table = create(mysql, database)
    run_mirror(mysql, tmp_path, f"{database}.*", scd2=True)
    steps = f", RENAME TO {database}.goods" if renamed else ""
    mysql.query(f"ALTER TABLE {table} DROP PRIMARY KEY{steps}")
    table = f"{database}.goods" if renamed else table
    mysql.query(f"INSERT INTO {table} VALUES ('a', 'one'), ('c', 'three')")
    mysql.query(f"UPDATE {table} SET name = 'zwei' WHERE id = 'b'")
    run_mirror(mysql, tmp_path, f"{database}.*", scd2=True)
    assert versions(tmp_path, table) == [("a", "one", True), ("b", "two", True)]
    assert_equal(mysql, tmp_path, table)
    mysql.query(f"DELETE FROM {table} WHERE id = 'a' LIMIT 1")
    mysql.query(f"ALTER TABLE {table} ADD PRIMARY KEY (id)")
    mysql.query(f"UPDATE {table} SET name = 'drei' WHERE id = 'c'")
    run_mirror(mysql, tmp_path, f"{database}.*", scd2=True)
    assert_current(tmp_path, table)
    assert_equal(mysql, tmp_path, table)


@pytest.mark.mysql
@pytest.mark.parametrize("is_begun", [False, True])
@each_format
def test_versions_wait_if_a_table_is_gone_when_it_is_copied_again(
    mysql: Server, database: str, tmp_path: Path, kind: Format, *, is_begun: bool
) -> None:
    table, tables = f"{database}.items", f"{database}.*"
    mysql.query(f"CREATE DATABASE {database}")
    mysql.query(f"CREATE TABLE {database}.others (id INT PRIMARY KEY)")
    mysql.query(f"CREATE TABLE {table} (id INT PRIMARY KEY, word VARCHAR(9))")
    mysql.query(f"INSERT INTO {table} VALUES (1, 'one'), (2, 'two')")
    run_mirror(mysql, tmp_path, tables, kind, scd2=True)

    def crash(at: str) -> None:
        if at == "chunk":
            raise Crash

    if is_begun:
        with pytest.raises(Crash):
            make_mirror(mysql, tmp_path, tables, kind, crash, scd2=True, resnapshot=(table,)).run()
    mysql.query(f"DROP TABLE {table}")
    run_mirror(mysql, tmp_path, tables, kind, scd2=True, resnapshot=() if is_begun else (table,))
    mysql.query(f"CREATE TABLE {table} (id INT PRIMARY KEY, price DECIMAL(9, 2), sold DATE)")
    mysql.query(f"INSERT INTO {table} VALUES (2, 2.50, '2026-11-16'), (3, 3.50, NULL)")
    run_mirror(mysql, tmp_path, tables, kind, scd2=True)
    assert_equal(mysql, tmp_path, table, kind=kind)
