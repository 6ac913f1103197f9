"""Servers with lower_case_table_names=1. MySQL accepts it only for data that was initialized with it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from binspark.folders import cache_folder
from binspark.testing.servers import Family, MariaDB, Server, start
from binspark.testing.servers.cache import build_once
from binspark.testing.servers.programs import Programs, find_programs
from binspark.testing.servers.template import LOOPBACK_ROOT, server_command

IN_LOWER_CASE: Mapping[str, str | int | None] = {"lower-case-table-names": 1, "binlog-row-metadata": "MINIMAL"}


@contextmanager
def lower_case_server(family: Family) -> Iterator[Server]:
    """Start a server that stores the names of tables in lower case."""
    if family is MariaDB:
        with start(family, IN_LOWER_CASE) as server:
            yield server
        return
    programs = find_programs(family)
    template = cache_folder() / family.name / f"data-{programs.version}-lower-case"
    build_once(template, lambda empty: _initialise(programs, empty))
    folder = Path(tempfile.mkdtemp(prefix="binspark-"))
    try:
        shutil.copytree(template, folder / "data")
        server = Server(programs, folder, {**family.options, **IN_LOWER_CASE})
        try:
            server.launch()
            yield server
        finally:
            server.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _initialise(programs: Programs, folder: Path) -> None:
    init_file = folder.with_name(f"{folder.name}.sql")
    init_file.write_text(LOOPBACK_ROOT)
    options = ("--initialize-insecure", f"--init-file={init_file}", "--skip-log-bin", "--lower-case-table-names=1")
    speed = ("--innodb-doublewrite=OFF", "--innodb-redo-log-capacity=16M", "--innodb-buffer-pool-size=32M")
    subprocess.run(server_command(programs, folder, *options, *speed), capture_output=True, check=True)
    init_file.unlink()
    (folder / "auto.cnf").unlink(missing_ok=True)
