"""A repair of a table corrects the versions of its rows that are current, and leaves those before them as they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from binspark.mirror.check import repair as repair_module
from binspark.mirror.check.run import check
from binspark.mirror.check.settings import CheckSettings
from binspark.mirror.schema.definitions import as_mirrored, read_stored
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS
from binspark.mirror.schema.version_table import versioned
from binspark.mirror.snapshot.read import read_literal_keys
from binspark.mirror.source.change_source import TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.schema.table import TableName
from binspark.testing.servers import Server
from tests.support.mirror.copies import edit_rows
from tests.support.mirror.live_mirrors import assert_equal, each_family, each_format, rows_of, run_mirror
from tests.support.mirror.tables import reached


def versions(lake: Path, table: str, kind: Format) -> list[tuple[Any, ...]]:
    """Return all versions in their order: key, value, whether it is current."""
    rows = rows_of(lake, f"{table}__scd2", kind).to_pylist()
    rows.sort(key=lambda row: (row["id"], row["_until"]))
    for row in rows:
        assert row["_is_current"] == (row["_valid_to"] is None)
        assert row["_is_current"] or row["_valid_from"] <= row["_valid_to"]
    return [(row["id"], row["name"], row["_is_current"]) for row in rows]


def repair(server: Server, lake: Path, table: str, kind: Format) -> int:
    """Repair a table, and return how many rows were."""
    settings = CheckSettings(wait_seconds=0, repair=True)
    report = check(reached(server), parse_target(str(lake), kind), TablePatterns(frozenset({table})), settings)
    assert report.is_equal, report.lines()
    [found, versions] = report.tables
    assert versions.repaired == 0  # a repair of the table has corrected them
    return found.repaired


@each_family
@each_format
def test_versions_that_are_current_become_the_rows_of_the_source(
    shared: Server, database: str, lake: Path, kind: Format
) -> None:
    table = f"{database}.items"
    shared.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {table} (id VARCHAR(9) PRIMARY KEY, name VARCHAR(20));"
        f"INSERT INTO {table} VALUES ('a', 'one'), ('b', 'two'), ('d', 'four')"
    )
    run_mirror(shared, lake, table, kind, scd2=True)
    shared.run_sql(f"UPDATE {table} SET name = 'uno' WHERE id = 'a'")
    run_mirror(shared, lake, table, kind, scd2=True)
    shared.run_sql(
        f"SET sql_log_bin = 0; UPDATE {table} SET name = 'eins' WHERE id = 'a';"
        f"DELETE FROM {table} WHERE id = 'b'; INSERT INTO {table} VALUES ('c', 'three')"
    )
    assert repair(shared, lake, table, kind) == 3
    repaired = [("a", "one", False), ("a", "uno", False), ("a", "eins", True), ("b", "two", False)]
    assert versions(lake, table, kind) == [*repaired, ("c", "three", True), ("d", "four", True)]
    shared.run_sql(f"UPDATE {table} SET name = 'un' WHERE id = 'a'; INSERT INTO {table} VALUES ('b', 'again')")
    run_mirror(shared, lake, table, kind, scd2=True)
    assert versions(lake, table, kind) == [
        ("a", "one", False),
        ("a", "uno", False),
        ("a", "eins", False),
        ("a", "un", True),
        ("b", "two", False),
        ("b", "again", True),
        ("c", "three", True),
        ("d", "four", True),
    ]


@each_family
def test_a_version_that_is_right_goes_on(shared: Server, database: str, lake: Path) -> None:
    name = TableName(database, "items")
    shared.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {name} (id INT PRIMARY KEY, name VARCHAR(20));"
        f"INSERT INTO {name} VALUES (1, 'one'), (2, 'two')"
    )
    run_mirror(shared, lake, str(name), scd2=True)
    before = rows_of(lake, f"{name}__scd2").to_pylist()
    target = parse_target(str(lake))
    table = target.table(name)
    assert table is not None
    state = table.read().state
    assert state is not None
    mirrored = as_mirrored(*read_stored(state.definition), target.column_type, MIRROR_OPTIONS)
    edit_rows(table, mirrored, lambda rows: rows.slice(1))
    assert repair(shared, lake, str(name), Format.DELTA) == 1
    assert rows_of(lake, f"{name}__scd2").to_pylist() == before


@each_family
@each_format
def test_versions_that_differ_from_their_table_are_found_and_repaired(
    shared: Server, database: str, lake: Path, kind: Format
) -> None:
    name, own = TableName(database, "items"), TableName(database, "items__scd2")
    shared.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {name} (id VARCHAR(9) PRIMARY KEY, name VARCHAR(20));"
        f"INSERT INTO {name} VALUES ('a', 'one'), ('b', 'two'), ('c', 'three')"
    )
    run_mirror(shared, lake, str(name), kind, scd2=True)
    target = parse_target(str(lake), kind)
    table = target.table(own)
    assert table is not None
    state = table.read().state
    assert state is not None
    found = as_mirrored(*read_stored(state.definition), target.column_type, MIRROR_OPTIONS)
    mirrored = replace(versioned(found, target.column_type), key=state.key)

    def plant(rows: pa.Table) -> pa.Table:
        """Change one version, remove another, and add one for a row that is not there."""
        changed = [{**row, "name": "uno"} if row["id"] == "a" else row for row in rows.to_pylist() if row["id"] != "b"]
        return pa.Table.from_pylist([*changed, {**changed[0], "id": "d"}], rows.schema)

    edit_rows(table, mirrored, plant)
    chosen = TablePatterns(frozenset({str(name)}))
    first, versions_found = check(reached(shared), target, chosen, CheckSettings(wait_seconds=0)).tables
    assert first.is_equal
    assert [each.describe() for each in versions_found.differences] == [
        "different id=a; name: source 'one', mirror 'uno'",
        "missing id=b",
        "extra id=d",
    ]
    assert versions_found.differing == 3
    again = check(reached(shared), target, chosen, CheckSettings(wait_seconds=0, repair=True))
    assert [each.repaired for each in again.tables] == [0, 3]
    assert again.is_equal
    assert versions(lake, str(name), kind) == [
        ("a", "uno", False),
        ("a", "one", True),
        ("b", "two", True),
        ("c", "three", True),
        ("d", "uno", False),
    ]
    shared.run_sql(f"UPDATE {name} SET name = 'un' WHERE id = 'a'")
    run_mirror(shared, lake, str(name), kind, scd2=True, accept_foreign=True)
    last = check(reached(shared), target, chosen, CheckSettings(wait_seconds=0))
    assert last.is_equal, list(last.lines())


@pytest.mark.mysql
def test_a_repair_does_not_undo_what_the_mirror_commits_meanwhile(
    mysql: Server, database: str, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = f"{database}.items"
    mysql.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {table} (id VARCHAR(9) PRIMARY KEY, name VARCHAR(20));"
        f"INSERT INTO {table} VALUES ('a', 'one'), ('b', 'two')"
    )
    run_mirror(mysql, lake, table, scd2=True)
    mysql.run_sql(f"SET sql_log_bin = 0; UPDATE {table} SET name = 'uno' WHERE id = 'a'")
    waiting = [True]

    def read_before_a_change(*arguments: Any) -> pa.Table:
        rows = read_literal_keys(*arguments)
        if waiting:
            waiting.pop()
            mysql.query(f"UPDATE {table} SET name = 'eins' WHERE id = 'a'")
            run_mirror(mysql, lake, table, scd2=True)
        return rows

    monkeypatch.setattr(repair_module, "read_literal_keys", read_before_a_change)
    repair(mysql, lake, table, Format.DELTA)
    assert_equal(mysql, lake, table)
    assert versions(lake, table, Format.DELTA) == [("a", "one", False), ("a", "eins", True), ("b", "two", True)]
