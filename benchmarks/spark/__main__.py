"""`python -m benchmarks.spark`: how fast Spark reads a log, compared with other ways to read the same rows.

    --megabytes N   size of the log (default 600: about 5.8 million rows of 10 columns)
    --no-peers      only binspark and the ceiling
    --sink S        only this sink; may be repeated
    --cores N       how many cores Spark has (default 2); a single core is measured in its own process

The ceiling is a source that yields the same batches, decoded before. The log is written by a real MySQL server the
first time and kept in the cache directory. A peer that is not available is reported.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from benchmarks.decode.logs import LOG_NAME, Log, bench_folder, get_log, serving
from benchmarks.spark.memory import worker_peak_bytes
from benchmarks.spark.session import SINKS, best_warm_seconds, make_session
from benchmarks.spark.sources import (
    binspark_source,
    decoded_source,
    has_peer,
    options_of,
    peer_source,
    text_source,
)
from benchmarks.workloads import SALES

PEER_ROWS = 60_000
GOALS = {"noop": 0.75, "parquet": 0.75}
TERABYTE = 1e12


@click.command(help=__doc__)
@click.option("--megabytes", type=float, default=600.0)
@click.option("--no-peers", is_flag=True)
@click.option("--cores", type=int, default=2)
@click.option("--sink", "sinks", type=click.Choice(list(SINKS)), multiple=True, default=tuple(SINKS))
@click.option("--only-noop", is_flag=True, hidden=True)
def main(megabytes: float, no_peers: bool, cores: int, sinks: tuple[str, ...], only_noop: bool) -> None:
    log = get_log(SALES, megabytes)
    bench_folder().mkdir(parents=True, exist_ok=True)
    if only_noop:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # otherwise Java and Python would use two cores
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory(dir=bench_folder()) as name:
        spark = make_session(Path(name), cores)
        try:
            if only_noop:
                ours = binspark_source(spark, options_of(log, Path(name)))
                print(best_warm_seconds(writing(ours, "noop", Path(name))))
            else:
                seconds = measure(spark, log, Path(name), sinks, peers=not no_peers)
        finally:
            spark.stop()
    if "noop" in seconds:
        one = float(subprocess.run(_one_core(megabytes), capture_output=True, text=True, check=True).stdout.split()[-1])
        print(f"noop on one core: {one:.2f} s; {cores} cores are {one / seconds['noop']:.2f} times as fast (goal 1.7)")


def _one_core(megabytes: float) -> list[str]:
    return [sys.executable, "-m", "benchmarks.spark", "--megabytes", str(megabytes), "--cores", "1", "--only-noop"]


def writing(read: Callable[[], DataFrame], sink: str, folder: Path) -> Callable[[], None]:
    """Return the work that is measured: reading rows and writing them to a sink."""
    return lambda: SINKS[sink](read(), folder)


def measure(spark: SparkSession, log: Log, folder: Path, sinks: tuple[str, ...], *, peers: bool) -> dict[str, float]:
    """Measure every source with every sink, and print a table; return binspark's seconds for each sink."""
    taken: dict[str, float] = {}
    print(f"{log.rows:,} rows of 10 columns, {log.size / 1e6:.0f} MB of log, spark {spark.version}")
    options = options_of(log, folder)
    ours = binspark_source(spark, options)
    others: dict[str, Callable[[], DataFrame]] = {"ceiling": decoded_source(spark, options, folder)}
    if peers:
        others |= {kind: text_source(spark, kind, ours(), folder) for kind in ("csv", "json")}
    rate = peer_rate(spark, log, ours().schema, folder) if peers and has_peer() else None
    print("sink      binspark            " + "".join(f"{name:<24}" for name in others))
    for sink in sinks:
        seconds = best_warm_seconds(writing(ours, sink, folder))
        taken[sink] = seconds
        line = f"{sink:<9} {seconds:5.2f} s {log.rows / seconds / 1e6:5.2f} M/s  "
        for read in others.values():
            theirs = best_warm_seconds(writing(read, sink, folder))
            line += f"{theirs:5.2f} s, binspark {theirs / seconds:4.2f}x  "
        goal = f"  (goal: {GOALS[sink]:.2f} of the ceiling)" if sink in GOALS else ""
        print(line + goal, flush=True)
        if sink == "noop":
            print_estimate(log, seconds)
            if rate is not None:
                ratio = log.rows / seconds / rate
                print(f"python-mysql-replication in mapPartitions: {rate:,.0f} rows/s, binspark {ratio:.0f}x")
    print(f"peak memory of a Python worker: {worker_peak_bytes() / 1e6:.0f} MB (goal 1000 MB)")
    print(f"load average: {', '.join(f'{load:.1f}' for load in os.getloadavg())}")
    return taken


def peer_rate(spark: SparkSession, log: Log, schema: StructType, folder: Path) -> float:
    """Return how many rows per second the peer writes to noop; it is slow, so it reads a part of the log."""
    with serving(log) as server:
        read = peer_source(spark, server.port, LOG_NAME, PEER_ROWS, schema)
        began = time.perf_counter()
        SINKS["noop"](read(), folder)
        return PEER_ROWS / (time.perf_counter() - began)


def print_estimate(log: Log, seconds: float) -> None:
    """Print what the rate of these cores means for many."""
    rate = log.size / seconds / (os.cpu_count() or 1)
    minutes = TERABYTE / rate / 100 / 60
    print(f"          {rate / 1e6:.0f} MB of log per second and core; 1 TB on 100 cores: {minutes:.1f} minutes")


if __name__ == "__main__":
    main()
