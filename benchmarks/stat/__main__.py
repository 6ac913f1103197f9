"""`python -m benchmarks.stat`: the CPU time of `binspark stat`, from the start of its process to its end.

--bulk N     megabytes of the log of large transactions (default 1000)
--oltp N     megabytes of the log of small transactions (default 200)
--rounds N   how often each is counted (default 3); the least CPU time counts

Commands are run in turns, so that what else the machine does disturbs all of them alike. The start-up is that of a log
of 10 MB.
"""

from __future__ import annotations

import os
import sys

import click

from benchmarks.decode.logs import Log, get_log
from benchmarks.print.printing import least_cpu_seconds
from benchmarks.workloads import BULK, OLTP

GOALS = {"bulk": "1,000 MB/s", "oltp": "420 MB/s"}
"""That of bulk was set for it; that of oltp is ten times the rate before parallelism was counted by a kernel."""


@click.command(help=__doc__)
@click.option("--bulk", type=float, default=1000.0)
@click.option("--oltp", type=float, default=200.0)
@click.option("--rounds", type=int, default=3)
def main(bulk: float, oltp: float, rounds: int) -> None:
    logs = [get_log(BULK, bulk), get_log(OLTP, oltp)]
    small = get_log(BULK, 10.0)
    print(f"load average: {', '.join(f'{load:.1f}' for load in os.getloadavg())} (1, 5, 15 minutes)\n")
    print("| log | MB | CPU s | MB/s | without start-up, MB/s | goal |")
    print("| --- | --- | --- | --- | --- | --- |")
    seconds = least_cpu_seconds({str(log.path): _command(log) for log in [*logs, small]}, rounds)
    for log in logs:
        mine, megabytes = seconds[str(log.path)], log.size / 1e6
        without = (log.size - small.size) / 1e6 / (mine - seconds[str(small.path)])
        cells = (f"{megabytes:.0f}", f"{mine:.2f}", f"{megabytes / mine:,.0f}", f"{without:,.0f}")
        print(f"| {log.workload.name} | {' | '.join(cells)} | {GOALS[log.workload.name]} |", flush=True)


def _command(log: Log) -> list[str]:
    return [sys.executable, "-m", "binspark", "stat", str(log.path)]


if __name__ == "__main__":
    main()
