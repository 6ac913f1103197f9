"""`binspark mirror --check`: exit codes and what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from binspark.cli.main import main
from binspark.mirror.targets.parse import parse_target
from binspark.schema.table import TableName
from binspark.testing.servers import Server
from tests.support.mirror.copies import edit_rows, mirror_table

pytestmark = pytest.mark.mysql


def run(server: Server, lake: Path, *options: str, tables: str = "cli_check.*") -> Result:
    address = ("--host", "127.0.0.1", "--port", str(server.port), "--user", "root")
    return CliRunner().invoke(
        main, ["mirror", *address, "--tables", tables, "--target", str(lake), "--check", *options]
    )


@pytest.fixture(scope="module")
def lake(mysql: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    mysql.query("CREATE DATABASE cli_check")
    mysql.query("CREATE TABLE cli_check.items (id INT PRIMARY KEY, name VARCHAR(20))")
    mysql.query("INSERT INTO cli_check.items VALUES (1, 'a'), (2, 'b'), (3, NULL)")
    target = parse_target(str(folder))
    table, mirrored = mirror_table(mysql, target, TableName("cli_check", "items"))
    edit_rows(table, mirrored, lambda rows: rows.slice(1))
    return folder


def test_what_differs_is_printed_and_repaired(mysql: Server, lake: Path) -> None:
    found = run(mysql, lake)
    assert (found.exit_code, found.stdout.splitlines()) == (
        1,
        ["cli_check.items: differing: 1 row; compared: 3 rows in 1 range", "  missing id=1"],
    )
    as_json = run(mysql, lake, "--progress", "jsonl")
    (report,) = (json.loads(line) for line in as_json.stdout.splitlines())
    assert report["differences"] == [{"kind": "missing", "key": {"id": "1"}, "columns": {}}]
    repaired = run(mysql, lake, "--repair")
    assert repaired.stdout.splitlines()[0] == "cli_check.items: equal, 3 rows in 1 range; repaired: 1 row"
    again = run(mysql, lake, "--exact")
    assert (again.exit_code, again.stdout) == (0, "cli_check.items: equal, 3 rows in 1 range\n")


def test_wrong_use_is_named(mysql: Server, lake: Path) -> None:
    unknown = run(mysql, lake, tables="other.*")
    assert unknown.exit_code == 2
    assert "--tables must match a table of" in unknown.stderr
    logs = CliRunner().invoke(main, ["mirror", "logs/", "--tables", "a.b", "--target", str(lake), "--check"])
    assert logs.exit_code == 2
    assert "--check compares a mirror with a server: give --host instead of LOG" in logs.stderr
