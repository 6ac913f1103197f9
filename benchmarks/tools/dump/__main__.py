"""`python -m benchmarks.tools.dump`: the CPU time of `binspark dump` and mysqlbinlog, from start to end of the process.

--megabytes N   the size of each log (default 200)
--rounds N      how often each is printed (default 3); the least CPU time counts

Both print the same bytes, which are discarded. They are run in turns, so that what else the machine does disturbs both.
"""

from __future__ import annotations

import os
import sys

import click

from benchmarks.decode.logs import get_log
from benchmarks.print.printing import least_cpu_seconds
from benchmarks.workloads import WORKLOADS
from binspark.testing.servers import MySQL
from binspark.testing.servers.programs import find_programs


@click.command(help=__doc__)
@click.option("--megabytes", type=float, default=200.0)
@click.option("--rounds", type=int, default=3)
def main(megabytes: float, rounds: int) -> None:
    print(f"load average: {', '.join(f'{load:.1f}' for load in os.getloadavg())} (1, 5, 15 minutes)\n")
    print("| log | MB | options | mysqlbinlog, CPU s | binspark dump, CPU s | times as fast |")
    print("| --- | --- | --- | --- | --- | --- |")
    for workload in WORKLOADS:
        log = get_log(workload, megabytes)
        for options in ((), ("-v",)):
            arguments = (*options, str(log.path))
            commands = {
                "theirs": find_programs(MySQL).command("mysqlbinlog", "--no-defaults", *arguments),
                "ours": [sys.executable, "-m", "binspark", "dump", *arguments],
            }
            seconds = least_cpu_seconds(commands, rounds)
            theirs, ours = seconds["theirs"], seconds["ours"]
            cells = (f"{log.size / 1e6:.0f}", " ".join(options) or "none", f"{theirs:.2f}", f"{ours:.2f}")
            print(f"| {workload.name} | {' | '.join(cells)} | {theirs / ours:.2f} |", flush=True)


if __name__ == "__main__":
    main()
