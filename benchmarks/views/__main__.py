"""`python -m benchmarks.views`: events and transactions of a log through Spark, beside `changes` in the same run.

    --megabytes N    size of the logs (default 50)
    --workload NAME  only this workload; may be repeated (default oltp and bulk)
    --repeats N      how often each view is read (default 3)
    --no-spark       only the readers, in this process

CPU seconds of Spark, its Java and its Python workers together (user and system), so that other programs on the machine
disturb less. The views take turns, and the best of each counts. The logs are written by a real MySQL server the first
time and kept in the cache directory.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
from pyspark.sql import SparkSession

from benchmarks.decode.logs import Log, bench_folder, get_log
from benchmarks.spark.session import make_session, to_noop
from benchmarks.workloads import BULK, OLTP
from binspark.files.split_reader import SplitReader
from binspark.kernels import cache
from binspark.spark.batch import make_view
from binspark.spark.options import read_options
from binspark.spark.plan import make_plan
from binspark.spark.source import view_schema

WORKLOADS = {workload.name: workload for workload in (OLTP, BULK)}
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class View:
    """A view, its options, and what one of its rows is."""

    name: str
    options: dict[str, str]
    unit: str


VIEWS = (
    View("changes", {}, "rows"),
    View("changes, JSON", {"rows": "json"}, "rows"),
    View("transactions", {"view": "transactions"}, "transactions"),
    View("events", {"view": "events"}, "events"),
    View("events, body", {"view": "events", "body": "true"}, "events"),
)


@click.command(help=__doc__)
@click.option("--megabytes", type=float, default=50.0)
@click.option("--workload", "workloads", type=click.Choice(list(WORKLOADS)), multiple=True, default=tuple(WORKLOADS))
@click.option("--repeats", type=int, default=3)
@click.option("--no-spark", is_flag=True)
def main(megabytes: float, workloads: tuple[str, ...], repeats: int, no_spark: bool) -> None:
    cache.enable()
    bench_folder().mkdir(parents=True, exist_ok=True)
    logs = [get_log(WORKLOADS[name], megabytes) for name in workloads]
    for log in logs:
        report(log, "readers alone", {view.name: reading(log, view) for view in VIEWS}, time.process_time, repeats)
    if no_spark:
        return
    with tempfile.TemporaryDirectory(dir=bench_folder()) as name:
        spark = make_session(Path(name))
        try:
            for log in logs:
                work = {view.name: querying(spark, log, view, Path(name)) for view in VIEWS}
                report(log, "through Spark, to noop", work, tree_cpu_seconds, repeats)
        finally:
            spark.stop()


def reading(log: Log, view: View) -> Callable[[], int]:
    """Return the work of an executor: the batches of all splits. It returns how many rows they have."""
    options = read_options({"path": str(log.path), **view.options})
    plan = make_plan(options)
    make = make_view(options, view_schema(options), None)

    def work() -> int:
        reader = SplitReader(plan.history)
        return sum(batch.num_rows for split in plan.splits for batch in make.read(split, reader))

    return work


def querying(spark: SparkSession, log: Log, view: View, folder: Path) -> Callable[[], int]:
    """Return a query. It returns 0: the number of rows is known from the readers."""

    def work() -> int:
        to_noop(spark.read.format("binlog").options(**view.options).load(str(log.path)), folder)
        return 0

    return work


def report(log: Log, how: str, work: dict[str, Callable[[], int]], clock: Callable[[], float], repeats: int) -> None:
    """Let the views take turns, and print the best of each."""
    print(f"\n{log.workload.name}: {log.workload.about}, {log.size / 1e6:.0f} MB; {how}")
    counts = COUNTS.setdefault(log.workload.name, {})
    seconds: dict[str, float] = dict.fromkeys(work, float("inf"))
    for turn in range(repeats + 1):
        for name, run in work.items():
            before = clock()
            count = run()
            counts[name] = count or counts[name]
            if turn:  # the first turn warms up
                seconds[name] = min(seconds[name], clock() - before)
    units = {view.name: view.unit for view in VIEWS}
    for name, spent in seconds.items():
        rate = f"{counts[name]:>9,} {units[name]:<12} {counts[name] / spent:>12,.0f} per CPU second"
        print(f"  {name:<14} {spent:6.2f} CPU s  {rate}  {spent / seconds['changes']:5.2f} of changes", flush=True)


COUNTS: dict[str, dict[str, int]] = {}


def tree_cpu_seconds() -> float:
    """Return the CPU time of this process and of all that it started, at any depth."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            ticks[int(entry.name)] = sum(map(int, fields[11:15]))
    own = os.getpid()
    return sum(count for process, count in ticks.items() if _descends(process, own, parents)) / _TICKS


def _descends(process: int, ancestor: int, parents: dict[int, int]) -> bool:
    while process and process != ancestor:
        process = parents.get(process, 0)
    return process == ancestor


if __name__ == "__main__":
    main()
