"""Every command that reads files reads a server, too: events, transactions and rows, with statements and DDL."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from binspark.cli.main import exit_code
from binspark.testing.servers import MariaDB, MySQL, Server

pytestmark = [pytest.mark.timeout(120)]
_NUMBERS = itertools.count(1)


@pytest.fixture(
    params=[pytest.param("mysql", marks=pytest.mark.mysql), pytest.param("mariadb", marks=pytest.mark.mariadb)]
)
def server(request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def written(server: Server) -> tuple[str, str, str]:
    """Write DDL, rows and a statement; return the database, and the positions before and after them."""
    name = f"commands_{next(_NUMBERS)}"
    before = position(server)
    server.run_sql(
        f"CREATE DATABASE {name}; CREATE TABLE {name}.t (id INT PRIMARY KEY, note VARCHAR(40));"
        f"INSERT INTO {name}.t VALUES (1, 'a'), (2, 'b'); FLUSH BINARY LOGS;"
        f"SET SESSION binlog_format = STATEMENT; UPDATE {name}.t SET note = 'c' WHERE id = 1;"
        f"SET SESSION binlog_format = ROW; DELETE FROM {name}.t WHERE id = 2"
    )
    return name, before, position(server)


def position(server: Server) -> str:
    statement = "SHOW BINARY LOG STATUS" if server.family is MySQL else "SHOW MASTER STATUS"
    file, offset, *_ = server.query(statement)[0]
    return f"{file}:{offset}"


def records(capsys: pytest.CaptureFixture[str], server: Server, command: str, *more: str) -> list[dict[str, Any]]:
    connection = ["-h", f"127.0.0.1:{server.port}", "-u", "root", "--no-defaults"]
    assert exit_code([command, *connection, "--format", "jsonl", *more]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_transactions_and_events_have_ddl_and_statements(
    server: Server, written: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    name, before, after = written
    shown = records(capsys, server, "transactions", "--start", before, "--until", after)
    texts = [text for record in shown for text in record["texts"]]
    assert [text.split()[0] for text in texts] == ["CREATE", "CREATE", "UPDATE"]
    assert [rows["operation"] for record in shown for rows in record["rows"]] == ["insert", "delete"]
    of_table = records(capsys, server, "transactions", "--start", before, "--until", after, "--tables", f"{name}.t")
    assert len(of_table) == 4
    events = records(capsys, server, "events", "--start", before, "--until", after, "--tables", f"{name}.t")
    assert {"TABLE_MAP", "QUERY"} <= {event["type"] for event in events}
    files = {event["file"] for event in events}
    assert len(files) == 2


def test_rows_stat_and_export_read_a_server(
    server: Server, written: tuple[str, str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    name, before, after = written
    bounds = ("--start", before, "--until", after)
    rows = records(capsys, server, "rows", *bounds)
    assert [(row["op"], (row["after"] or row["before"])["id"]) for row in rows] == [
        ("insert", 1),
        ("insert", 2),
        ("delete", 2),
    ]
    [contents] = records(capsys, server, "stat", *bounds)
    assert {table["operation"] for table in contents["tables"] if table["schema"] == name} == {"insert", "delete"}
    [summary] = records(capsys, server, "export", *bounds, "-o", str(tmp_path / "out"))
    assert (summary["schema"], summary["table"], summary["rows"]) == (name, "t", 3)
    table = pq.read_table(tmp_path / "out" / f"{name}.t")
    assert table.num_rows == 3


def test_a_start_that_the_server_does_not_have_is_refused(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    gtids = "0-1-999999999" if server.family is MariaDB else "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5"
    file, _, offset = position(server).partition(":")
    starts = {
        f"{file.partition('.')[0]}.099999:4": "which the server does not have",
        f"{file}:{int(offset) + 100000}": "is after the end of that log",
        gtids: "is after transactions that the server does not have",
    }
    for start, message in starts.items():
        for command, until in (("tail", "end"), ("tail", "never"), ("rows", "end")):
            connection = ["--host", f"127.0.0.1:{server.port}", "--user", "root", "--no-defaults"]
            assert exit_code([command, *connection, "--start", start, "--until", until]) == 2
            error = capsys.readouterr().err
            assert "--start" in error
            assert message in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rows"], "no log given: name a FILE, or a server with --host"),
        (["rows", "--host", "db", "x"], "FILE and --host cannot be combined: name files or a server"),
        (["rows", "--start", "latest", "x"], "--start is for a server (--host); in files use --start-position"),
        (["stat", "--until", "end", "x"], "--until is for a server (--host); in files use --stop-position"),
        (
            ["events", "--host", "db", "--start-position", "120"],
            "--start-position is a position in files; for a server use --start FILE:120",
        ),
        (
            ["tail", "--host", "db", "--stop-position", "b.1:7"],
            "--stop-position is a position in files; for a server use --until b.1:7",
        ),
    ],
)
def test_files_and_servers_have_their_own_positions(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(arguments) == 2
    assert capsys.readouterr().err == f"binspark: {message}\n"
