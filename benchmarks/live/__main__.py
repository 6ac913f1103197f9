"""`python -m benchmarks.live`: a server's log over loopback, copied and shown, beside peers; and how late rows come.

    --megabytes N   size of the log that is copied (default 200); one of twice the size is copied too
    --seconds N     how long rows trickle into Spark (default 20)
    --only WHAT     copies, gtids, or spark

The log is one that `benchmarks.decode` reads, served by a real MySQL server. Programs are measured from start to end,
the best of three runs after one that is not counted. Only binspark verifies checksums and waits until its copy is on
disk. A peer that cannot be had is named.
"""

from __future__ import annotations

import filecmp
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from benchmarks.decode.logs import LOG_NAME, Log, bench_folder, get_log, serving
from benchmarks.live.gtids import measure_gtids
from benchmarks.live.lag import measure_lag
from benchmarks.live.latency import measure_latency
from benchmarks.live.peer import peer_rate
from benchmarks.live.timing import Timing, best, timed
from benchmarks.workloads import BULK, OLTP, Workload
from binspark.kernels import cache
from binspark.testing.servers import MySQL, Server
from binspark.testing.servers.programs import find_programs

GTIDS_MEGABYTES = 40.0


@click.command(help=__doc__)
@click.option("--megabytes", type=float, default=200.0)
@click.option("--seconds", type=float, default=20.0)
@click.option("--only", type=click.Choice(["copies", "gtids", "spark"]))
def main(megabytes: float, seconds: float, only: str | None) -> None:
    cache.enable()
    bench_folder().mkdir(parents=True, exist_ok=True)
    if only in (None, "copies"):
        for workload in (BULK, OLTP):
            copied_and_shown(workload, megabytes)
    if only in (None, "gtids"):
        behind_gtids()
    if only in (None, "spark"):
        late(seconds)
        behind(seconds)


def copied_and_shown(workload: Workload, megabytes: float) -> None:
    """Measure on a log, and on one that is twice as long."""
    copies = []
    for size in (megabytes, 2 * megabytes):
        log = get_log(workload, size)
        with serving(log) as server:
            copies.append(copied(server, log))
            shown(server, log)
    without_start(*copies)


def behind_gtids() -> None:
    """Tell how fast transactions come behind GTIDs."""
    log = get_log(OLTP, GTIDS_MEGABYTES)
    with serving(log) as server:
        followed = measure_gtids(server)
    rates = f"{followed.in_bulk:,.0f} a second in bulk, {followed.one_by_one:,.0f} one by one"
    ratio = followed.in_bulk / followed.one_by_one
    print(f"{followed.transactions:,} transactions behind GTIDs: {rates}: {ratio:.1f}x", flush=True)


def late(seconds: float) -> None:
    """Tell how late rows of a trickle come out of Spark, beside rows that come from nowhere."""
    delays, floor = measure_latency(seconds)
    print(f"commit to row in Spark: {delays}; floor: {floor}; binspark {delays.median / floor.median:.2f}x (goal 1.5)")


def behind(seconds: float) -> None:
    """Tell how far a stream falls behind a bulk load."""
    lag = measure_lag(seconds)
    rate = f"{lag.rows:,} rows at {lag.rows / lag.load_seconds:,.0f} a second"
    age = f"{statistics.median(lag.behind):.2f} s behind (median of batches), {max(lag.behind):.2f} s at most"
    print(f"bulk load of {rate}: the stream is {age}, and there {lag.caught_up:.2f} s after its end")


def copied(server: Server, log: Log) -> Sides:
    """Copy the log with `binspark archive` and with mysqlbinlog."""
    sides = Sides(log, best(lambda: archive(server, log)), best(lambda: raw_copy(server, log)))
    sides.show("archive", "mysqlbinlog --raw", log.size / 1e6, "MB")
    return sides


