"""`python -m benchmarks.events`: events per second of the object API on an OLTP log, and of a peer on the same log.

The peer, python-mysql-replication, reads only from a server, so it reads the log from the server that wrote it, over
loopback. binspark reads the file. Of several repeats, the best time counts.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.decode.python_replication import open_peer
from benchmarks.timing import best_seconds
from benchmarks.workloads import FAST_SERVER, play_oltp
from binspark.files import read_events
from binspark.testing.servers import MySQL, Server, start

TRANSACTIONS = 20_000
REPEATS = 5


def main() -> None:
    with start(MySQL, FAST_SERVER) as server, tempfile.TemporaryDirectory() as folder:
        print(f"writing {TRANSACTIONS:,} single-row transactions with MySQL {server.version}")
        log = Path(shutil.copy(play_oltp(server, TRANSACTIONS), folder))
        megabytes = log.stat().st_size / 1e6
        ours = report("binspark.events", lambda: count_ours(log), megabytes)
        peer = report("python-mysql-replication", lambda: count_peer(server, log.name), megabytes)
        print(f"binspark is {ours / peer:.1f} times as fast")


def report(name: str, count: Callable[[], int], megabytes: float) -> float:
    """Measure a reader; print and return its best rate in events per second."""
    events = count()
    best = best_seconds(count, REPEATS)
    rate = events / best
    print(f"{name:<26} {events:>8,} events  {best:6.2f} s  {rate:>10,.0f} events/s  {megabytes / best:6.1f} MB/s")
    return rate


def count_ours(log: Path) -> int:
    return sum(1 for _ in read_events(log))


def count_peer(server: Server, log_name: str) -> int:
    stream = open_peer(server.port, log_name)
    try:
        return sum(1 for _ in stream)
    finally:
        stream.close()


if __name__ == "__main__":
    main()
