"""A server under a steady workload, and processes that follow it, to be killed and started again."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

import binspark
from binspark.testing.servers import Server

HERE = Path(__file__).parent
TABLE = "shop.stock"
RowPosition = tuple[str, int, int]


def make_table(server: Server) -> None:
    server.query("CREATE DATABASE shop")
    server.query(f"CREATE TABLE {TABLE} (id INT PRIMARY KEY AUTO_INCREMENT, item VARCHAR(40), amount INT)")


class Workload(threading.Thread):
    """Transactions of one or many rows, and a rotation now and then, until it is stopped; it outlives its server."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self._server = server
        self._stopped = threading.Event()
        self._random = random.Random(7)
        self.transactions = 0

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                with self._server.connect() as connection, connection.cursor() as cursor:
                    while not self._stopped.wait(0.02):
                        self._turn(cursor)
            except Exception:  # the server was killed; it comes back
                time.sleep(0.2)

    def _turn(self, cursor: Any) -> None:
        rows = self._random.choice((1, 1, 1, 5, 400))
        values = ", ".join(f"('item {number}', {number})" for number in range(rows))
        cursor.execute(f"INSERT INTO {TABLE} (item, amount) VALUES {values}")
        cursor.execute(f"UPDATE {TABLE} SET amount = amount + 1 ORDER BY id DESC LIMIT 3")
        cursor.execute("COMMIT")
        self.transactions += 1
        if self._random.random() < 0.01:
            cursor.execute("FLUSH BINARY LOGS")

    def stop(self) -> None:
        self._stopped.set()
        self.join(30)


class Follower:
    """A process that can be killed and started again; its output goes to a file."""

    def __init__(self, command: Callable[[], list[str]], log: Path) -> None:
        self._command = command
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command(), stdout=log, stderr=log, start_new_session=True)

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """Kill the process and all that it started, at once."""
        if self._process is not None:
            for process in [self.pid, *below(self.pid)]:
                _kill(process)
            self._process.wait(30)

    def kill_worker(self) -> bool:
        """Kill one of its Python workers; return whether there was one."""
        workers = [process for process in below(self.pid) if b"pyspark.worker" in _command_line(process)]
        if not workers:
            return False
        _kill(max(workers))
        return True

    def wait(self, seconds: float) -> int:
        assert self._process is not None
        return self._process.wait(seconds)

    def text(self) -> str:
        return self._log.read_text(errors="replace")


def spark_driver(folder: Path, options: Callable[[], dict[str, str]]) -> Follower:
    """Return a driver that keeps its checkpoint and its output in a folder."""
    (folder / "output").mkdir(exist_ok=True)
    script = [sys.executable, str(HERE / "stream_driver.py"), str(folder / "checkpoint"), str(folder / "output")]
    return Follower(lambda: [*script, json.dumps(options())], folder / "driver.log")


def arrived(folder: Path) -> list[tuple[RowPosition, int, int]]:
    """Return the rows that arrived, in the order of their batches: where each comes from, its id and amount."""
    found: list[tuple[RowPosition, int, int]] = []
    for path in sorted((folder / "output").glob("*.parquet")):
        rows = pq.read_table(path).to_pylist()
        found += [((row["_log_file"], row["_log_pos"], row["_log_row"]), row["id"], row["amount"]) for row in rows]
    return found


def logged(server: Server) -> list[tuple[RowPosition, int, int]]:
    """Return the rows of the server's own logs, in their order."""
    return [
        ((Path(change.file).name, change.pos, change.row), _number(change.after["id"]), _number(change.after["amount"]))
        for change in binspark.rows([str(path) for path in server.log_files()], tables=[TABLE])
        if change.after is not None
    ]


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


def kill_server(server: Server) -> None:
    """Kill the server as a power cut would, and start it again."""
    server.kill()
    server.launch()


def below(parent: int) -> list[int]:
    """Return the processes that a process started, and those that they started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found += [int(path.parent.name), *below(int(path.parent.name))]
    return found


def _command_line(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return
