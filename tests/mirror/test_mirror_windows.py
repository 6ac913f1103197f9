"""Moments at which a row could get into a mirror twice, or that of another table: something happens at each of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from threading import Lock

import pytest

from binspark.errors import SourceError
from binspark.mirror import run as run_module
from binspark.mirror.leaves import LeafLimits
from binspark.mirror.targets.delta.table import DeltaTargetTable
from binspark.mirror.targets.iceberg.table import IcebergTargetTable
from binspark.mirror.targets.parse import Format
from binspark.mirror.targets.target import Commit, TableVersion
from binspark.testing.servers import Server
from tests.support.mirror.live_mirrors import assert_equal, each_format, make_mirror, run_mirror

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(180)]


class Killed(BaseException):
    """What a kill looks like to a process."""


def create(server: Server, database: str, prefix: str = "") -> None:
    """Create two tables with a key and two without, of the same columns, with different rows."""
    for name, key, first in (("one", " PRIMARY KEY", 1), ("two", " PRIMARY KEY", 91), ("bag", "", 1), ("box", "", 91)):
        server.query(f"CREATE TABLE {database}.{prefix}{name} (id INT{key}, word VARCHAR(9))")
        rows = (f"({number}, '{name}')" for number in range(first, first + 145))
        server.query(f"INSERT INTO {database}.{prefix}{name} VALUES {', '.join(rows)}")


def tables_of(server: Server, database: str) -> list[str]:
    """Return the names of all tables of a database."""
    return [f"{database}.{name}" for (name,) in server.query(f"SHOW TABLES FROM {database}")]


def at_step(step: str, happens: Callable[[], None], number: int = 1) -> Callable[[str], None]:
    """Return a checkpoint at which something happens, when a mirror comes to a step for the n-th time."""
    times, calling = itertools.count(1), Lock()

    def checkpoint(name: str) -> None:
        with calling:  # tables are copied by several threads
            if name == step and next(times) == number:
                happens()

    return checkpoint


def kill() -> None:
    """Kill a mirror."""
    raise Killed


SWAPPED = (
    "RENAME TABLE {t}one TO {t}x, {t}two TO {t}one, {t}x TO {t}two, {t}bag TO {t}x, {t}box TO {t}bag, {t}x TO {t}box"
)
REPLACED = (
    "CREATE TABLE {t}new LIKE {t}one; INSERT INTO {t}new SELECT id + 7, 'new' FROM {t}one;"
    "RENAME TABLE {t}one TO {t}old, {t}new TO {t}one; UPDATE {t}one SET word = 'later' WHERE id > 100"
)
CREATED_ANEW = (
    "DROP TABLE {t}one, {t}bag; CREATE TABLE {t}one LIKE {t}two; CREATE TABLE {t}bag LIKE {t}box;"
    "INSERT INTO {t}one SELECT id, 'anew' FROM {t}two; INSERT INTO {t}bag SELECT id, 'anew' FROM {t}two"
)
EMPTIED = (
    "TRUNCATE TABLE {t}one; TRUNCATE TABLE {t}bag; INSERT INTO {t}one VALUES (100, 'x');"
    "INSERT INTO {t}bag VALUES (100, 'x'), (100, 'x')"
)


@each_format
def test_tables_that_become_others_with_the_same_columns_while_they_are_copied(
    mysql: Server, database: str, lake: Path, kind: Format
) -> None:
    mysql.query(f"CREATE DATABASE {database}")
    changes = {"a": SWAPPED, "b": REPLACED, "c": CREATED_ANEW, "d": EMPTIED}
    for prefix in changes:
        create(mysql, database, prefix)

    def change_tables() -> None:
        for prefix, sql in changes.items():
            mysql.run_sql(sql.format(t=f"{database}.{prefix}"))
        raise Killed

    changing = at_step("chunk", change_tables, number=9)
    with pytest.raises(Killed):
        make_mirror(mysql, lake, f"{database}.*", kind, changing, rows_per_chunk=50).run()
    run_mirror(mysql, lake, f"{database}.*", kind, rows_per_chunk=50)
    assert_equal(mysql, lake, *tables_of(mysql, database), kind=kind)


@each_format
def test_a_commit_whose_answer_is_lost_is_not_made_twice(
    mysql: Server, database: str, lake: Path, kind: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    mysql.query(f"CREATE DATABASE {database}")
    create(mysql, database)
    table = DeltaTargetTable if kind is Format.DELTA else IcebergTargetTable
    commit, answered = table.commit, set()

    def without_answer(self: DeltaTargetTable | IcebergTargetTable, change: Commit) -> TableVersion:
        """Commit, and lose every other answer."""
        version = commit(self, change)  # type: ignore[arg-type]
        lost = (self.name, change.state.position.offset)
        if lost not in answered:
            answered.add(lost)
            raise SourceError("the connection to the target was lost")
        return version

    monkeypatch.setattr(table, "commit", without_answer)
    monkeypatch.setattr(run_module, "_FIRST_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(run_module, "_MAX_WAIT_SECONDS", 0.0)
    for number in range(2):
        run_mirror(mysql, lake, f"{database}.*", kind, history=True, scd2=True, retry_attempts=50)
        for name in tables_of(mysql, database):
            mysql.query(f"INSERT INTO {name} SELECT id + 1000 * {number + 1}, word FROM {name} WHERE id < 300")
            mysql.query(f"DELETE FROM {name} WHERE id % 7 = {number}")
    run_mirror(mysql, lake, f"{database}.*", kind, history=True, scd2=True, retry_attempts=50)
    assert len(answered) > 8
    assert_equal(mysql, lake, *tables_of(mysql, database), kind=kind)


@each_format
def test_copies_of_a_row_in_several_files_are_counted_once_after_a_kill(
    mysql: Server, database: str, lake: Path, kind: Format
) -> None:
    bag = f"{database}.bag"
    mysql.query(f"CREATE DATABASE {database}")
    mysql.query(f"CREATE TABLE {bag} (a INT, b VARCHAR(300))")
    limits = LeafLimits(leaf_bytes=2000, row_group_rows=10, row_group_bytes=1 << 10, memory_bytes=1 << 12)
    for number in range(4):
        copies = ", ".join(f"({each % 5}, SHA2({each % 40}, 512))" for each in range(100))
        mysql.query(f"INSERT INTO {bag} VALUES {copies}")
        mysql.query(f"DELETE FROM {bag} WHERE a = {number} LIMIT 11")
        step = ("chunk", "table", "before the cut", "rows")[number]
        with pytest.raises(Killed):
            make_mirror(mysql, lake, bag, kind, at_step(step, kill), limits=limits).run()
        mysql.query(f"UPDATE {bag} SET a = a + 1 WHERE a = {number + 1} LIMIT 13")
        run_mirror(mysql, lake, bag, kind, limits=limits)
        assert_equal(mysql, lake, bag, kind=kind)


@each_format
def test_a_key_that_is_dropped_while_its_table_is_copied(
    mysql: Server, database: str, lake: Path, kind: Format
) -> None:
    table = f"{database}.one"
    mysql.query(f"CREATE DATABASE {database}")
    create(mysql, database)

    def drop_key() -> None:
        mysql.query(f"ALTER TABLE {table} DROP PRIMARY KEY")

    make_mirror(mysql, lake, table, kind, at_step("chunk", drop_key), rows_per_chunk=20).run()
    assert_equal(mysql, lake, table, kind=kind)
