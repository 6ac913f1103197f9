"""Every command that reads logs takes the filters that `rows` has; those that do not have a reason."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import click
import pyarrow.parquet as pq
import pytest

import binspark
from binspark.changes.selection_options import SCHEMA_FILE, SELECTION_OPTIONS, TIMEZONE
from binspark.cli.main import exit_code, main
from binspark.options.option import Surface
from binspark.testing.builder import BinlogBuilder, insert, integer, table, update
from binspark.testing.servers import Server
from tests.cli.test_server_commands import position

FILTERS = [
    option.name for option in SELECTION_OPTIONS if Surface.COMMAND_LINE in option.surfaces and not option.for_batches
]
WITHOUT_FILTERS = {
    "explain": "explains the bytes of events that are chosen by position and type",
    "explore": "has its filters on the page",
    "verify": "checks that nothing is missing: of a part of the log it cannot know",
    "gtid": "calculates with GTIDs, and reads no log",
    "archive": "copies logs byte for byte",
    "mirror": "keeps tables equal to those of the source, so it selects tables only",
    "serve": "serves an archive as the server wrote it; `cut` writes another one",
    "status": "shows the metrics of another process",
    "doctor": "looks at the settings of a server",
    "demo": "writes its own logs",
}
ORDERS, VISITS = table("shop.orders", integer("id")), table("shop.visits", integer("visit"))


def commands() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(main)
    for name in main.list_commands(context):
        found = main.get_command(context, name)
        assert found is not None
        yield name, found


def test_every_command_has_all_filters_or_a_reason_to_have_none() -> None:
    expected = {*FILTERS, SCHEMA_FILE.name, TIMEZONE.name}
    for name, command in commands():
        found = {parameter.name for parameter in command.params}
        if name not in WITHOUT_FILTERS:
            assert expected <= found, name
        else:
            assert "where" not in found, f"{name} has filters, but a reason to have none"


@pytest.fixture(params=["plain", "compressed"])
def log(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Four transactions; the second and the third have rows with id = 7. Column names are in a dump only."""
    compress: Literal[True] | None = True if request.param == "compressed" else None
    builder = BinlogBuilder()
    builder.full_metadata = False
    builder.transaction(insert(ORDERS, (1,), (2,)), insert(VISITS, (7,)), compress=compress)
    builder.transaction(insert(VISITS, (7,), (8,)), insert(ORDERS, (3,), (7,), (7,)), compress=compress)
    builder.transaction(update(ORDERS, ((7,), (9,)), ((1,), (5,))), insert(ORDERS, (4,)), compress=compress)
    builder.transaction(insert(ORDERS, (6,)), compress=compress)
    builder.stop()
    (tmp_path / "dump.sql").write_text(
        "CREATE DATABASE shop; USE shop; CREATE TABLE orders (id INT); CREATE TABLE visits (visit INT);"
    )
    (found,) = builder.save(tmp_path)
    return found


Run = Callable[..., str]


