"""Scripts on real servers: undone, tables are as before; done again, they are as after; in any sql_mode."""

from __future__ import annotations

import os
from random import Random, SystemRandom

import pytest

from binspark.testing.servers import Family, Server
from tests.support.mirror.every_type import every_type
from tests.support.replay.random_workload import Workload
from tests.support.servers import StartServer, database, every_family, shared
from tests.support.sql.round_trips import RowWorkload, checked_script, logs_of, run_script, script_of, tables_of

__all__ = ["database", "shared"]

SQL_MODES = (
    "",
    "ANSI_QUOTES,NO_BACKSLASH_ESCAPES",
    "STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO",
    "PAD_CHAR_TO_FULL_LENGTH,PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE,IGNORE_SPACE",
)


def undo_and_repeat(server: Server, seed: int, name: str, sql_mode: str) -> None:
    workload = RowWorkload(server, seed, name, partial_json=seed % 2 == 1)
    workload.prepare(tables=4)
    before = tables_of(server, name)
    with logs_of(server) as logs:
        workload.work(40)
    after = tables_of(server, name)
    run_script(server, checked_script(logs, undo=True, tables=f"{name}.*"), sql_mode)
    assert tables_of(server, name) == before, f"seed {seed}, undone"
    run_script(server, checked_script(logs, tables=f"{name}.*"), sql_mode)
    assert tables_of(server, name) == after, f"seed {seed}, done again"
    server.query(f"DROP DATABASE {name}")


def seeds(count: int) -> range:
    first = int(os.environ.get("BINSPARK_RANDOM_SEED") or SystemRandom().randrange(1 << 31))
    return range(first, first + count)


@every_family
@pytest.mark.parametrize("sql_mode", SQL_MODES, ids=["plain", "ansi", "strict", "padded"])
def test_random_changes_are_undone_and_done_again(shared: Server, database: str, sql_mode: str) -> None:
    for seed in seeds(1):
        undo_and_repeat(shared, seed, database, sql_mode)


@pytest.mark.slow
@every_family
def test_many_random_changes_are_undone_and_done_again(shared: Server, database: str) -> None:
    for seed in seeds(32):
        undo_and_repeat(shared, seed, database, SQL_MODES[seed % len(SQL_MODES)])


def replay_on_an_empty_server(server: Server, seed: int, name: str) -> None:
    workload = Workload(server, Random(seed), name)
    with logs_of(server) as logs:
        workload.run(40)
    after = tables_of(server, name)
    server.query(f"DROP DATABASE {name}")
    run_script(server, checked_script(logs), SQL_MODES[seed % len(SQL_MODES)])
    assert tables_of(server, name) == after, f"seed {seed}, {workload.settings}"
    server.query(f"DROP DATABASE {name}")


@every_family
def test_the_script_of_a_log_with_ddl_makes_the_same_tables(start_server: StartServer, family: Family) -> None:
    server = start_server(family)
    for seed in seeds(2):
        replay_on_an_empty_server(server, seed, f"random_{seed}")


@pytest.mark.slow
@every_family
def test_the_scripts_of_many_logs_make_the_same_tables(start_server: StartServer, family: Family) -> None:
    server = start_server(family)
    for seed in seeds(20):
        replay_on_an_empty_server(server, seed, f"random_{seed}")


@every_family
@pytest.mark.parametrize("key", ["id INT PRIMARY KEY", "id INT"], ids=["key", "no key"])
def test_values_of_every_type_are_exact(shared: Server, database: str, family: Family, key: str) -> None:
    shared.query(f"CREATE DATABASE {database}")
    creation = every_type(family, rows=40, seed=5).replace("id INT PRIMARY KEY", key)
    with logs_of(shared) as logs:
        shared.run_sql(creation, f"--database={database}")
    filled = tables_of(shared, database)
    shared.query(f"DROP TABLE {database}.every_type")
    run_script(shared, script_of(logs, tables=f"{database}.*"), SQL_MODES[1])
    assert tables_of(shared, database) == filled
    with logs_of(shared) as logs:
        shared.run_sql(
            "UPDATE every_type SET f = NULL, dd = -dd, y = 0, js = NULL, e = 1 WHERE id % 3 = 0;"
            "UPDATE every_type SET id = id + 1000, c = CONCAT(id, c) WHERE id % 3 = 1;"
            "DELETE FROM every_type WHERE id % 4 = 0; DELETE FROM every_type WHERE id > 1020;",
            f"--database={database}",
            "--init-command=SET sql_mode = ''",
        )
    run_script(shared, script_of(logs, undo=True, tables=f"{database}.*"), SQL_MODES[2])
    assert tables_of(shared, database) == filled
    shared.query(f"DROP DATABASE {database}")
