"""`python -m benchmarks.verify`: CPU seconds of `binspark verify` and of `mysqlbinlog --verify-binlog-checksum`.

Both are run as commands, in turn, on logs of bulk inserts and of small transactions; the least CPU time (user and
system) of several runs counts, start-up included. mysqlbinlog checks checksums and prints every event, without rows,
to /dev/null. verify also checks positions, transactions, their lengths and GTIDs. The third line is verify without
kernels, in one run: the checks of single events, which also report.
"""

from __future__ import annotations

import os
import subprocess
import sys
from time import process_time

from benchmarks.decode.logs import Log, get_log
from benchmarks.workloads import BULK, OLTP
from binspark.testing.servers import MySQL
from binspark.testing.servers.programs import find_programs
from binspark.verify import verify_logs

MEGABYTES = ((BULK, 100), (BULK, 400), (OLTP, 10), (OLTP, 100))
REPEATS = 5


def main() -> None:
    for workload, megabytes in MEGABYTES:
        log = get_log(workload, megabytes)
        commands = {
            "binspark verify": [sys.executable, "-m", "binspark", "verify", str(log.path)],
            "mysqlbinlog": _mysqlbinlog(log),
        }
        best = dict.fromkeys(commands, float("inf"))
        for _ in range(REPEATS):
            for name, command in commands.items():
                best[name] = min(best[name], cpu_seconds(command))
        best["by event"] = _by_event(log)
        for name, seconds in best.items():
            size = log.size / 1e6
            print(f"{workload.name:<6} {size:6.1f} MB  {name:<16} {seconds:6.2f} CPU s  {size / seconds:7.1f} MB/s")


def _by_event(log: Log) -> float:
    before = process_time()
    verify_logs(log.path, in_bulk=False)
    return process_time() - before


def _mysqlbinlog(log: Log) -> list[str]:
    options = ("--no-defaults", "--verify-binlog-checksum", "--base64-output=decode-rows")
    return list(find_programs(MySQL).command("mysqlbinlog", *options, str(log.path)))


def cpu_seconds(command: list[str]) -> float:
    """Run a command and return the CPU time that it took."""
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


if __name__ == "__main__":
    main()
