"""A repair of a table corrects the versions of its rows that are current, and leaves those before them as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from binspark.mirror.check.run import check
from binspark.mirror.check.settings import CheckSettings
from binspark.mirror.schema.definitions import as_mirrored, read_stored
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS
from binspark.mirror.source.change_source import TablePatterns
from binspark.mirror.targets.parse import Format, parse_target
from binspark.schema.table import TableName
from binspark.testing.servers import Server
from tests.support.mirror.copies import edit_rows
from tests.support.mirror.live_mirrors import each_family, each_format, rows_of, run_mirror
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
    [found] = report.tables
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
