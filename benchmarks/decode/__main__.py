"""`python -m benchmarks.decode`: how fast binspark and its peers decode the same logs.

    --megabytes N   size of each log (default 200; JSON logs a quarter of it)
    --workload W    only this workload; may be repeated
    --memory        also measure peak memory, on 4 GB of logs and on one transaction of 2 GB: 20 GB of disk, minutes
    --only-memory   measure nothing else

Logs are written by a real MySQL server the first time and kept in the cache directory. A peer that is not available is
reported.
"""

from __future__ import annotations

import os
import platform
import sys

import click

from benchmarks.decode import (
    go_mysql,
    java_connector,
    limits,
    memory,
    mysql_common,
    mysqlbinlog,
    ours,
    python_replication,
)
from benchmarks.decode.figure import Figure, PeerUnavailable
from benchmarks.decode.logs import Log, get_log
from benchmarks.decode.programs import PASSES
from benchmarks.decode.report import (
    GO,
    JAVA,
    MYSQLBINLOG,
    PYTHON,
    RUST,
    Result,
    first_pass_table,
    limits_table,
    logs_table,
    peers_table,
)
from benchmarks.workloads import WORKLOADS, Workload
from binspark.kernels import cache
from binspark.testing.servers import MySQL
from binspark.testing.servers.programs import find_programs

PEERS = {
    JAVA: java_connector.measure,
    GO: go_mysql.measure,
    RUST: mysql_common.measure,
    MYSQLBINLOG: mysqlbinlog.measure,
    PYTHON: python_replication.measure,
}
NAMES = [workload.name for workload in WORKLOADS]


@click.command(help=__doc__)
@click.option("--megabytes", type=float, default=200.0)
@click.option("--workload", "names", type=click.Choice(NAMES), multiple=True)
@click.option("--memory", "with_memory", is_flag=True)
@click.option("--only-memory", is_flag=True)
def main(megabytes: float, names: tuple[str, ...], with_memory: bool, only_memory: bool) -> None:
    cache.enable()
    if not only_memory:
        chosen = [workload for workload in WORKLOADS if workload.name in (names or NAMES)]
        print_results([measure(workload, megabytes) for workload in chosen])
    if with_memory or only_memory:
        memory.measure_both()


def measure(workload: Workload, megabytes: float) -> Result:
    """Measure every reader on the log of one workload."""
    report_progress(f"{workload.name}: log")
    log = get_log(workload, megabytes)
    report_progress(f"{workload.name}: binspark")
    passes = ours.measure(log)
    check(log, "binspark", passes.first)
    check(log, "binspark", passes.later)
    two_threads = ours.measure_two_threads(log)
    peers = {name: measure_peer(name, log) for name in PEERS}
    return Result(log, passes, peers, limits.measure(log), two_threads)


def measure_peer(name: str, log: Log) -> Figure | str:
    """Return a peer's figure, or why there is none."""
    report_progress(f"{log.workload.name}: {name}")
    try:
        figure = PEERS[name](log)
    except PeerUnavailable as error:
        return str(error)
    if name != PYTHON:  # it reads a part of the log, and has checked the rows of that part
        check(log, name, figure)
    return figure


def check(log: Log, name: str, figure: Figure) -> None:
    """Exit if a reader does not read all rows."""
    if figure.rows != log.rows:
        sys.exit(f"{log.workload.name}: {name} reads {figure.rows:,} rows, mysqlbinlog {log.rows:,}")


def print_results(results: list[Result]) -> None:
    """Print the figures, and the conditions under which they were measured."""
    print(f"MySQL {find_programs(MySQL).version}, Python {platform.python_version()}, {platform.machine()}")
    print(f"load average: {', '.join(f'{load:.1f}' for load in os.getloadavg())} (1, 5, 15 minutes)")
    print(f"java {' '.join(java_connector.JVM_FLAGS)}, go {go_mysql.RUNTIME}; pass {PASSES} of one process")
    for table in (logs_table, peers_table, first_pass_table, limits_table):
        print(f"\n{table(results)}")


def report_progress(line: str) -> None:
    """Print what is measured now, to standard error."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