@dataclass(frozen=True, slots=True)
class Sides:
    """What binspark and a peer took for the same."""

    log: Log
    ours: Timing
    theirs: Timing

    def show(self, what: str, peer: str, amount: float, unit: str) -> None:
        ours, theirs = (_told(side, amount, unit) for side in (self.ours, self.theirs))
        ratio = self.theirs.seconds / self.ours.seconds
        cpu_ratio = self.theirs.cpu_seconds / self.ours.cpu_seconds
        print(f"{self.log.workload.name}, {self.log.size / 1e6:.0f} MB: {what} {ours}, {peer} {theirs}: ", end="")
        print(f"binspark {ratio:.2f}x (goal 1), by processor time {cpu_ratio:.2f}x", flush=True)


def _told(timing: Timing, amount: float, unit: str) -> str:
    rate = f"{amount / timing.seconds:,.0f} {unit}/s"
    return f"{rate} ({timing.seconds:.2f} s, {timing.cpu_seconds:.2f} s of processors)"


def without_start(less: Sides, more: Sides) -> None:
    """Tell the rates of copies apart from what each program takes to start: by what a longer log takes more."""
    megabytes = (more.log.size - less.log.size) / 1e6
    beyond = Sides(more.log, more.ours - less.ours, more.theirs - less.theirs)
    if beyond.ours.seconds > 0 < beyond.theirs.seconds:
        beyond.show(f"archive without start-up, the last {megabytes:.0f} MB", "mysqlbinlog --raw", megabytes, "MB")


def archive(server: Server, log: Log) -> Timing:
    address = f"127.0.0.1:{server.port}"
    command = [sys.executable, "-m", "binspark", "archive", "--host", address, "--user", "root", "--until", "end", "-o"]
    with copy_folder(log) as folder:
        return timed([*command, str(folder)])


def raw_copy(server: Server, log: Log) -> Timing:
    options = ("--no-defaults", "--raw", "--read-from-remote-server", "--host=127.0.0.1", f"--port={server.port}")
    with copy_folder(log) as folder:
        into = ("--user=root", f"--result-file={folder}/", "--to-last-log", LOG_NAME)
        return timed(find_programs(MySQL).command("mysqlbinlog", *options, *into))


@contextmanager
def copy_folder(log: Log) -> Iterator[Path]:
    """Make a folder for a copy, which must be the server's file to the byte."""
    with tempfile.TemporaryDirectory(dir=bench_folder()) as name:
        folder = Path(name)
        yield folder
        if not filecmp.cmp(folder / LOG_NAME, log.path, shallow=False):
            sys.exit(f"{log.workload.name}: the copy is not the server's file")


def shown(server: Server, log: Log) -> None:
    """Show changes as JSON lines with `binspark tail`, and let python-mysql-replication decode them."""
    ours = best(lambda: tail(server, log))
    print(f"{log.workload.name}, {log.size / 1e6:.0f} MB: tail {_told(ours, log.rows, 'rows')}", end="")
    peer = peer_rate(server, log)
    if peer is None:
        print("; python-mysql-replication: not installed, or it finds no rows")
        return
    rates = f"{peer.rows:,.0f} rows/s without its start-up"
    ratios = f"{log.rows / ours.seconds / peer.rows:.1f}x (goal 20)"
    by_processor = f"{log.rows / ours.cpu_seconds / peer.rows_a_cpu_second:.1f}x"
    print(f", python-mysql-replication {rates}: binspark {ratios}, by processor time {by_processor}", flush=True)


def tail(server: Server, log: Log) -> Timing:
    address = f"127.0.0.1:{server.port}"
    command = [sys.executable, "-m", "binspark", "tail", "--host", address, "--user", "root", "--format", "jsonl"]
    with tempfile.TemporaryFile(dir=bench_folder()) as output:
        timing = timed([*command, "--start", "earliest", "--until", "end"], output)
        output.seek(0)
        rows = sum(1 for _ in output)
    if rows != log.rows:
        sys.exit(f"{log.workload.name}: tail shows {rows:,} rows, the log has {log.rows:,}")
    return timing


if __name__ == "__main__":
    main()
