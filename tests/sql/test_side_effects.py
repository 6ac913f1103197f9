"""What `sql` says about a server whose triggers and foreign keys change more than a script does."""

from __future__ import annotations

import pytest

from binspark.cli.main import exit_code
from binspark.testing.servers import Family, MariaDB, Server
from tests.support.servers import database, every_family, shared
from tests.support.sql.round_trips import logs_of

__all__ = ["database", "shared"]


@every_family
def test_triggers_and_cascades_that_are_not_logged_are_reported(
    shared: Server, database: str, family: Family, capfd: pytest.CaptureFixture[str]
) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE parent (id INT PRIMARY KEY); "
        "CREATE TABLE log (n INT);"
        "CREATE TABLE child (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES parent (id)"
        " ON DELETE CASCADE); CREATE TRIGGER noted AFTER DELETE ON parent FOR EACH ROW INSERT INTO log VALUES (OLD.id);"
        "INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (1, 1);"
    )
    with logs_of(shared) as logs:
        shared.query(f"DELETE FROM {database}.parent")
    host = ["--no-defaults", "--host", f"127.0.0.1:{shared.port}", "--user", "root", "--start", f"{logs[0].name}:4"]
    capfd.readouterr()
    assert exit_code(["sql", *host, "--undo", "--tables", f"{database}.*"]) == 0
    printed = capfd.readouterr()
    assert f"{database}.parent has triggers (noted)" in printed.err
    is_lost = f"rows of {database}.child with those of {database}.parent" in printed.err
    assert is_lost == (f"INSERT INTO `{database}`.`child`" not in printed.out) == (family is MariaDB)
    assert exit_code(["sql", *host, "--undo", "--tables", f"{database}.log"]) == 0
    assert capfd.readouterr().err == ""
