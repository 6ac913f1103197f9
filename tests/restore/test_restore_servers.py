"""`binspark restore` on real servers: the recovered server has the tables that the source had at that point."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner, Result

from binspark.cli.restore import restore_command
from binspark.testing.servers import Family, MySQL, Server
from tests.support.replay.random_workload import Workload
from tests.support.replicas import reset_logs, written_gtids
from tests.support.restored import contents
from tests.support.servers import StartServer, every_family

pytestmark = pytest.mark.timeout(300)


def options_of(server: Server) -> list[str]:
    return ["--host", "127.0.0.1", "--port", str(server.port), "--user", "root", "--no-defaults"]


def restore(archive: Path, target: Server, *options: str) -> Result:
    return CliRunner().invoke(restore_command, [str(archive), *options_of(target), *options])


def plan(archive: Path, target: Server, *options: str) -> dict[str, Any]:
    result = restore(archive, target, "--format", "jsonl", *options)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def archived(server: Server, folder: Path) -> Path:
    """Copy the logs of a server."""
    server.run_sql("FLUSH BINARY LOGS")
    folder.mkdir()
    for log in server.log_files()[:-1]:
        shutil.copy(log, folder)
    return folder


def pair(family: Family, start_server: StartServer, **options: str | int) -> tuple[Server, Server]:
    source, target = start_server(family, {"server-id": 1, **options}), start_server(family, {"server-id": 2})
    for server in (source, target):
        reset_logs(server)
    return source, target


@every_family
def test_a_random_workload_is_recovered_exactly_and_once(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    source, target = pair(family, start_server)
    for seed in range(4):
        Workload(source, Random(seed), f"random_{seed}").run(60)
    archive = archived(source, tmp_path / "archive")
    done = restore(archive, target, "--apply")
    assert done.exit_code == 0, done.output
    assert contents(target) == contents(source)
    again = plan(archive, target)
    assert (again["transactions"], again["left_out"]["on_target"] > 0) == (0, True)
    if family is MySQL:
        assert written_gtids(source) == written_gtids(target)
