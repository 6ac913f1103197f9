"""`python -m benchmarks.cut`: CPU seconds of `binspark cut` on a log of small transactions, start-up included.

Each selection is cut several times; the least CPU time (user and system) counts. `mysqlbinlog --stop-position` prints
the same transactions as text to /dev/null, which is what there is to extract them otherwise: for `everything`, all of
the log, and for `range`, the middle half.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.decode.logs import Log, get_log
from benchmarks.verify.__main__ import cpu_seconds
from benchmarks.workloads import OLTP
from binspark.testing.servers import MySQL
from binspark.testing.servers.programs import find_programs

MEGABYTES = 100
REPEATS = 3


def main() -> None:
    log = get_log(OLTP, MEGABYTES)
    between = (f"--start-position={_begin(log, log.size // 4)}", f"--stop-position={log.size // 4 * 3}")
    selections = {
        "everything": (),
        "range": between,
        "tables": ("--tables", "bench.account"),
        "other tables": ("--exclude-tables", "bench.account"),
        "operations": ("--operations", "update"),
        "two rows": ("--where", "`@1` = 5"),
        "all rows": ("--where", "`@1` > 0"),
    }
    size = log.size / 1e6
    for name, options in selections.items():
        seconds = min(_cut(log, options) for _ in range(REPEATS))
        print(f"{size:6.1f} MB  binspark cut  {name:<12} {seconds:6.2f} CPU s")
    for name in ("everything", "range"):
        command = find_programs(MySQL).command("mysqlbinlog", "--no-defaults", *selections[name], str(log.path))
        print(f"{size:6.1f} MB  mysqlbinlog   {name:<12} {cpu_seconds(list(command)):6.2f} CPU s")


def _cut(log: Log, options: tuple[str, ...]) -> float:
    with TemporaryDirectory(prefix="binspark-bench-") as folder:
        command = [sys.executable, "-m", "binspark", "cut", str(log.path), "-o", str(Path(folder) / "binlog.000001")]
        return cpu_seconds([*command, *options])


def _begin(log: Log, offset: int) -> int:
    """Return where the first event from an offset on begins, by the positions in headers."""
    with log.path.open("rb") as file:
        at = 4
        while at < offset:
            file.seek(at + 13)
            at = int.from_bytes(file.read(4), "little")
    return at


if __name__ == "__main__":
    main()
