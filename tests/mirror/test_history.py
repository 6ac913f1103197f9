"""The history of changes: every change exactly once, in the order of the log, whatever interrupts the mirror."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.snapshot.copy import ChunkCopier, CopiedChunk
from binspark.mirror.targets.parse import Format
from binspark.testing.servers import Family, MariaDB, Server
from tests.support.mirror.live_mirrors import FORMATS, each_format, make_mirror, rows_of, run_mirror
from tests.support.servers import every_family

HISTORY = "binspark_history.changes"
every_format = pytest.mark.parametrize("kind", FORMATS)


class Crash(Exception):
    """A crash that a test wants."""


def create(server: Server, database: str) -> str:
    server.query(f"CREATE DATABASE {database}")
    server.query(f"CREATE TABLE {database}.items (id INT PRIMARY KEY, name VARCHAR(20))")
    server.query(f"INSERT INTO {database}.items VALUES (1, 'copied')")
    return f"{database}.items"


def changes(lake: Path, kind: Format = Format.DELTA) -> list[tuple[str, object, object]]:
    """Return the history in its order: operation, row before, row after."""
    rows = sorted(rows_of(lake, HISTORY, kind).to_pylist(), key=lambda row: row["_seq"])
    assert len({row["_seq"] for row in rows}) == len(rows)
    return [(row["_op"], *(image and json.loads(image) for image in (row["_before"], row["_after"]))) for row in rows]


@every_family
@every_format
def test_it_has_each_change_before_and_after(shared: Server, database: str, kind: Format, tmp_path: Path) -> None:
    table = create(shared, database)
    run_mirror(shared, tmp_path, table, kind, history=True)
    shared.query(f"INSERT INTO {table} VALUES (2, 'a')")
    run_mirror(shared, tmp_path, table, kind, history=True)
    shared.query(f"ALTER TABLE {table} ADD COLUMN price INT")
    shared.query(f"UPDATE {table} SET price = 5 WHERE id = 2")
    shared.query(f"DELETE FROM {table} WHERE id = 1")
    shared.query(f"TRUNCATE TABLE {table}")
    run_mirror(shared, tmp_path, table, kind, history=True)
    run_mirror(shared, tmp_path, table, kind, history=True)
    assert changes(tmp_path, kind) == [
        ("insert", None, {"id": 2, "name": "a"}),
        ("update", {"id": 2, "name": "a", "price": None}, {"id": 2, "name": "a", "price": 5}),
        ("delete", {"id": 1, "name": "copied", "price": None}, None),
        ("truncate", None, None),
    ]


@every_family
@pytest.mark.parametrize("step", ["table", "rows", "history", "before the cut", "after the cut"])
def test_a_crash_neither_loses_nor_repeats_a_change(
    shared: Server, database: str, step: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = create(shared, database)
    run_mirror(shared, tmp_path, table, history=True)
    shared.query(f"INSERT INTO {table} VALUES (2, 'a')")

    def crash(at: str) -> None:
        if at == step:
            raise Crash

    with pytest.raises(Crash):
        make_mirror(shared, tmp_path, table, checkpoint=crash, history=True).run()
    shared.query(f"INSERT INTO {table} VALUES (3, 'b')")
    run_mirror(shared, tmp_path, table, history=True)
    assert [after for _, _, after in changes(tmp_path)] == [{"id": 2, "name": "a"}, {"id": 3, "name": "b"}]
    assert "is not known" not in caplog.text


@pytest.mark.mysql
@each_format
def test_old_versions_of_it_are_removed_with_those_of_tables(
    mysql: Server, database: str, kind: Format, tmp_path: Path
) -> None:
    table = create(mysql, database)
    for number in range(2, 6):
        run_mirror(mysql, tmp_path, table, kind, history=True)
        mysql.query(f"INSERT INTO {table} VALUES ({number}, 'a')")
    mirror = make_mirror(mysql, tmp_path, table, kind, history=True, clean_up_seconds=0.001, keep_seconds=0.0)
    mirror.run()
    assert len(list(tmp_path.rglob("*changes*/**/leaf-*.parquet"))) == 1
    mysql.query(f"DELETE FROM {table} WHERE id < 4")
    run_mirror(mysql, tmp_path, table, kind, history=True)
    assert [operation for operation, _, _ in changes(tmp_path, kind)] == ["insert"] * 4 + ["delete"] * 3


@pytest.mark.mysql
@pytest.mark.parametrize("metadata", ["FULL", "MINIMAL"])
def test_changes_before_a_new_copy_have_the_columns_of_their_time(
    mysql: Server, database: str, tmp_path: Path, metadata: str
) -> None:
    table = create(mysql, database)
    run_mirror(mysql, tmp_path, table, history=True)
    mysql.query(f"SET GLOBAL binlog_row_metadata = {metadata}")
    try:
        mysql.query(f"ALTER TABLE {table} ADD made DATE DEFAULT '2024-02-29', ADD n INT AS (id + 1) STORED")
        mysql.query(f"INSERT INTO {table} (id, name) VALUES (2, 'a')")
        mysql.query(f"ALTER TABLE {table} DROP made, RENAME COLUMN name TO title")
        mysql.query(f"INSERT INTO {table} (id, title) VALUES (3, 'b')")
    finally:
        mysql.query("SET GLOBAL binlog_row_metadata = FULL")

    def crash(at: str) -> None:
        if at == "copied":
            raise Crash

    with pytest.raises(Crash):
        make_mirror(mysql, tmp_path, table, checkpoint=crash, history=True).run()
    run_mirror(mysql, tmp_path, table, history=True)
    mysql.query(f"DELETE FROM {table} WHERE id = 1")
    run_mirror(mysql, tmp_path, table, history=True)
    first, second, third = changes(tmp_path)
    assert first == ("insert", None, {"id": 2, "name": "a", "made": "2024-02-29", "n": 3})
    assert second == ("insert", None, {"id": 3, "title": "b", "n": 4})
    assert third == ("delete", {"id": 1, "title": "copied", "n": 2}, None)


@pytest.mark.mysql
def test_changes_of_a_table_whose_copy_was_given_up_have_the_columns_of_their_time(
    mysql: Server, database: str, tmp_path: Path
) -> None:
    table, other = create(mysql, database), f"{database}.other"
    mysql.query(f"CREATE TABLE {other} (id INT PRIMARY KEY, name VARCHAR(20))")
    run_mirror(mysql, tmp_path, table, history=True)
    mysql.query(f"INSERT INTO {other} VALUES (2, 'a')")
    mysql.query(f"ALTER TABLE {other} ADD n INT AS (id + 1) STORED")

    def crash(at: str) -> None:
        if at == "chunk":
            raise Crash

    with pytest.raises(Crash):
        make_mirror(mysql, tmp_path, f"{database}.*", checkpoint=crash, history=True, resnapshot=(other,)).run()
    mysql.query(f"DROP TABLE {other}")
    run_mirror(mysql, tmp_path, f"{database}.*", history=True)
    assert changes(tmp_path) == [("insert", None, {"id": 2, "name": "a"}), ("truncate", None, None)]


class CrashAt:
    """Crashes at the n-th of some steps."""

    def __init__(self, *steps: str, number: int = 1) -> None:
        self._steps = steps
        self._left = number

    def __call__(self, step: str) -> None:
        self._left -= step in self._steps
        if not self._left:
            raise Crash


def create_hosts(server: Server, database: str, key: str = " PRIMARY KEY") -> str:
    """Create a table with types that MariaDB's log has not: an address, and text of a character set."""
    server.query(f"CREATE DATABASE {database}")
    columns = f"id INT{key}, ip INET6, word VARCHAR(20) CHARACTER SET latin1"
    server.query(f"CREATE TABLE {database}.hosts ({columns})")
    server.query(f"INSERT INTO {database}.hosts VALUES (1, '::1', 'copied')")
    return f"{database}.hosts"


