"""`python -m benchmarks.mirror.lag`: how far a mirror lags at a steady load, and what that costs.

A writer in a process of its own changes a table at a fixed rate: 60 % updates, 20 % inserts and 20 % deletions, of any
keys, ten transactions a second. It notes when each of them was committed and where the log ended then; the mirror, in
this process without Spark, reports positions that it has committed. The lag of a transaction is the time between. The
share of a CPU is the CPU time (user and system) of the mirror by the time that has passed. Decoding is what
`binspark.batches` takes for the logs of the load, after it, in CPU time by that of the mirror.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import statistics
import tempfile
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path

import binspark
from benchmarks.mirror.pipeline import cpu_seconds, fill, mirror, statement
from benchmarks.workloads import FAST_SERVER
from binspark.monitoring.status import Status
from binspark.options.server import ServerArguments
from binspark.testing.servers import MySQL, Server, start

ROWS = 200_000
RATES = (1_000, 10_000)
APPLY_SECONDS = (1.0, 5.0)
SECONDS = 20.0
TRANSACTIONS_PER_SECOND = 10
_SETTLE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Committed:
    """A transaction of the writer: when it was committed, how many rows it changed, where the log ended then."""

    at: float
    rows: int
    log_file: str
    offset: int


@dataclass(slots=True)
class Reached:
    """The positions that the mirror has reported, and when."""

    found: list[tuple[float, tuple[str, int]]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def note(self, report: Status) -> None:
        """Note a report of the mirror."""
        log_file, _, offset = report.position.rpartition(":")
        if not log_file:
            return
        with self.changed:
            self.found.append((time.time(), (log_file, int(offset))))
            self.changed.notify_all()

    def wait_for(self, position: tuple[str, int]) -> None:
        """Wait until the mirror is at a position."""
        with self.changed:
            if not self.changed.wait_for(lambda: bool(self.found) and self.found[-1][1] >= position, _SETTLE_SECONDS):
                raise TimeoutError(f"the mirror is not at {position} after {_SETTLE_SECONDS:.0f} s")

    def lags(self, transactions: list[Committed]) -> list[float]:
        """Return how long each transaction took until the mirror had it."""
        reports = iter(self.found)
        at, position = next(reports)
        lags = []
        for transaction in transactions:
            while position < (transaction.log_file, transaction.offset):
                at, position = next(reports)
            lags.append(at - transaction.at)
        return lags


def write(server: Server, rate: int, seconds: float, name: str, go: Event, results: Queue[list[Committed]]) -> None:
    """Change the table at a fixed rate; the name decides to what. A writer that is late does not wait."""
    generator, count = random.Random(name), rate // TRANSACTIONS_PER_SECOND
    go.wait()
    done, began = [], time.monotonic()
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        for number in range(int(seconds * TRANSACTIONS_PER_SECOND)):
            time.sleep(max(0.0, began + number / TRANSACTIONS_PER_SECOND - time.monotonic()))
            changed = cursor.execute(statement(generator, ROWS, count, number, f"{name} {number}"))
            at = time.time()
            cursor.execute("SHOW BINARY LOG STATUS")
            log_file, offset, *_ = cursor.fetchone()
            done.append(Committed(at, min(changed, count), log_file, int(offset)))
    results.put(done)


def measure(server: Server, target: Path, rate: int, apply_seconds: float, seconds: float) -> None:
    """Let a mirror follow a writer, and print its lag."""
    source: ServerArguments = {"host": "127.0.0.1", "port": server.port, "user": "root"}
    reached, context = Reached(), multiprocessing.get_context("fork")
    followed = binspark.open_mirror(
        None, source, target, "shop.*", on_report=reached.note, once=False, apply_every=apply_seconds
    )
    go, results = context.Event(), context.Queue()
    writer = context.Process(target=write, args=(server, rate, seconds, f"{rate} {apply_seconds}", go, results))
    writer.start()  # before the mirror has threads
    server.query("FLUSH BINARY LOGS")
    log_file, offset, *_ = server.query("SHOW BINARY LOG STATUS")[0]
    runner = threading.Thread(target=followed.run)
    runner.start()
    try:
        reached.wait_for((log_file, int(offset)))
        before, began = os.times(), time.time()
        go.set()
        done = results.get()
        reached.wait_for((done[-1].log_file, done[-1].offset))
        after, ended = os.times(), time.time()
    finally:
        followed.stop()
        runner.join()
        writer.join()
    cpu = after.user + after.system - before.user - before.system
    logs = [path for path in server.log_files() if path.name >= done[0].log_file]
    decoding = cpu_seconds(lambda: deque(binspark.batches([str(path) for path in logs], tables="shop.*"), maxlen=0))
    lags = reached.lags(done)
    commits = len({position for _, position in reached.found})
    rows_per_second = sum(one.rows for one in done) / (done[-1].at - done[0].at)
    print(
        f"{rate:>7,} rows/s ({rows_per_second:,.0f} written)  every {apply_seconds:.0f} s"
        f"  lag median {statistics.median(lags):5.2f} s, 95 % {statistics.quantiles(lags, n=20)[-1]:5.2f} s"
        f"  {cpu / (ended - began):5.1%} of a CPU  {commits} commits  decoding {decoding / cpu:5.1%}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", type=int, nargs="*", default=list(RATES), help="rows a second")
    parser.add_argument("--apply-every", type=float, nargs="*", default=list(APPLY_SECONDS))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long each load lasts")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        start(MySQL, {**FAST_SERVER, "binlog-row-metadata": "FULL"}) as server,
    ):
        fill(server, ROWS)
        target = Path(folder) / "lake"
        mirror(server, target)  # copies the table
        for rate in options.rates:
            for apply_seconds in options.apply_every:
                measure(server, target, rate, apply_seconds, options.seconds)


if __name__ == "__main__":
    main()
