"""mysqlbinlog, which prints rows as commented SQL; what it prints is thrown away."""

from __future__ import annotations

import subprocess

from benchmarks.decode.figure import Figure, best_seconds
from benchmarks.decode.logs import PRINT_ROWS, Log
from binspark.testing.servers import MySQL
from binspark.testing.servers.programs import find_programs


def measure(log: Log) -> Figure:
    """Print a log a few times; the best counts. Its rows were counted when the log was made."""
    command = find_programs(MySQL).command("mysqlbinlog", *PRINT_ROWS, str(log.path))

    def work() -> None:
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)

    return Figure(best_seconds(work, passes=3, patience=10), log.size, log.rows)