@pytest.mark.mariadb
@pytest.mark.parametrize("family", [MariaDB])
@each_format
@pytest.mark.parametrize("steps", [("copied",), ("chunk", "history"), ("copied", "history", "after the cut")])
def test_a_crash_after_a_new_copy_does_not_lose_the_types_of_before(
    shared: Server, database: str, family: Family, steps: tuple[str, ...], kind: Format, tmp_path: Path
) -> None:
    table = create_hosts(shared, database)
    run_mirror(shared, tmp_path, table, kind, history=True)
    shared.query(f"INSERT INTO {table} VALUES (2, '::2', 'ä')")
    shared.query(f"ALTER TABLE {table} ADD n INT AS (id + 1) STORED")
    shared.query(f"INSERT INTO {table} (id, ip, word) VALUES (3, '::3', 'ö')")
    shared.query(f"ALTER TABLE {table} RENAME COLUMN word TO name")
    shared.query(f"INSERT INTO {table} (id, ip, name) VALUES (4, '::4', 'ü')")
    shared.query(f"ALTER TABLE {table} DROP ip, MODIFY name VARCHAR(20) CHARACTER SET utf8mb4")
    shared.query(f"INSERT INTO {table} (id, name) VALUES (5, 'ß')")
    for step in steps:
        with pytest.raises(Crash):
            make_mirror(shared, tmp_path, table, kind, CrashAt(step), history=True).run()
    run_mirror(shared, tmp_path, table, kind, history=True)
    assert [after for _, _, after in changes(tmp_path, kind)] == [
        {"id": 2, "ip": "::2", "word": "ä"},
        {"id": 3, "ip": "::3", "word": "ö", "n": 4},
        {"id": 4, "ip": "::4", "name": "ü", "n": 5},
        {"id": 5, "name": "ß", "n": 6},
    ]


