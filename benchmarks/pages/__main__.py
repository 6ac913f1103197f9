"""`python -m benchmarks.pages`: the time of `binspark report`, from the start of its process to its end.

--sizes N,…   megabytes of each log (default 10,100,1000)
--rounds N    how often each is reported on (default 3); the least CPU time counts

The report reads a log three times: for its events and transactions, for the keys of its rows, and to verify it.
Commands are run in turns with `binspark stat`, which reads it once, so that other load disturbs both alike.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from benchmarks.decode.logs import get_log
from benchmarks.print.printing import least_cpu_seconds
from benchmarks.workloads import BULK, OLTP


@click.command(help=__doc__)
@click.option("--sizes", default="10,100,1000")
@click.option("--rounds", type=int, default=3)
def main(sizes: str, rounds: int) -> None:
    print(f"load average: {', '.join(f'{load:.1f}' for load in os.getloadavg())} (1, 5, 15 minutes)\n")
    print("| log | MB | report, CPU s | MB/s | stat, CPU s |")
    print("| --- | --- | --- | --- | --- |")
    with TemporaryDirectory() as folder:
        for workload in (BULK, OLTP):
            for megabytes in map(float, sizes.split(",")):
                log = get_log(workload, min(megabytes, 400.0) if workload is OLTP else megabytes)
                page = Path(folder) / "report.html"
                command = [sys.executable, "-m", "binspark"]
                seconds = least_cpu_seconds(
                    {
                        "report": [*command, "report", str(log.path), "-o", str(page)],
                        "stat": [*command, "stat", str(log.path)],
                    },
                    rounds,
                )
                rate = log.size / 1e6 / seconds["report"]
                cells = (f"{log.size / 1e6:.0f}", f"{seconds['report']:.2f}", f"{rate:,.0f}", f"{seconds['stat']:.2f}")
                print(f"| {workload.name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
