"""`binspark tail` as a user runs it: what it prints and when, how it ends, what it refuses."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from binspark.cli.main import CLOSED_PIPE, exit_code
from binspark.testing.servers import Server

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(120)]
_NUMBERS = itertools.count(1)
KEYS = [
    *("file", "pos", "row", "gtid", "timestamp", "server_id", "thread_id"),
    *("schema", "table", "op", "before", "after", "key", "statement"),
]


@pytest.fixture
def database(mysql: Server) -> str:
    """A database of one's own, with a table, in a log of its own: other tests may have written much before it."""
    name = f"tail_{next(_NUMBERS)}"
    mysql.query("FLUSH BINARY LOGS")
    mysql.run_sql(f"CREATE DATABASE {name}; CREATE TABLE {name}.t (id INT PRIMARY KEY, note VARCHAR(40))")
    return name


def start_of_log(server: Server) -> str:
    """Return the position at which the server's last log begins."""
    return f"{server.log_files()[-1].name}:4"


def arguments(server: Server, *more: str) -> list[str]:
    return ["tail", "--host", f"127.0.0.1:{server.port}", "--user", "root", *more]


@contextmanager
def running(server: Server, *more: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "binspark", *arguments(server, *more)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_reader(server: Server, number: int) -> None:
    """Wait until a reader with this server id is connected."""
    deadline = time.monotonic() + 60
    while number not in [row[0] for row in server.query("SHOW REPLICAS")]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_change_is_shown_at_once(mysql: Server, database: str) -> None:
    with running(mysql, "--format", "jsonl", "--connection-server-id", "4100000001") as process:
        assert process.stdout is not None
        wait_for_reader(mysql, 4100000001)
        for number in (1, 2):
            mysql.query(f"INSERT INTO {database}.t VALUES ({number}, 'first')")
            record = json.loads(process.stdout.readline())
            assert list(record) == KEYS
            assert (record["table"], record["after"]) == ("t", {"id": number, "note": "first"})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_an_interrupt_ends_it_in_order(number: signal.Signals, mysql: Server) -> None:
    reader_id = 4100000010 + number
    with running(mysql, "--connection-server-id", str(reader_id)) as process:
        wait_for_reader(mysql, reader_id)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")


def test_who_has_seen_enough_may_close_the_pipe(mysql: Server, database: str) -> None:
    rows = ", ".join(f"({number}, 'note')" for number in range(3000))
    mysql.query(f"INSERT INTO {database}.t VALUES {rows}")
    with running(mysql, "--start", start_of_log(mysql), "--format", "jsonl", "--tables", f"{database}.t") as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["after"]["id"] == 0
        process.stdout.close()
        mysql.query(f"DELETE FROM {database}.t")
        assert process.wait(60) == CLOSED_PIPE
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_text_is_for_people(mysql: Server, database: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    mysql.run_sql(f"INSERT INTO {database}.t VALUES (1, 'old'); UPDATE {database}.t SET note = 'new'")
    shown = ("--start", start_of_log(mysql), "--until", "end", "--tables", f"{database}.t")
    assert exit_code(arguments(mysql, *shown)) == 0
    lines = [line for line in capsysbinary.readouterr().out.decode().splitlines() if not line.startswith("#")]
    assert lines[0].endswith(f'insert  {database}.t  id=1 note="old"')
    assert lines[1].endswith(f'update  {database}.t  id=1 note: "old" → "new"')


def test_a_table_that_does_not_exist_is_reported(
    mysql: Server, database: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert exit_code(arguments(mysql, "--until", "end", "--tables", f"{database}.tt")) == 0
    shown = capsysbinary.readouterr().err.decode()
    assert shown == f"binspark: the server has no table {database}.tt yet; did you mean {database}.t?\n"


@pytest.mark.parametrize(
    "wrong",
    [
        ("--start", "yesterday"),
        ("--until", "tomorrow"),
        ("--until", "latest"),
        ("--connection-server-id", "0"),
        ("--tables", "orders"),
        ("--start-datetime", "noon"),
    ],
    ids="=".join,
)
def test_wrong_options_are_refused(wrong: tuple[str, str], mysql: Server) -> None:
    assert exit_code(arguments(mysql, *wrong)) == 2


def test_a_position_that_does_not_exist_is_reported(mysql: Server, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(arguments(mysql, "--start", "binlog.999999:4")) == 2
    assert "binlog.999999" in capsys.readouterr().err


def test_a_server_that_does_not_answer_is_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["tail", "--host", "127.0.0.1:1", "--user", "root"]) == 1
    assert "no server listens there" in capsys.readouterr().err
