"""A mirror that is killed at any step continues: nothing is lost, and nothing is applied twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from binspark.mirror.targets.parse import Format
from binspark.testing.servers import Server
from tests.mirror.test_mirror_rows import create_orders
from tests.support.mirror.live_mirrors import assert_equal, each_format, make_mirror, run_mirror

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(180)]


class Killed(BaseException):
    """What a kill looks like to a process: nothing after it is executed, no handler of errors either."""


def kill_at(number: int, names: list[str]) -> Callable[[str], None]:
    """Return what kills a mirror at its n-th step; the names of all steps are noted."""

    def checkpoint(step: str) -> None:
        names.append(step)
        if len(names) == number:
            raise Killed

    return checkpoint


def run_killed(server: Server, lake: Path, tables: str, kind: Format, number: int) -> list[str]:
    """Run a mirror that is killed at its n-th step; return the steps that it came to."""
    steps: list[str] = []
    try:
        make_mirror(server, lake, tables, kind, kill_at(number, steps), rows_per_chunk=60).run()
    except Killed:
        return steps
    return [*steps, "end"]


def change(server: Server, database: str, orders: str) -> None:
    """Change rows and tables in all ways: a mirror applies it in several ranges."""
    server.query(f"UPDATE {orders} SET amount = amount + 1 WHERE id % 3 = 0")
    server.query(f"INSERT INTO {database}.log VALUES (7), (7), (8)")
    server.query(f"ALTER TABLE {orders} ADD state VARCHAR(9) NOT NULL DEFAULT 'open', RENAME COLUMN name TO title")
    server.query(f"UPDATE {orders} SET id = id + 1000, state = 'moved' WHERE id < 10")
    server.query(f"DELETE FROM {database}.log WHERE a = 7 LIMIT 1")
    server.query(f"RENAME TABLE {database}.spare TO {database}.third, {database}.other TO {database}.spare")
    server.query(f"INSERT INTO {database}.spare VALUES (9, 9)")
    server.query(f"CREATE TABLE {database}.made AS SELECT id, state FROM {orders}")
    server.query(f"TRUNCATE TABLE {database}.third")
    server.query(f"INSERT INTO {database}.third VALUES (5)")
    server.query(f"DELETE FROM {orders} WHERE id % 5 = 0")


@each_format
def test_every_step_of_a_run_may_be_the_last(mysql: Server, database: str, tmp_path: Path, kind: Format) -> None:
    orders = create_orders(mysql, database, 200)
    mysql.query(f"CREATE TABLE {database}.log (a INT)")
    mysql.query(f"INSERT INTO {database}.log VALUES (7), (7)")
    mysql.query(f"CREATE TABLE {database}.spare (id INT PRIMARY KEY)")
    mysql.query(f"CREATE TABLE {database}.other (id INT PRIMARY KEY, n INT)")
    mysql.query(f"INSERT INTO {database}.spare VALUES (1), (2)")
    mysql.query(f"INSERT INTO {database}.other VALUES (1, 1), (2, 2)")
    lake = tmp_path / "lake"
    seen: set[str] = set()
    for number in range(1, 100):
        steps = run_killed(mysql, lake, f"{database}.*", kind, number)
        seen |= set(steps)
        if steps[-1] == "end":
            break
    assert {"chunk", "copied"} <= seen
    change(mysql, database, orders)
    for number in range(1, 100):
        steps = run_killed(mysql, lake, f"{database}.*", kind, number % 7 + 1)
        seen |= set(steps)
        if steps[-1] == "end":
            break
    assert {"table", "rows", "statement", "before the cut", "after the cut"} <= seen
    names = (f"{database}.{name}" for name in ("orders", "log", "spare", "third", "made"))
    assert_equal(mysql, lake, *names, kind=kind)


@each_format
@pytest.mark.parametrize("step", ["pending", "renamed"])
def test_a_schema_change_is_finished_by_the_next_run(
    mysql: Server, database: str, lake: Path, kind: Format, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from binspark.mirror.tables.open_table import OpenTable

    orders = create_orders(mysql, database, 100)
    run_mirror(mysql, lake, f"{database}.*", kind)
    mysql.query(f"UPDATE {orders} SET amount = 0 WHERE id < 50")
    mysql.query(f"ALTER TABLE {orders} RENAME TO {database}.sales, ADD n INT DEFAULT 5, DROP name")
    mysql.query(f"INSERT INTO {database}.sales VALUES (900, 1, 2)")
    commit = OpenTable.commit

    def killed(table: OpenTable, *arguments: object, **named: object) -> None:
        is_change = table.state.pending is not None
        if is_change and step == "renamed":
            raise Killed
        commit(table, *arguments, **named)  # type: ignore[arg-type]
        if table.state.pending is not None and step == "pending":
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(OpenTable, "commit", killed)
        with pytest.raises(Killed):
            run_mirror(mysql, lake, f"{database}.*", kind)
    run_mirror(mysql, lake, f"{database}.*", kind)
    assert_equal(mysql, lake, f"{database}.sales", kind=kind)


def test_a_table_that_has_to_be_copied_again_is_copied_by_the_next_run(
    mysql: Server, database: str, lake: Path
) -> None:
    orders = create_orders(mysql, database, 100)
    run_mirror(mysql, lake, f"{database}.*")
    mysql.query(f"ALTER TABLE {orders} ADD twice INT AS (amount * 2) STORED")

    def kill(step: str) -> None:
        if step == "after the cut":
            raise Killed

    with pytest.raises(Killed):
        make_mirror(mysql, lake, f"{database}.*", checkpoint=kill).run()
    run_mirror(mysql, lake, f"{database}.*")
    assert_equal(mysql, lake, orders)
