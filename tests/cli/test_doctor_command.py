"""`binspark doctor`: what it prints, how it exits, and that it never shows a password."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from binspark.cli.main import exit_code
from binspark.testing.servers import Family, Server
from tests.support.servers import StartServer, every_family

SECRET = "correct horse"
KEYS = ["code", "severity", "setting", "value", "reason", "fix"]

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def no_password_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BINSPARK_PASSWORD", raising=False)
    monkeypatch.delenv("MYSQL_PWD", raising=False)


@pytest.fixture(params=["mysql", "mariadb"])
def server(request: pytest.FixtureRequest) -> Server:
    server: Server = request.getfixturevalue(request.param)
    return server


@pytest.fixture
def poor_user(server: Server) -> Iterator[str]:
    server.run_sql(f"CREATE USER poor IDENTIFIED BY '{SECRET}'")
    yield "poor"
    server.run_sql("DROP USER poor")


def doctor(server: Server, *arguments: str, user: str = "root") -> int:
    return exit_code(["doctor", "--host", f"127.0.0.1:{server.port}", "--user", user, *arguments])


def test_warnings_alone_are_no_failure(server: Server, capsys: Captured) -> None:
    assert doctor(server) == 0
    shown = capsys.readouterr().out
    assert "warning: sync_binlog: 0 [sync-binlog]" in shown
    assert "sync_binlog = 1;" in shown
    assert shown.splitlines()[0].startswith(f"127.0.0.1:{server.port}: {server.version}")
    assert shown.splitlines()[-1].startswith("0 errors, ")


def test_json_lines_have_one_object_a_finding_with_keys_in_order(server: Server, capsys: Captured) -> None:
    assert doctor(server, "--format", "jsonl") == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [list(record) for record in records] == [KEYS] * len(records)
    flushed = next(record for record in records if record["code"] == "flush-log")
    assert (flushed["severity"], flushed["value"]) == ("warning", "2")


def test_an_error_is_a_failure(
    server: Server, poor_user: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BINSPARK_PASSWORD", SECRET)
    assert doctor(server, user=poor_user) == 1
    captured = capsys.readouterr()
    assert "error: privileges: no REPLICATION SLAVE on *.* [replication-slave]" in captured.out
    assert "GRANT REPLICATION SLAVE ON *.* TO `poor`@`%`;" in captured.out
    assert SECRET not in captured.out + captured.err


@pytest.mark.parametrize("output_format", ["text", "jsonl"])
def test_a_wrong_password_is_no_connection_and_not_shown(
    server: Server, poor_user: str, output_format: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = "battery staple"
    monkeypatch.setenv("BINSPARK_PASSWORD", wrong)
    assert doctor(server, "--format", output_format, user=poor_user) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"binspark: 127.0.0.1:{server.port}: check user and password.")
    assert captured.err.count("\n") == 1
    assert wrong not in captured.err


def test_a_wrong_password_of_an_option_file_is_not_shown(
    server: Server, poor_user: str, tmp_path: Path, capsys: Captured
) -> None:
    path = tmp_path / "my.cnf"
    path.write_text("[client]\npassword = battery-staple\n")
    assert doctor(server, "--defaults-file", str(path), user=poor_user) == 2
    assert "battery" not in capsys.readouterr().err


def test_where_nobody_listens_there_is_no_connection(capsys: Captured) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
        assert exit_code(["doctor", "--host", address, "--user", "root"]) == 2
    assert f"binspark: {address}: no server listens there" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["--format", "xml"], ["--host", "a b"], ["--password", "x"], ["--defaults-file", "/no/such/file"], ["surplus"]],
    ids=lambda arguments: arguments[0],
)
def test_wrong_use_exits_with_2(arguments: list[str], capsys: Captured) -> None:
    assert exit_code(["doctor", "--user", "root", *arguments]) == 2
    assert capsys.readouterr().err


@every_family
def test_tables_are_checked_unless_switched_off(start_server: StartServer, family: Family, capsys: Captured) -> None:
    server = start_server(family)  # of a server with many tables, only some are shown
    server.run_sql("CREATE DATABASE doctor_command; CREATE TABLE doctor_command.`a\033[31mb` (x INT)")
    assert doctor(server) == 0
    checked = capsys.readouterr().out
    assert doctor(server, "--no-check-tables") == 0
    unchecked = capsys.readouterr().out
    assert "doctor_command.a\033[31mb" in checked  # not a terminal: as it is
    assert "doctor_command" not in unchecked


def test_all_rules_are_shown_without_a_server(capsys: Captured) -> None:
    kept = Path(__file__).parents[2] / "docs" / "doctor.md"
    assert exit_code(["doctor", "--rules"]) == 0
    assert capsys.readouterr().out == kept.read_text(encoding="utf-8")


def test_a_socket_leads_to_the_server_too(server: Server, capsys: Captured) -> None:
    assert exit_code(["doctor", "--socket", str(server.socket), "--user", "root"]) == 0
    assert capsys.readouterr().out.startswith(f"{server.socket}: {server.version}")