@pytest.mark.mariadb
@pytest.mark.parametrize("family", [MariaDB])
def test_changes_before_a_copy_that_the_user_wants_have_the_types_of_their_time(
    shared: Server, database: str, family: Family, tmp_path: Path
) -> None:
    table = create_hosts(shared, database)
    shared.query(f"CREATE TABLE {database}.other (id INT PRIMARY KEY)")
    run_mirror(shared, tmp_path, f"{database}.*", history=True)
    shared.query(f"INSERT INTO {table} VALUES (2, '::2', 'ä')")
    shared.query(f"ALTER TABLE {table} DROP ip, MODIFY word VARCHAR(20) CHARACTER SET utf8mb4")
    shared.query(f"INSERT INTO {table} VALUES (3, 'ö')")
    crash = CrashAt("chunk", "copied", number=2)
    with pytest.raises(Crash):
        make_mirror(shared, tmp_path, f"{database}.*", checkpoint=crash, history=True, resnapshot=(table,)).run()
    run_mirror(shared, tmp_path, f"{database}.*", history=True)
    assert [after for _, _, after in changes(tmp_path)] == [{"id": 2, "ip": "::2", "word": "ä"}, {"id": 3, "word": "ö"}]


@pytest.mark.mariadb
@pytest.mark.parametrize("family", [MariaDB])
def test_changes_before_a_table_without_a_key_is_locked_have_their_types(
    shared: Server,
    database: str,
    family: Family,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    table = create_hosts(shared, database, key="")
    shared.query(f"CREATE TABLE {database}.other (id INT PRIMARY KEY)")  # is copied at the position before the lock
    written = iter((f"INSERT INTO {table} VALUES (2, '::2', 'ä')", f"INSERT INTO {table} VALUES (3, '::3', 'ö')"))

    class Writing(ChunkCopier):
        def copy(self, copied: MirroredTable, *others: Any) -> CopiedChunk:
            if str(copied.name) == table:
                shared.query(next(written))
            return super().copy(copied, *others)

    monkeypatch.setattr("binspark.mirror.copying.ChunkCopier", Writing)
    with pytest.raises(Crash):
        make_mirror(shared, tmp_path, f"{database}.*", checkpoint=CrashAt("copied", number=2), history=True).run()
    run_mirror(shared, tmp_path, f"{database}.*", history=True)
    run_mirror(shared, tmp_path, f"{database}.*", history=True, resnapshot=(table,))
    shared.query(f"INSERT INTO {table} VALUES (4, '::4', 'ü')")
    run_mirror(shared, tmp_path, f"{database}.*", history=True)
    assert [after for _, _, after in changes(tmp_path)] == [
        {"id": 2, "ip": "::2", "word": "ä"},
        {"id": 3, "ip": "::3", "word": "ö"},
        {"id": 4, "ip": "::4", "word": "ü"},
    ]
    assert "is not known" not in caplog.text


@pytest.mark.mysql
def test_it_has_the_changes_before_a_new_copy_of_the_only_table(mysql: Server, database: str, tmp_path: Path) -> None:
    table = create(mysql, database)
    run_mirror(mysql, tmp_path, table, history=True)
    mysql.query(f"ALTER TABLE {table} ADD n INT AS (id + 1) STORED")
    mysql.query(f"INSERT INTO {table} (id, name) VALUES (2, 'a')")
    with pytest.raises(Crash):
        make_mirror(mysql, tmp_path, table, checkpoint=CrashAt("chunk"), history=True).run()
    mysql.query(f"INSERT INTO {table} (id, name) VALUES (3, 'b')")
    run_mirror(mysql, tmp_path, table, history=True)
    assert [after for _, _, after in changes(tmp_path)] == [
        {"id": 2, "name": "a", "n": 3},
        {"id": 3, "name": "b", "n": 4},
    ]


@pytest.mark.mariadb
@pytest.mark.parametrize("family", [MariaDB])
def test_a_definition_that_is_not_known_is_named(
    shared: Server, database: str, family: Family, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = create_hosts(shared, database)
    shared.query(f"CREATE TABLE {database}.other (id INT PRIMARY KEY)")
    run_mirror(shared, tmp_path, f"{database}.other", history=True)
    shared.query(f"INSERT INTO {table} VALUES (2, '::2', 'ä')")
    with pytest.raises(Crash):
        make_mirror(
            shared, tmp_path, f"{database}.*", checkpoint=CrashAt("copied"), history=True, resnapshot=(table,)
        ).run()
    run_mirror(shared, tmp_path, f"{database}.*", history=True)
    assert f"{table}: its definition before" in caplog.text
    assert len(changes(tmp_path)) == 1


@pytest.mark.mariadb
@pytest.mark.parametrize("family", [MariaDB])
def test_definitions_from_before_a_gap_are_forgotten(
    shared: Server, database: str, family: Family, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = create_hosts(shared, database)
    run_mirror(shared, tmp_path, table, history=True)
    shared.query(f"ALTER TABLE {table} ADD n INT AS (id + 1) STORED")
    with pytest.raises(Crash):
        make_mirror(shared, tmp_path, table, checkpoint=CrashAt("copied"), history=True).run()
    shared.query(f"ALTER TABLE {table} RENAME COLUMN word TO name")
    run_mirror(shared, tmp_path, table)
    run_mirror(shared, tmp_path, table, history=True)
    assert "lacks the changes from" in caplog.text
    shared.query(f"INSERT INTO {table} (id, ip, name) VALUES (2, '::2', 'ä')")
    shared.query(f"ALTER TABLE {table} DROP n, ADD m INT AS (id + 1) STORED")
    with pytest.raises(Crash):
        make_mirror(shared, tmp_path, table, checkpoint=CrashAt("copied"), history=True).run()
    run_mirror(shared, tmp_path, table, history=True)
    assert [after for _, _, after in changes(tmp_path)] == [{"id": 2, "ip": "::2", "name": "ä", "n": 3}]


@pytest.mark.mysql
def test_a_gap_is_named(mysql: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = create(mysql, "history_gap")
    run_mirror(mysql, tmp_path, table, history=True)
    mysql.query(f"INSERT INTO {table} VALUES (2, 'lost')")
    run_mirror(mysql, tmp_path, table)
    mysql.query(f"INSERT INTO {table} VALUES (3, 'kept')")
    with caplog.at_level(logging.WARNING, "binspark.mirror"):
        run_mirror(mysql, tmp_path, table, history=True)
    assert "binspark_history.changes lacks the changes from" in caplog.text
    assert [after for _, _, after in changes(tmp_path)] == [{"id": 3, "name": "kept"}]
