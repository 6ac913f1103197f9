"""`binspark explore` as a user runs it: over files and over a server, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from binspark.cli.demo import SHOP
from binspark.cli.main import exit_code
from binspark.testing.servers import Server
from tests.support.explore.running import running
from tests.support.servers import every_family


def test_it_serves_until_it_is_interrupted() -> None:
    with running(str(SHOP / "mysql")) as command:
        assert [each["name"] for each in command.ask("logs")["logs"]] == [f"binlog.00000{n}" for n in (1, 2, 3)]
        with pytest.raises(HTTPError, match="401"):
            urlopen(f"{command.address}api/logs", timeout=30)
        command.process.send_signal(signal.SIGINT)
        assert command.process.wait(30) == 0
        assert command.process.stderr is not None
        assert command.process.stderr.read() == ""


@every_family
def test_the_log_of_a_server_grows_while_it_is_explored(shared: Server, database: str) -> None:
    shared.query("FLUSH BINARY LOGS")
    with running("--no-defaults", "--host", f"127.0.0.1:{shared.port}", "--user", "root") as command:
        shared.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.t (id INT PRIMARY KEY);")
        deadline = time.monotonic() + 60
        while not any(each["table"] == f"{database}.t" for each in command.ask("tables")["tables"]):
            assert time.monotonic() < deadline
            shared.run_sql(f"REPLACE INTO {database}.t VALUES (1)")
            time.sleep(0.3)
        command.process.send_signal(signal.SIGTERM)
        assert command.process.wait(30) == 0


def test_a_server_that_cannot_be_reached_ends_the_command(capfd: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["explore", "--no-defaults", "--host", "127.0.0.1:1", "--user", "root"]) == 1
    assert "127.0.0.1:1" in capfd.readouterr().err


def test_wrong_use_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["explore"]) == 2
    assert exit_code(["explore", str(tmp_path / "none")]) == 1
    assert "no such file" in capsys.readouterr().err


def test_without_its_libraries_the_error_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['starlette'] = None\n"
        "from binspark.cli.main import exit_code\n"
        f"sys.exit(exit_code(['explore', {str(SHOP / 'mysql')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'binspark[web]'" in done.stderr
