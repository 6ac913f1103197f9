"""`python -m benchmarks.filters`: the CPU time of commands with filters, beside mysqlbinlog with its own and grep.

--megabytes N   size of the log of small transactions (default 100)
--rounds N      how often each command is run (default 3); the least CPU time counts

The filters select little: the last hundredth of the log, one row, or a table that the log does not have. So what is
measured is finding it, not printing it. Commands are run in turns, from the start of their process to its end, so that
what else the machine does disturbs all of them alike.
"""

from __future__ import annotations

import os
import shlex
import sys

import click

from benchmarks.decode.logs import Log, get_log
from benchmarks.print.printing import least_cpu_seconds
from benchmarks.workloads import OLTP
from binspark.testing.servers import MySQL
from binspark.testing.servers.programs import find_programs

COMMANDS = ("stat", "events", "transactions", "report")


@click.command(help=__doc__)
@click.option("--megabytes", type=float, default=100.0)
@click.option("--rounds", type=int, default=3)
def main(megabytes: float, rounds: int) -> None:
    log = get_log(OLTP, megabytes)
    filters = {
        "another table": "--tables bench.other",
        "the end of the log": f"--start-position {_last_hundredth(log)}",
        "a row": "--where @1=5",
    }
    peers = _peers(log)
    runs = {(name, ""): _ours(name, log, "") for name in ("stat", "report")}
    runs |= {(name, title): _ours(name, log, each) for name in COMMANDS for title, each in filters.items()}
    runs |= {("mysqlbinlog", title): ["sh", "-c", line] for title, line in peers.items()}
    found = least_cpu_seconds({"/".join(key): words for key, words in runs.items()}, rounds)
    seconds = {key: found["/".join(key)] for key in runs}
    print(f"load average: {', '.join(f'{load:.1f}' for load in os.getloadavg())} (1, 5, 15 minutes)")
    print(f"{log.size / 1e6:.0f} MB of small transactions\n")
    print("| command | filter | CPU s | times without a filter | mysqlbinlog takes times as long |")
    print("| --- | --- | --- | --- | --- |")
    for (name, title), mine in seconds.items():
        alone = seconds.get((name, ""))
        ratio = "" if alone is None or not title else f"{mine / alone:.2f}"
        peer = "" if name == "mysqlbinlog" or not title else f"{seconds['mysqlbinlog', title] / mine:.2f}"
        print(f"| `{name}` | {title} | {mine:.2f} | {ratio} | {peer} |", flush=True)


def _ours(command: str, log: Log, options: str) -> list[str]:
    output = ["--format", "json"] if command == "report" else []
    return [sys.executable, "-m", "binspark", command, str(log.path), *options.split(), *output]


def _peers(log: Log) -> dict[str, str]:
    """Return the fastest lines that find the same with mysqlbinlog: it has no filter by table, and none by value."""
    path = shlex.quote(str(log.path))
    dump = shlex.join(find_programs(MySQL).command("mysqlbinlog", "--no-defaults"))
    return {
        "another table": f"{dump} --base64-output=decode-rows {path} | grep -c 'bench`.`other`' || true",
        "the end of the log": f"{dump} --start-position={_last_hundredth(log)} {path} > /dev/null",
        "a row": f"{dump} --base64-output=decode-rows -v {path} | grep -c '@1=5$' || true",
    }


def _last_hundredth(log: Log) -> int:
    """Return where the last transactions begin: mysqlbinlog needs the position of an event."""
    from binspark.files import read_events

    wanted = log.size * 99 // 100
    return next(event.offset for event in read_events(log.path) if event.offset >= wanted and event.type == "GTID")


if __name__ == "__main__":
    main()
