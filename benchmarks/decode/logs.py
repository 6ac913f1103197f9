"""The logs that are read: written once by a real server, kept in the cache directory, rows counted by mysqlbinlog."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.workloads import FAST_SERVER, Workload
from binspark.folders import cache_folder
from binspark.testing.servers import MySQL, Server, start
from binspark.testing.servers.cache import build_once
from binspark.testing.servers.programs import find_programs

LOG_NAME = "binlog.000001"
PRINT_ROWS = ("--no-defaults", "-v", "--base64-output=decode-rows")
_DESCRIPTION_NAME = "facts.json"


@dataclass(frozen=True, slots=True)
class Log:
    """A log file; `rows` is how many rows mysqlbinlog prints."""

    workload: Workload
    path: Path
    rows: int

    @property
    def size(self) -> int:
        return self.path.stat().st_size


def bench_folder() -> Path:
    """Return the directory of logs and fetched peers."""
    return cache_folder() / "bench"


def get_log(workload: Workload, megabytes: float) -> Log:
    """Return a workload's log of about this size, written now if it is not in the cache."""
    version = find_programs(MySQL).version
    digest = hashlib.sha256(repr((workload, float(megabytes))).encode()).hexdigest()[:12]
    folder = bench_folder() / f"{workload.name}-{megabytes:g}-mysql-{version}-{digest}"
    build_once(folder, lambda empty: _write(workload, workload.turns(megabytes), empty))
    description = json.loads((folder / _DESCRIPTION_NAME).read_text())
    return Log(workload, folder / LOG_NAME, description["rows"])


@contextmanager
def serving(log: Log) -> Iterator[Server]:
    """Start a server whose first log is this one, for readers that read only from servers."""
    with start(MySQL, FAST_SERVER) as server:
        server.stop()
        for path in server.log_files():
            path.unlink()
        shutil.copy(log.path, server.datadir / LOG_NAME)
        (server.datadir / "binlog.index").write_text(f"./{LOG_NAME}\n")
        server.launch()
        yield server


def _write(workload: Workload, turns: int, folder: Path) -> None:
    with start(MySQL, FAST_SERVER) as server:
        (written,) = workload.play(server, turns)
        shutil.copy(written, folder / LOG_NAME)
    rows = _count_rows(folder / LOG_NAME)
    (folder / _DESCRIPTION_NAME).write_text(json.dumps({"workload": workload.name, "turns": turns, "rows": rows}))


def _count_rows(path: Path) -> int:
    printed = subprocess.Popen(
        find_programs(MySQL).command("mysqlbinlog", *PRINT_ROWS, str(path)), stdout=subprocess.PIPE
    )
    pattern = "^### (INSERT INTO|UPDATE|DELETE FROM) "
    counted = subprocess.run(
        ["grep", "-c", "-a", "-E", pattern],
        stdin=printed.stdout,
        capture_output=True,
        check=True,
        env=os.environ | {"LC_ALL": "C"},
    )
    if printed.wait():
        raise RuntimeError(f"mysqlbinlog cannot read {path}")
    return int(counted.stdout)
