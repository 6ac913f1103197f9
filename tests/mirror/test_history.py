"""The history of changes: every change exactly once, in the order of the log, whatever interrupts the mirror."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from binspark.mirror.targets.parse import Format
from binspark.testing.servers import Server
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
def test_a_crash_neither_loses_nor_repeats_a_change(shared: Server, database: str, step: str, tmp_path: Path) -> None:
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
    names = ("id", "name", "made", "n") if metadata == "FULL" else ("@1", "@2", "@3", "@4")
    assert first == ("insert", None, dict(zip(names, (2, "a", "2024-02-29", 3), strict=True)))
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
