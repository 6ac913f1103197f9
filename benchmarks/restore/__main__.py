"""`python -m benchmarks.restore`: how long `binspark restore --apply` takes, and `mysqlbinlog | mysql`.

Both apply the same log to an empty table of the same server, in turn. Shown are the CPU seconds (user and system) of
the client programs, those of the server, and the time on the clock; the least of several runs counts, with start-up.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.decode.logs import Log, get_log
from benchmarks.timing import program_environment
from benchmarks.workloads import BULK, FAST_SERVER, OLTP, Workload
from binspark.testing.servers import MySQL, Server, start

MEGABYTES = ((BULK, 50), (OLTP, 10))
REPEATS = 3


class Cost(NamedTuple):
    """What a recovery took, in seconds."""

    client: float
    server: float
    clock: float


def main() -> None:
    with start(MySQL, FAST_SERVER) as server:
        for workload, megabytes in MEGABYTES:
            log = get_log(workload, megabytes)
            ways: dict[str, Callable[[], object]] = {
                "binspark restore": partial(_restore, server, log),
                "mysqlbinlog | mysql": partial(_mysqlbinlog, server, log),
            }
            best: dict[str, Cost] = {}
            for _ in range(REPEATS):
                for name, apply in ways.items():
                    cost = _measured(server, workload, apply)
                    known = best.get(name, cost)
                    best[name] = Cost(*(min(pair) for pair in zip(cost, known, strict=True)))
            for name, cost in best.items():
                rate = log.size / 1e6 / cost.clock
                print(
                    f"{workload.name:<6} {log.size / 1e6:6.1f} MB  {name:<20} client {cost.client:6.2f} s  "
                    f"server {cost.server:6.2f} s  clock {cost.clock:6.2f} s  {rate:6.1f} MB/s"
                )


def _measured(server: Server, workload: Workload, apply: Callable[[], object]) -> Cost:
    """Empty the table, and apply the log to it."""
    for statement in ("DROP DATABASE IF EXISTS bench", "CREATE DATABASE bench", "RESET BINARY LOGS AND GTIDS"):
        server.query(statement)
    with server.connect(database="bench") as connection, connection.cursor() as cursor:
        cursor.execute("SET sql_log_bin = 0")
        cursor.execute(workload.table)
    before, of_server, begun = os.times(), _server_seconds(server), time.perf_counter()
    apply()
    clock, after = time.perf_counter() - begun, os.times()
    client = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(client, _server_seconds(server) - of_server, clock)


def _restore(server: Server, log: Log) -> None:
    command = [sys.executable, "-m", "binspark", "restore", str(log.path), "--apply", "--accept-gap", "--no-defaults"]
    address = ["--host", "127.0.0.1", "--port", str(server.port), "--user", "root"]
    subprocess.run([*command, *address], check=True, capture_output=True, env=program_environment())


def _mysqlbinlog(server: Server, log: Log) -> None:
    programs = server.programs
    printing = shlex.join(programs.command("mysqlbinlog", "--no-defaults", str(log.path)))
    address = ("--host=127.0.0.1", f"--port={server.port}", "--user=root", "--binary-mode")
    applying = shlex.join(programs.command("mysql", "--no-defaults", *address))
    subprocess.run(["bash", "-o", "pipefail", "-c", f"{printing} | {applying}"], check=True, capture_output=True)


def _server_seconds(server: Server) -> float:
    """Return the CPU time of the server so far."""
    fields = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
