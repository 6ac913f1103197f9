"""`python -m benchmarks.print`: the CPU time in which rows are printed, beside mysqlbinlog -v, and made into objects.

    --megabytes N   size of each log (default 200; JSON logs a quarter of it)
    --workload W    only this workload; may be repeated
    --rounds N      how often each command is run (default 3); the least CPU time counts

All commands print to /dev/null. They are run in turns, so that what else the machine does disturbs all of them alike.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable

import click

from benchmarks.decode.figure import PeerUnavailable
from benchmarks.decode.logs import PRINT_ROWS, Log, get_log
from benchmarks.print import objects, printing
from benchmarks.workloads import BULK, COMPRESSED, JSON, OLTP, UPDATE, WIDE, Workload
from binspark.testing.servers import MySQL
from binspark.testing.servers.programs import find_programs

WORKLOADS = (BULK, OLTP, WIDE, JSON, UPDATE, COMPRESSED)
GOAL_PRINT, GOAL_OBJECTS = 2, 10
FORMATS = ("text", "jsonl")


@click.command(help=__doc__)
@click.option("--megabytes", type=float, default=200.0)
@click.option("--workload", "names", type=click.Choice([workload.name for workload in WORKLOADS]), multiple=True)
@click.option("--rounds", type=int, default=3)
def main(megabytes: float, names: tuple[str, ...], rounds: int) -> None:
    logs = [get_log(workload, megabytes) for workload in _chosen(names)]
    print(f"MySQL {find_programs(MySQL).version}, Python {platform.python_version()}, {platform.machine()}")
    print(f"load average: {', '.join(f'{load:.1f}' for load in os.getloadavg())} (1, 5, 15 minutes)\n")
    print("| workload | MB | rows | printed by | CPU s | M rows/s | times mysqlbinlog -v | without start-up | goal |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for log in logs:
        print_log(log, rounds)
    print("\n| workload | objects of | rows per CPU second | binspark is … times as fast | goal |")
    print("| --- | --- | --- | --- | --- |")
    for log in logs:
        print_objects(log)


def _chosen(names: tuple[str, ...]) -> list[Workload]:
    return [workload for workload in WORKLOADS if not names or workload.name in names]


def print_log(log: Log, rounds: int) -> None:
    """Print how fast a log is printed."""
    mysqlbinlog = find_programs(MySQL).command("mysqlbinlog", *PRINT_ROWS, str(log.path))
    commands = {"mysqlbinlog -v": mysqlbinlog}
    commands |= {name: [sys.executable, "-m", "binspark", "rows", "--format", name, str(log.path)] for name in FORMATS}
    seconds = printing.least_cpu_seconds(commands, rounds)
    peer = seconds["mysqlbinlog -v"]
    print(_row(log, "mysqlbinlog -v", peer, "", "", ""))
    for name in FORMATS:
        inside = printing.least_cpu_seconds_inside(log, name, rounds)
        ratios = (f"{peer / seconds[name]:.1f}", f"{peer / inside:.1f}")
        print(_row(log, f"binspark rows --format {name}", seconds[name], *ratios, f"{GOAL_PRINT}"), flush=True)


def _row(log: Log, name: str, seconds: float, *cells: str) -> str:
    rate = log.rows / seconds / 1e6
    first = (log.workload.name, f"{log.size / 1e6:.0f}", f"{log.rows:,}", name, f"{seconds:.2f}", f"{rate:.2f}")
    return "| " + " | ".join((*first, *cells)) + " |"


def print_objects(log: Log) -> None:
    """Print how fast the rows of a log become objects, here and in python-mysql-replication."""
    ours = _rate(lambda: objects.rows_per_cpu_second(log))
    peer = _rate(lambda: objects.peer_rows_per_cpu_second(log))
    ratio = f"{ours / peer:.1f}" if isinstance(ours, float) and isinstance(peer, float) else ""
    name = log.workload.name
    print(f"| {name} | python-mysql-replication | {_shown(peer)} | | |")
    print(f"| {name} | binspark.rows | {_shown(ours)} | {ratio} | {GOAL_OBJECTS} |", flush=True)


def _rate(measure: Callable[[], float]) -> float | str:
    try:
        return measure()
    except PeerUnavailable as error:
        return f"skipped: {error}"


def _shown(rate: float | str) -> str:
    return rate if isinstance(rate, str) else f"{rate:,.0f}"


if __name__ == "__main__":
    main()
