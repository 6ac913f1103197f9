"""`python -m benchmarks.tools`: how fast logs become SQL, and are undone, beside mysqlbinlog -v of the same logs.

    --megabytes N   size of each log (default 200; JSON logs a quarter of it)
    --workload W    only this workload; may be repeated
    --rounds N      how often each command is run (default 3); the least time counts

All commands print to /dev/null. They are run in turns, so that what else the machine does disturbs all of them alike.
The logs have no names of columns, which is the server's default: they come from a file with the table's definition.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.decode.logs import PRINT_ROWS, Log, get_log
from benchmarks.timing import program_environment
from benchmarks.workloads import BULK, COMPRESSED, JSON, OLTP, UPDATE, WIDE
from binspark.testing.servers import MySQL
from binspark.testing.servers.programs import find_programs

WORKLOADS = (BULK, OLTP, WIDE, JSON, UPDATE, COMPRESSED)
PEER = "mysqlbinlog -v"


class Cost(NamedTuple):
    """What a command took: CPU time, time by the clock, and the most memory that it had, in MB."""

    cpu: float
    wall: float
    memory: int


@click.command(help=__doc__)
@click.option("--megabytes", type=float, default=200.0)
@click.option("--workload", "names", type=click.Choice([workload.name for workload in WORKLOADS]), multiple=True)
@click.option("--rounds", type=int, default=3)
def main(megabytes: float, names: tuple[str, ...], rounds: int) -> None:
    print(f"MySQL {find_programs(MySQL).version}, Python {platform.python_version()}, {platform.machine()}")
    print(f"load average: {', '.join(f'{load:.1f}' for load in os.getloadavg())} (1, 5, 15 minutes)\n")
    print("| workload | MB | rows | command | CPU s | wall s | peak MB | times mysqlbinlog -v (CPU) | (wall) |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for workload in WORKLOADS:
        if not names or workload.name in names:
            print_log(get_log(workload, megabytes), rounds)


def print_log(log: Log, rounds: int) -> None:
    """Print what each command takes for a log."""
    with tempfile.TemporaryDirectory() as folder:
        schema = Path(folder) / "schema.sql"
        schema.write_text(f"CREATE DATABASE bench;\nUSE bench;\n{log.workload.table};\n")
        ours = [sys.executable, "-m", "binspark", "sql", str(log.path), "--schema-file", str(schema)]
        commands = {
            PEER: find_programs(MySQL).command("mysqlbinlog", *PRINT_ROWS, str(log.path)),
            "binspark sql": ours,
            "binspark sql --undo": [*ours, "--undo"],
        }
        costs = least_costs(commands, rounds)
    for name, cost in costs.items():
        ratios = (costs[PEER].cpu / cost.cpu, costs[PEER].wall / cost.wall)
        described = (log.workload.name, f"{log.size / 1e6:.0f}", f"{log.rows:,}", name)
        measured = (f"{cost.cpu:.2f}", f"{cost.wall:.2f}", str(cost.memory), *(f"{ratio:.2f}" for ratio in ratios))
        print("| " + " | ".join((*described, *measured)) + " |", flush=True)


def least_costs(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, Cost]:
    """Run commands in turns; return the least cost of each. Kernels are compiled in a first round."""
    found: dict[str, list[Cost]] = {name: [] for name in commands}
    for turn in range(rounds + 1):
        for name, command in commands.items():
            cost = cost_of(command)
            if turn:
                found[name].append(cost)
    return {name: Cost(*(min(numbers) for numbers in zip(*costs, strict=True))) for name, costs in found.items()}


def cost_of(command: Sequence[str]) -> Cost:
    """Run a command and return what it took."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=program_environment())
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss // 1000)


if __name__ == "__main__":
    main()
