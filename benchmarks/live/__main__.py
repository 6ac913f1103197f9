"""`python -m benchmarks.live`: a server's log over loopback, copied and shown, beside peers; and how late rows come.

    --megabytes N   size of the log that is copied (default 200)
    --seconds N     how long rows trickle into Spark (default 20)

The log is one that `benchmarks.decode` reads, served by a real MySQL server. A peer that cannot be had is named.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from benchmarks.decode import python_replication
from benchmarks.decode.figure import PeerUnavailable
from benchmarks.decode.logs import LOG_NAME, Log, bench_folder, get_log, serving
from benchmarks.live.lag import measure_lag
from benchmarks.live.latency import measure_latency
from benchmarks.workloads import BULK, OLTP
from binspark.testing.servers import MySQL, Server
from binspark.testing.servers.programs import find_programs

REPEATS = 3


@click.command(help=__doc__)
@click.option("--megabytes", type=float, default=200.0)
@click.option("--seconds", type=float, default=20.0)
def main(megabytes: float, seconds: float) -> None:
    bench_folder().mkdir(parents=True, exist_ok=True)
    for workload in (BULK, OLTP):
        log = get_log(workload, megabytes)
        with serving(log) as server:
            copied(server, log)
            shown(server, log)
    late(seconds)
    behind(seconds)


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


def copied(server: Server, log: Log) -> None:
    """Copy the log with `binspark archive` and with mysqlbinlog; compare the copies with the file."""
    ours = best(lambda folder: archive(server, folder), log)
    theirs = best(lambda folder: raw_copy(server, folder), log)
    rates = f"{log.size / ours / 1e6:.0f} MB/s, mysqlbinlog --raw {log.size / theirs / 1e6:.0f} MB/s"
    print(f"{log.workload.name}: archive {rates}, binspark {theirs / ours:.2f}x (goal 1)")


def best(copy: object, log: Log) -> float:
    """Return the shortest time of some copies, each of which is the server's file to the byte."""
    times = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory(dir=bench_folder()) as folder:
            began = time.perf_counter()
            copy(Path(folder))  # type: ignore[operator]
            times.append(time.perf_counter() - began)
            if (Path(folder) / LOG_NAME).read_bytes() != log.path.read_bytes():
                sys.exit(f"{log.workload.name}: the copy is not the server's file")
    return min(times)


def archive(server: Server, folder: Path) -> None:
    address = f"127.0.0.1:{server.port}"
    command = [sys.executable, "-m", "binspark", "archive", "--host", address, "--user", "root", "-o", str(folder)]
    subprocess.run([*command, "--until-end"], check=True, capture_output=True)


def raw_copy(server: Server, folder: Path) -> None:
    options = ("--no-defaults", "--raw", "--read-from-remote-server", "--host=127.0.0.1", f"--port={server.port}")
    command = find_programs(MySQL).command(
        "mysqlbinlog", *options, "--user=root", f"--result-file={folder}/", "--to-last-log", LOG_NAME
    )
    subprocess.run(command, check=True, capture_output=True)


def shown(server: Server, log: Log) -> None:
    """Show changes as JSON lines with `binspark tail`, and let python-mysql-replication decode them."""
    address = f"127.0.0.1:{server.port}"
    command = [sys.executable, "-m", "binspark", "tail", "--host", address, "--user", "root", "--format", "jsonl"]
    began = time.perf_counter()
    with tempfile.TemporaryFile(dir=bench_folder()) as output:
        subprocess.run([*command, "--start", "earliest", "--until", "end"], check=True, stdout=output)
        seconds = time.perf_counter() - began
        output.seek(0)
        rows = sum(1 for _ in output)
    if rows != log.rows:
        sys.exit(f"{log.workload.name}: tail shows {rows:,} rows, the log has {log.rows:,}")
    line = f"{log.workload.name}: tail {log.rows / seconds:,.0f} rows/s"
    try:
        peer = python_replication.measure(log)
    except PeerUnavailable as error:
        print(f"{line}; python-mysql-replication: {error}")
        return
    rate = peer.rows / peer.seconds
    print(f"{line}, python-mysql-replication {rate:,.0f}, binspark {log.rows / seconds / rate:.1f}x (goal 20)")


if __name__ == "__main__":
    main()
