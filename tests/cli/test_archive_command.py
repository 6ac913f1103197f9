"""`binspark archive` as a user runs it: what it prints, how it ends, what it refuses."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from binspark.cli.main import exit_code, main
from binspark.monitoring.status import Status
from binspark.testing.servers import MySQL, Server
from tests.support.servers import StartServer

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(120)]


@pytest.fixture(autouse=True)
def log_of_this_test(mysql: Server) -> None:
    """Begin a log: other tests may have written hundreds of megabytes to those before it."""
    mysql.query("FLUSH BINARY LOGS")


def arguments(server: Server, folder: Path, *more: str) -> list[str]:
    """Return the command line that copies the log of this test and those after it."""
    address = f"127.0.0.1:{server.port}"
    return ["archive", "--host", address, "--user", "root", "-o", str(folder), "--start", "latest", *more]


@contextmanager
def running(server: Server, folder: Path, *more: str, limit: int = 0) -> Iterator[subprocess.Popen[str]]:
    """Run the command in a process of its own, which may write files up to a limit only."""

    def limited() -> None:
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [sys.executable, "-m", "binspark", *arguments(server, folder, *more)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, preexec_fn=limited, **pipes)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_copy(server: Server, folder: Path) -> None:
    deadline = time.monotonic() + 60
    last = server.log_files()[-1]
    while not (folder / last.name).exists() or (folder / last.name).read_bytes() != last.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_what_is_there_is_copied_and_reported(mysql: Server, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, arguments(mysql, tmp_path, "--until", "end"))
    assert result.exit_code == 0
    assert result.stdout == ""
    last = mysql.log_files()[-1]
    assert result.stderr.startswith(f"{last.name}:{last.stat().st_size}  ")
    assert "/s" in result.stderr
    assert (tmp_path / last.name).read_bytes() == last.read_bytes()


def test_progress_may_be_json(mysql: Server, tmp_path: Path) -> None:
    result = CliRunner().invoke(main, arguments(mysql, tmp_path, "--until", "end", "--format", "jsonl"))
    record = json.loads(result.stderr)
    last = mysql.log_files()[-1]
    assert record["position"] == f"{last.name}:{last.stat().st_size}"
    assert record["bytes"] == last.stat().st_size
    assert record["ended"] is True


def test_rate_and_lag_are_shown_while_it_runs(mysql: Server, tmp_path: Path) -> None:
    with running(mysql, tmp_path, "--progress-seconds", "0.2", "--format", "jsonl") as process:
        assert process.stderr is not None
        record = next(record for record in map(json.loads, process.stderr) if record["lag_bytes"] == 0)
    assert list(record) == list(Status(command="archive").to_json())
    assert (record["command"], record["connected"], record["errors"]) == ("archive", True, {})
    assert record["lag_seconds"] == 0
    assert record["ended"] is False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_signal_ends_it_in_order(number: signal.Signals, mysql: Server, tmp_path: Path) -> None:
    with running(mysql, tmp_path) as process:
        wait_for_copy(mysql, tmp_path)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err
    assert mysql.log_files()[-1].name in err


def test_a_lost_connection_is_reported(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(MySQL)
    with running(server, tmp_path, "--format", "jsonl") as process:
        wait_for_copy(server, tmp_path)
        server.kill()
        server.launch()
        wait_for_copy(server, tmp_path)
        process.terminate()
        records = [json.loads(line) for line in process.communicate(timeout=30)[1].splitlines()]
    assert "connecting again" in records[0]["warning"]
    assert records[-1]["ended"] is True


def test_a_second_archiver_is_refused(mysql: Server, tmp_path: Path) -> None:
    with running(mysql, tmp_path) as process:
        wait_for_copy(mysql, tmp_path)
        second = CliRunner().invoke(main, arguments(mysql, tmp_path, "--until", "end"))
        assert f"another archiver writes to this folder: process {process.pid} on " in second.stderr
        assert second.exit_code == 2


def test_a_full_disk_is_reported_and_the_copy_continues_later(mysql: Server, tmp_path: Path) -> None:
    mysql.run_sql(
        "CREATE DATABASE full_disk; CREATE TABLE full_disk.t (pad LONGTEXT);"
        "INSERT INTO full_disk.t VALUES (REPEAT('x', 300000))"
    )
    with running(mysql, tmp_path, "--until", "end", limit=200_000) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err.startswith("binspark: ")
    assert "File too large" in err
    assert exit_code(arguments(mysql, tmp_path, "--until", "end")) == 0
    wait_for_copy(mysql, tmp_path)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("--keep-bytes", "many"), "--keep-bytes must be a size such as 500000, 64m or 2 GB, got 'many'"),
        (("--keep-bytes", "0"), "--keep-bytes must be positive, got '0'"),
        (("--keep-days", "0"), "--keep-days must be positive, got '0'"),
        (("--sync-seconds", "-1"), "--sync-seconds must be 0 or more, got '-1'"),
        (("--upload-seconds", "soon"), "--upload-seconds must be a number of seconds, got 'soon'"),
        (("--connection-server-id", "0"), "--connection-server-id must be from 1 to 4294967295, got '0'"),
        (("--connect-timeout", "0"), "--connect-timeout must be positive, got '0'"),
        (("--start", "yesterday"), "'yesterday'"),
    ],
    ids=lambda value: "=".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_options_are_refused(
    wrong: tuple[str, str], message: str, mysql: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(arguments(mysql, tmp_path / "archive", "--until", "end", *wrong)) == 2
    assert os.listdir(tmp_path) == []
    assert message in capsys.readouterr().err


def test_an_old_name_is_accepted_with_a_warning(
    mysql: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(arguments(mysql, tmp_path, "--until-end")) == 0
    assert "is deprecated; use --until end\n" in capsys.readouterr().err
    assert (tmp_path / mysql.log_files()[-1].name).exists()


def test_a_server_that_does_not_answer_is_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["archive", "--host", "127.0.0.1:1", "--user", "root", "-o", str(tmp_path)]) == 1
    assert "no server listens there" in capsys.readouterr().err
