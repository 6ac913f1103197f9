"""Rounds of a mirror that is killed again and again while its source changes, then compared with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from binspark.mirror.schema.version_table import versions_name
from binspark.mirror.targets.parse import Format
from binspark.testing.servers import Server
from tests.support.mirror.kills.compare import differences, keys_of
from tests.support.mirror.kills.compare_kept import (
    history_differences,
    last_statements,
    left_versions,
    logged_changes,
    version_differences,
)
from tests.support.mirror.kills.mirror_process import ProcessOptions
from tests.support.mirror.kills.random_load import LoadCount, RandomLoad, ServerLost
from tests.support.mirror.live_mirrors import rows_of
from tests.support.mirror.tables import reached

_PROCESS = "tests.support.mirror.kills.mirror_process"
_ENDS_SECONDS = 900.0
_WORKERS_SECONDS = 60.0


class MirrorsDiffer(AssertionError):
    """A mirror that was killed does not equal its source, or cannot go on."""


@dataclass
class KillCount:
    """What was done: rounds that were compared, processes that were killed, and the workload."""

    rounds: int = 0
    kills: int = 0
    kills_between_steps: int = 0
    server_kills: int = 0
    worker_kills: int = 0
    executor_kills: int = 0
    rows_compared: int = 0
    changes_compared: int = 0
    versions_compared: int = 0
    load: LoadCount = field(default_factory=LoadCount)

    @property
    def total(self) -> int:
        """All kills."""
        driver = self.kills + self.kills_between_steps
        return driver + self.server_kills + self.worker_kills + self.executor_kills

    def describe(self) -> str:
        """Return the counts in one line."""
        kinds = f"{self.kills} at any moment, {self.kills_between_steps} between steps"
        others = f"{self.server_kills} of the server, {self.worker_kills} of Python workers"
        others += f", {self.executor_kills} of executors"
        load = f"{self.load.transactions} transactions, {self.load.rows} rows changed"
        compared = f"{self.rows_compared} rows compared"
        if self.changes_compared:
            compared += f", {self.changes_compared} changes and {self.versions_compared} versions in the last round"
        return f"rounds {self.rounds}, kills {self.total} ({kinds}, {others}), {load}, {compared}"


class KillRun:
    """A server, a target, and a mirror from one to the other. The same seed gives the same statements and kills.

    keeps   keep the history of changes and versions of rows, and compare them with the log
    """

    def __init__(
        self,
        server: Server,
        lake: Path,
        kind: Format,
        seed: int,
        *,
        master: str = "",
        pause: float = 0.004,
        keeps: bool = False,
    ) -> None:
        self.count = KillCount()
        self._server = server
        self._lake = lake
        self._kind = kind
        self._rng = Random(seed)
        self._database = f"kills_{seed}"
        self._master = master
        self._pause = pause
        self._keeps = keeps
        self._load = RandomLoad(server, Random(seed), self._database, only_full=keeps)
        self.count.load = self._load.count
        self._options = ProcessOptions(
            server.port,
            str(lake),
            kind.value,
            f"{self._database}.*",
            on_drop=self._rng.choice(("keep", "drop")),
            apply_bytes=self._rng.choice((20_000, 1 << 20)),
            rows_per_chunk=self._rng.choice((7, 50, 1000)),
            memory_bytes=self._rng.choice((1 << 16, 1 << 20)),
            keeps=keeps,
        )
        self._log = lake.parent / f"{lake.name}.log"
        self._load.begin()

    def round(self, kills: int, *, kill_server: bool = False) -> None:
        """Kill the mirror this often while the source changes; then let it finish, and compare.

        History and versions begin with a copy of all tables: changes count after that.
        """
        if self._keeps and not self.count.rounds:
            self._finish()
        with self._changing():
            for _ in range(kills):
                self._killed_mirror()
        if kill_server:
            self._kill_server()
        self._finish()
        found, rows = differences(reached(self._server), self._lake, self._database, self._kind)
        if self._keeps and not found:
            found = self._differences_of_kept()
        if found:
            raise MirrorsDiffer("; ".join(found))
        self.count.rounds += 1
        self.count.rows_compared += rows

    def _differences_of_kept(self) -> list[str]:
        """Return how the history and the versions of rows differ from the log and from the tables."""
        logged = logged_changes(self._server, self._database)
        found = history_differences(logged, self._lake, self._kind)
        last = last_statements(self._server)
        keys = keys_of(reached(self._server), self._database)
        for name, key in keys.items():
            if key:
                since = last.get(name.table, "")
                found += version_differences(name, key, self._lake, self._kind, logged, since)
        found += left_versions(self._lake, self._kind, self._database, keys)
        self.count.changes_compared = len(logged)
        self.count.versions_compared = sum(
            rows_of(self._lake, str(versions_name(name)), self._kind).num_rows for name, key in keys.items() if key
        )
        return found

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Let the workload run meanwhile."""
        stopped, failed = threading.Event(), []

        def work() -> None:
            try:
                self._load.connect()
                while not stopped.is_set():
                    self._load.step()
                    time.sleep(self._pause)
                self._load.end()
            except Exception as error:
                failed.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join()
        if failed:
            raise failed[0]

    def _killed_mirror(self) -> None:
        """Start a mirror, and kill it at a random moment, or let it kill itself between two random steps."""
        between_steps = self._rng.random() < (0.2 if self._master else 0.4)
        options = replace(self._options, kill_at=self._rng.randint(1, 30) if between_steps else 0, master=self._master)
        seconds = self._rng.choice((self._rng.uniform(0, 0.5), self._rng.uniform(0, 12.0 if self._keeps else 4.0)))
        with self._started(options) as process:
            if between_steps:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(12)
            else:
                self._wait_until_ready(process)
                if self._master:
                    _wait_for_workers(process)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(seconds)
                if self._master:
                    self._kill_workers(process, self._rng.randint(3, 8))
            if process.poll() is None:
                process.kill()
            code = process.wait()
        if code != -signal.SIGKILL:
            raise MirrorsDiffer(f"the mirror ended with {code}: {self._said()}")
        if between_steps:
            self.count.kills_between_steps += 1
        else:
            self.count.kills += 1

    def _kill_workers(self, process: subprocess.Popen[bytes], times: int) -> None:
        """Kill Python workers and executors of Spark, one after the other: the mirror has to go on without them."""
        for _ in range(times):
            executors, workers = _executors(process), _workers(process)
            is_executor = bool(executors) and self._rng.random() < 0.5
            if executors if is_executor else workers:
                with suppress(ProcessLookupError):
                    os.kill(self._rng.choice(executors if is_executor else workers), signal.SIGKILL)
                self.count.executor_kills += is_executor
                self.count.worker_kills += not is_executor
            with suppress(subprocess.TimeoutExpired):
                process.wait(self._rng.uniform(0, 5))

    def _kill_server(self) -> None:
        """Kill the server while the mirror follows it and the workload runs, start it again, and let both go on."""
        with self._started(self._options) as process:
            self._wait_until_ready(process)
            self._load.connect()
            killing = threading.Timer(self._rng.uniform(0.2, 3), self._server.kill)
            killing.start()
            with suppress(ServerLost):
                while True:
                    self._load.step()
            killing.join()
            self._server.launch()
            self.count.server_kills += 1
            with suppress(subprocess.TimeoutExpired):
                process.wait(self._rng.uniform(0, 4))
            if process.poll() is not None and "ConnectionLost" not in self._said():
                raise MirrorsDiffer(f"the mirror ended with {process.returncode} without its server: {self._said()}")
            process.kill()

    def _finish(self) -> None:
        """Let the mirror apply everything that is left."""
        self._load.connect()
        self._load.end()
        with self._started(replace(self._options, once=True, master=self._master)) as process:
            if self._master:
                _wait_for_workers(process)
                self._kill_workers(process, 2)
            try:
                code = process.wait(_ENDS_SECONDS)
            except subprocess.TimeoutExpired:
                raise MirrorsDiffer(f"the mirror does not end in {_ENDS_SECONDS:.0f} s: {self._said()}") from None
        if code:
            raise MirrorsDiffer(f"the mirror ended with {code}: {self._said()}")

    @contextmanager
    def _started(self, options: ProcessOptions) -> Iterator[subprocess.Popen[bytes]]:
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", _PROCESS, options.to_json()], stdout=subprocess.PIPE, stderr=log
            )
        try:
            yield process
        finally:
            others = _descendants(process.pid)
            if process.poll() is None:
                process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
            for pid, _ in others:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    @staticmethod
    def _wait_until_ready(process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        process.stdout.readline()

    def _said(self) -> str:
        return self._log.read_text(errors="replace")[-3000:]


def _workers(process: subprocess.Popen[bytes]) -> list[int]:
    return [pid for pid, line in _descendants(process.pid) if "pyspark.daemon" in line]


def _executors(process: subprocess.Popen[bytes]) -> list[int]:
    """Return the executors of a cluster on this machine; a local Spark has none of its own."""
    return [pid for pid, line in _descendants(process.pid) if "CoarseGrainedExecutorBackend" in line and "java" in line]


def _wait_for_workers(process: subprocess.Popen[bytes]) -> None:
    """Wait until Spark runs Python, which may take long on a busy machine."""
    end = time.monotonic() + _WORKERS_SECONDS
    while process.poll() is None and not _workers(process) and time.monotonic() < end:
        time.sleep(0.2)


def _descendants(pid: int) -> list[tuple[int, str]]:
    """Return the processes that a process has started, and those that they have started, with their command lines."""
    found: list[tuple[int, str]] = []
    for path in Path("/proc").glob(f"{pid}/task/*/children"):
        with suppress(OSError, ValueError):
            for child in map(int, path.read_text().split()):
                line = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found += [(child, line), *_descendants(child)]
    return found
