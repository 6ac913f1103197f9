"""`python -m benchmarks.live`: a server's log, archived and followed over loopback, by binspark and peers; and latency.

    --megabytes N   size of the log that is copied (default 200); a log of twice the size is also copied
    --seconds N     how long rows are inserted for Spark (default 20)
    --only PART     copies, gtids, or spark

The log is one that `benchmarks.decode` reads, on a real MySQL server. Programs are measured from start to exit: the
best of three repeats, after one to warm up. Only binspark verifies checksums and waits until its copy is on disk. A
peer that is not available is reported.
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
            measure_copies_and_tail(workload, megabytes)
    if only in (None, "gtids"):
        measure_start_by_gtids()
    if only in (None, "spark"):
        print_latency(seconds)
        print_lag(seconds)


def measure_copies_and_tail(workload: Workload, megabytes: float) -> None:
    """Measure on a log, and on one of twice the size."""
    copies = []
    for size in (megabytes, 2 * megabytes):
        log = get_log(workload, size)
        with serving(log) as server:
            copies.append(measure_copies(server, log))
            measure_tail(server, log)
    print_without_startup(*copies)


def measure_start_by_gtids() -> None:
    """Print how fast transactions are read from a position that is a GTID set."""
    log = get_log(OLTP, GTIDS_MEGABYTES)
    with serving(log) as server:
        followed = measure_gtids(server)
    rates = f"{followed.in_bulk:,.0f} per second in bulk, {followed.one_by_one:,.0f} one per chunk"
    ratio = followed.in_bulk / followed.one_by_one
    print(f"{followed.transactions:,} transactions after GTIDs: {rates}: {ratio:.1f}x", flush=True)


def print_latency(seconds: float) -> None:
    """Print the latency of single rows through Spark, compared with a source without a server."""
    delays, floor = measure_latency(seconds)
    ratio = delays.median / floor.median
    print(f"latency from commit to sink: {delays}; without a server: {floor}; binspark {ratio:.2f}x (goal 1.5)")


def print_lag(seconds: float) -> None:
    """Print how far a stream lags behind a bulk load."""
    lag = measure_lag(seconds)
    rate = f"{lag.rows:,} rows at {lag.rows / lag.load_seconds:,.0f} per second"
    ages = f"{statistics.median(lag.ages):.2f} s (median of batches), {max(lag.ages):.2f} s at most"
    print(f"bulk load of {rate}: the stream lags by {ages}, and catches up {lag.catch_up_seconds:.2f} s after its end")


def measure_copies(server: Server, log: Log) -> Comparison:
    """Copy the log with `binspark archive` and with mysqlbinlog."""
    comparison = Comparison(log, best(lambda: archive(server, log)), best(lambda: raw_copy(server, log)))
    comparison.print("archive", "mysqlbinlog --raw", log.size / 1e6, "MB")
    return comparison


@dataclass(frozen=True, slots=True)
class Comparison:
    """The times of binspark and of a peer for the same work."""

    log: Log
    ours: Timing
    theirs: Timing

    def print(self, what: str, peer: str, amount: float, unit: str) -> None:
        ours, theirs = (_rate(timing, amount, unit) for timing in (self.ours, self.theirs))
        ratio = self.theirs.seconds / self.ours.seconds
        cpu_ratio = self.theirs.cpu_seconds / self.ours.cpu_seconds
        print(f"{self.log.workload.name}, {self.log.size / 1e6:.0f} MB: {what} {ours}, {peer} {theirs}: ", end="")
        print(f"binspark {ratio:.2f}x (goal 1), by CPU time {cpu_ratio:.2f}x", flush=True)


def _rate(timing: Timing, amount: float, unit: str) -> str:
    rate = f"{amount / timing.seconds:,.0f} {unit}/s"
    return f"{rate} ({timing.seconds:.2f} s, {timing.cpu_seconds:.2f} s of CPU)"


def print_without_startup(short: Comparison, long: Comparison) -> None:
    """Print the rates without the start of each program: the difference between a short and a long log."""
    megabytes = (long.log.size - short.log.size) / 1e6
    difference = Comparison(long.log, long.ours - short.ours, long.theirs - short.theirs)
    if difference.ours.seconds > 0 < difference.theirs.seconds:
        difference.print(f"archive without start-up, the last {megabytes:.0f} MB", "mysqlbinlog --raw", megabytes, "MB")


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
    """Create a directory for a copy, which must be identical to the server's file."""
    with tempfile.TemporaryDirectory(dir=bench_folder()) as name:
        folder = Path(name)
        yield folder
        if not filecmp.cmp(folder / LOG_NAME, log.path, shallow=False):
            sys.exit(f"{log.workload.name}: the copy is not identical to the server's file")


def measure_tail(server: Server, log: Log) -> None:
    """Print changes as JSON lines with `binspark tail`, and decode them with python-mysql-replication."""
    ours = best(lambda: tail(server, log))
    print(f"{log.workload.name}, {log.size / 1e6:.0f} MB: tail {_rate(ours, log.rows, 'rows')}", end="")
    peer = peer_rate(server, log)
    if peer is None:
        print("; python-mysql-replication is not installed, or reads no rows")
        return
    rates = f"{peer.rows:,.0f} rows/s without its start-up"
    ratios = f"{log.rows / ours.seconds / peer.rows:.1f}x (goal 20)"
    by_cpu = f"{log.rows / ours.cpu_seconds / peer.rows_per_cpu_second:.1f}x"
    print(f", python-mysql-replication {rates}: binspark {ratios}, by CPU time {by_cpu}", flush=True)


def tail(server: Server, log: Log) -> Timing:
    address = f"127.0.0.1:{server.port}"
    command = [sys.executable, "-m", "binspark", "tail", "--host", address, "--user", "root", "--format", "jsonl"]
    with tempfile.TemporaryFile(dir=bench_folder()) as output:
        timing = timed([*command, "--start", "earliest", "--until", "end"], output)
        output.seek(0)
        rows = sum(1 for _ in output)
    if rows != log.rows:
        sys.exit(f"{log.workload.name}: tail prints {rows:,} rows, the log has {log.rows:,}")
    return timing


if __name__ == "__main__":
    main()
