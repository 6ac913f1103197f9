"""What tests of archives share: servers, their files, and archivers that are run or killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from binspark.archive.archiver import Archiver, open_archiver
from binspark.archive.settings import ArchiveSettings
from binspark.monitoring.status import Status
from binspark.replication.settings import StreamSettings
from binspark.server.retry import Retry
from binspark.testing.servers import Family, MariaDB, MySQL, Server
from tests.support.servers import config_of

MAX_WAIT = 60
_COPYING: list[Future[Status]] = []
"""Archivers that run in the background: waiting for something fails if they have ended."""


def quick(*, until_end: bool = False, **changes: Any) -> ArchiveSettings:
    """Return settings under which everything happens at once."""
    stream = StreamSettings(heartbeat_seconds=0.2, missed_heartbeats=10, first_seconds=20)
    retry = Retry(limit=300, first_seconds=0.05, max_seconds=0.2)
    settings = {"stream": stream, "retry": retry, "sync_seconds": 0.1, "progress_seconds": 0, **changes}
    return ArchiveSettings(until_end=until_end, **settings)


def archive(server: Server, folder: Path | str, **changes: Any) -> None:
    """Copy what is there now."""
    open_archiver(config_of(server.port), folder, quick(until_end=True, **changes)).run()


def settle(server: Server) -> None:
    """Wait until a server has written what it writes by itself: MariaDB notes in a log that it needs no older one."""
    last = server.log_files()[-1]
    wait_until(lambda: server.family is MySQL or last.name.encode() in last.read_bytes())


@contextmanager
def archiving(server: Server, folder: Path | str, **changes: Any) -> Iterator[Archiver]:
    """Copy in the background; a failure is the test's failure."""
    where = {name: changes.pop(name) for name in ("storage", "spool") if name in changes}
    archiver = open_archiver(config_of(server.port), folder, quick(**changes), **where)
    with ThreadPoolExecutor(1) as pool:
        copying = pool.submit(archiver.run)
        _COPYING.append(copying)
        try:
            yield archiver
        finally:
            archiver.stop()
            _COPYING.remove(copying)
        copying.result(MAX_WAIT)


def wait_until(condition: Callable[[], object]) -> None:
    """Wait for something that must come soon."""
    deadline = time.monotonic() + MAX_WAIT
    while not condition():
        for copying in _COPYING:
            if copying.done():
                copying.result()
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.02)


def files_of_server(server: Server) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in server.log_files()}


def files_in(folder: Path) -> dict[str, bytes]:
    """Read the logs of an archive, by the names that its index lists."""
    return {name: (folder / name).read_bytes() for name in (folder / "binlog.index").read_text().split()}


def logs_in(folder: Path) -> list[str]:
    """Return the names of the logs that are in a folder, listed or not."""
    return sorted(path.name for path in folder.iterdir() if path.suffix[1:].isdecimal())


def is_same(server: Server, folder: Path) -> bool:
    """Return whether the files of an archive are identical to the server's."""
    return (folder / "binlog.index").exists() and files_in(folder) == files_of_server(server)


def make_table(server: Server) -> None:
    server.run_sql("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, pad LONGTEXT)")


def insert(server: Server, count: int = 1, pad: int = 10) -> None:
    """Insert rows, each in a transaction of its own."""
    with server.connect() as connection, connection.cursor() as cursor:
        for _ in range(count):
            cursor.execute("INSERT INTO d.t (pad) VALUES (REPEAT('x', %s))", (pad,))


def big_options(family: Family) -> dict[str, str]:
    """Return options under which rows of many megabytes can be written."""
    redo_log = {MySQL: "innodb-redo-log-capacity", MariaDB: "innodb-log-file-size"}[family]
    return {"max-allowed-packet": "256M", redo_log: "512M"}


def start_command(server: Server, folder: Path | str, *arguments: str) -> subprocess.Popen[str]:
    """Run `binspark archive` in a process of its own."""
    command = [sys.executable, "-m", "binspark", "archive", "--host", f"127.0.0.1:{server.port}", "--user", "root"]
    environment = {name: value for name, value in os.environ.items() if name not in ("BINSPARK_PASSWORD", "MYSQL_PWD")}
    return subprocess.Popen(
        [*command, "-o", str(folder), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