@pytest.fixture
def run(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs a command with a condition, and returns what it prints."""

    def run_command(command: str, *options: str) -> str:
        where = ("--where", "before.id = 7 OR after.id = 7", "--schema-file", str(tmp_path / "dump.sql"))
        assert exit_code([command, str(log), *where, *options]) == 0
        return capsys.readouterr().out

    return run_command


def records(printed: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in printed.splitlines()]


def numbers(found: list[dict[str, Any]]) -> list[str]:
    return [record["gtid"].rpartition(":")[2] for record in found]


def test_events_with_such_rows_are_shown(run: Run) -> None:
    assert [event["type"] for event in records(run("events", "--format", "jsonl"))] == ["WRITE_ROWS", "UPDATE_ROWS"]


def test_transactions_with_such_rows_are_shown_completely(run: Run) -> None:
    found = records(run("transactions", "--format", "jsonl", "--count-rows"))
    assert numbers(found) == ["2", "3"]
    assert [(rows["table"], rows["rows"]) for rows in found[0]["rows"]] == [("visits", 2), ("orders", 3)]


def test_such_rows_are_counted(run: Run) -> None:
    (found,) = records(run("stat", "--format", "jsonl"))
    counted = {(each["table"], each["operation"]): each["rows"] for each in found["tables"]}
    assert counted == {("orders", "insert"): 2, ("orders", "update"): 1}
    assert found["transactions"]["count"] == 2


def test_a_report_counts_such_rows(run: Run) -> None:
    (found,) = records(run("report", "--format", "json"))
    activity = found["activity"]["rows_by_operation"]["values"]
    assert {name: sum(values) for name, values in activity.items()} == {"insert": 2, "update": 1}
    assert found["is_part"]
    (unfiltered,) = records(run("report", "--format", "json", "--operations", "delete"))
    assert unfiltered["contents"]["transactions"]["count"] == 0


def test_such_rows_are_printed_exported_and_cut(run: Run, tmp_path: Path) -> None:
    assert [row["op"] for row in records(run("rows", "--format", "jsonl"))] == ["insert", "insert", "update"]
    assert run("sql").count("INSERT INTO") == 2
    assert run("dump", "-v", "--base64-output=decode-rows").count("### INSERT") == 2
    run("cut", "-o", str(tmp_path / "new"))
    assert [change.op for change in binspark.rows(tmp_path / "new")] == ["insert", "insert", "update"]
    run("export", "-o", str(tmp_path / "out"))
    assert pq.read_table(tmp_path / "out" / "shop.orders").num_rows == 3


def test_logs_with_such_differences_are_compared(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty = tmp_path / "empty.000001"
    assert exit_code(["cut", str(log), "-o", str(empty), "--operations", "delete"]) == 0
    where = ("--where", "after.id = 9", "--schema-file", str(tmp_path / "dump.sql"), "--format", "jsonl")
    capsys.readouterr()
    assert exit_code(["diff", str(log), str(empty), *where]) == 1
    printed = capsys.readouterr().out
    assert ":3" in printed
    assert ":4" not in printed


@pytest.mark.parametrize("command", ["events", "transactions", "stat"])
def test_conditions_know_tables_of_earlier_logs(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = BinlogBuilder()
    builder.full_metadata = False
    builder.ddl("CREATE TABLE orders (id INT)", "shop")
    builder.rotate()
    builder.transaction(insert(ORDERS, (7,)))
    builder.stop()
    logs = list(map(str, builder.save(tmp_path)))
    arguments = [command, *logs, "--where", "id = 7", "--format", "jsonl"]
    for more in ((), ("--start-position", f"{Path(logs[1]).name}:4")):
        assert exit_code([*arguments, *more]) == 0
        (found,) = records(capsys.readouterr().out)
        assert command != "stat" or found["transactions"]["count"] == 1


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("command", ["events", "transactions", "stat", "report", "dump", "sql", "cut"])
def test_a_condition_selects_of_standard_input_what_it_selects_of_a_file(
    command: str, packed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = BinlogBuilder()
    for number in (6, 7, 8):
        builder.transaction(insert(ORDERS, (number,)))
    path = tmp_path / "binlog.000001"
    path.write_bytes(builder.content)
    new = tmp_path / "new"
    options = {"report": ["--format", "json"], "stat": ["--format", "jsonl"], "cut": ["-o", str(new)]}.get(command, [])

    def printed(log: str) -> str:
        assert exit_code([command, log, "--where", "id = 7", *options]) == 0
        if command == "cut":
            cut = new.read_bytes().hex()
            new.unlink()
            return cut
        return capsys.readouterr().out.replace(str(path), "-").replace(path.name, "-")

    of_file = printed(str(path))
    content = gzip.compress(builder.content) if packed else builder.content
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    of_input = printed("-")
    assert of_input.split() == of_file.split()
    assert printed("-") == of_input  # it is read again from the copy


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "server", [pytest.param("mysql", marks=pytest.mark.mysql), pytest.param("mariadb", marks=pytest.mark.mariadb)]
)
def test_conditions_select_what_a_server_sends(
    server: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    found: Server = request.getfixturevalue(server)
    before = position(found)
    found.run_sql(
        "CREATE DATABASE filtered; CREATE TABLE filtered.t (id INT PRIMARY KEY, note VARCHAR(40));"
        "INSERT INTO filtered.t VALUES (1, 'a'), (2, 'b'); INSERT INTO filtered.t VALUES (3, 'c');"
        "DELETE FROM filtered.t WHERE id = 2"
    )
    connection = ["-h", f"127.0.0.1:{found.port}", "-u", "root", "--no-defaults", "--format", "jsonl"]
    bounds = ["--start", before, "--until", position(found), "--tables", "filtered.t", "--where", "id = 2"]
    assert exit_code(["events", *connection, *bounds]) == 0
    assert len(records(capsys.readouterr().out)) == 2
    assert exit_code(["transactions", *connection, *bounds]) == 0
    shown = records(capsys.readouterr().out)
    assert [rows["operation"] for record in shown for rows in record["rows"]] == ["insert", "delete"]
    assert exit_code(["stat", *connection, *bounds]) == 0
    (contents,) = records(capsys.readouterr().out)
    assert {each["operation"]: each["rows"] for each in contents["tables"]} == {"insert": 1, "delete": 1}
    found.run_sql("DROP DATABASE filtered")
