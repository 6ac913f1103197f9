"""MariaDB's tables that keep their old rows, and its sequences, in scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from binspark.cli.main import exit_code
from binspark.testing.servers import Server
from tests.support.servers import database
from tests.support.sql.round_trips import checked_script, logs_of, run_script

__all__ = ["database"]

TABLES = {
    "keyed": "id INT PRIMARY KEY, a VARCHAR(10), doubled INT AS (id * 2) STORED",
    "bare": "id INT, a VARCHAR(10)",
    "named": (
        "id INT PRIMARY KEY, a VARCHAR(10), since TIMESTAMP(6) GENERATED ALWAYS AS ROW START INVISIBLE,"
        " until TIMESTAMP(6) GENERATED ALWAYS AS ROW END INVISIBLE, PERIOD FOR SYSTEM_TIME (since, until)"
    ),
}
WORK = (
    "UPDATE {0} SET a = 'x' WHERE id = 1; DELETE FROM {0} WHERE id IN (2, 3);"
    "INSERT INTO {0} (id, a) VALUES (9, 'nine'); UPDATE {0} SET id = 8 WHERE id = 9;"
    "REPLACE INTO {0} (id, a) VALUES (4, 'vier');"
    "DELETE FROM {0} WHERE id = 5; INSERT INTO {0} (id, a) VALUES (5, 'again');"
)


def contents(server: Server, name: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return the current rows of the tables."""
    return {table: server.query(f"SELECT id, a FROM {name}.{table} ORDER BY id, a") for table in TABLES}


def versioned(server: Server, name: str) -> tuple[list[Path], list[Path]]:
    """Create tables and work on them; return the logs of the creation, and of the work."""
    with logs_of(server) as created:
        server.run_sql(
            f"CREATE DATABASE {name}; USE {name};"
            + "".join(f"CREATE TABLE {table} ({columns}) WITH SYSTEM VERSIONING;" for table, columns in TABLES.items())
            + "".join(
                f"INSERT INTO {table} (id, a) VALUES (1,'a'),(2,'b'),(3,'c'),(4,'d'),(5,'e');" for table in TABLES
            )
        )
    with logs_of(server) as logs:
        server.run_sql("".join(map(WORK.format, TABLES)), f"--database={name}")
    return created, logs


@pytest.mark.mariadb
def test_changes_of_versioned_tables_are_undone_and_done_again(mariadb: Server, database: str) -> None:
    created, logs = versioned(mariadb, database)
    after = contents(mariadb, database)
    options = {"tables": f"{database}.*", "start_position": f"{logs[0].name}:4"}
    run_script(mariadb, checked_script([*created, *logs], undo=True, **options))
    assert contents(mariadb, database) == {table: [(n, "abcde"[n - 1]) for n in range(1, 6)] for table in TABLES}
    run_script(mariadb, checked_script([*created, *logs], **options))
    assert contents(mariadb, database) == after


@pytest.mark.mariadb
def test_a_server_says_which_of_its_tables_are_versioned(
    mariadb: Server, database: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    _, logs = versioned(mariadb, database)
    host = ["--no-defaults", "--host", f"127.0.0.1:{mariadb.port}", "--user", "root", "--start", f"{logs[0].name}:4"]
    capfdbinary.readouterr()
    assert exit_code(["sql", *host, "--undo", "--tables", f"{database}.*"]) == 0
    run_script(mariadb, capfdbinary.readouterr().out)
    assert contents(mariadb, database) == {table: [(n, "abcde"[n - 1]) for n in range(1, 6)] for table in TABLES}


@pytest.mark.mariadb
def test_sequences_continue_as_in_the_log_and_are_not_undone(mariadb: Server, database: str) -> None:
    mariadb.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE SEQUENCE s START WITH 5 INCREMENT BY 3 CACHE 2;"
        f"CREATE TABLE t (id INT PRIMARY KEY DEFAULT NEXTVAL(s), a INT)"
    )
    with logs_of(mariadb) as logs:
        mariadb.run_sql("INSERT INTO t (a) VALUES (1), (2), (3);", f"--database={database}")
    run_script(mariadb, checked_script(logs, undo=True, tables=f"{database}.*"))
    assert mariadb.query(f"SELECT COUNT(*) FROM {database}.t") == [(0,)]
    mariadb.run_sql("DROP SEQUENCE s; CREATE SEQUENCE s START WITH 5 INCREMENT BY 3 CACHE 2", f"--database={database}")
    run_script(mariadb, checked_script(logs, tables=f"{database}.*"))
    assert mariadb.query(f"SELECT id, a FROM {database}.t ORDER BY id") == [(5, 1), (8, 2), (11, 3)]
    assert mariadb.query(f"SELECT NEXTVAL({database}.s)") == [(17,)]
