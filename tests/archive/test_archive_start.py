"""What a new archive needs before its first byte: one connection, and no library that is slow to load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from binspark.testing.servers import MySQL, Server
from tests.support.archive.archiving import files_in, files_of_server, insert, make_table
from tests.support.servers import StartServer

pytestmark = [pytest.mark.mysql, pytest.mark.timeout(120)]

SLOW_TO_LOAD = ("numba", "numpy", "pandas", "pyarrow", "pyspark")
COPY = """
import sys
from binspark.cli.main import exit_code
code = exit_code(sys.argv[2:])
loaded = [name for name in sys.argv[1].split() if name in sys.modules]
sys.exit(f"exit code {code}, loaded {loaded}" if code or loaded else 0)
"""


def test_a_small_archive_is_begun_without_what_is_slow(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(MySQL)
    make_table(server)
    insert(server, count=3)
    before = connections(server)
    arguments = [
        "archive",
        "--host",
        f"127.0.0.1:{server.port}",
        "--user",
        "root",
        "-o",
        str(tmp_path),
        "--until",
        "end",
    ]
    command = [sys.executable, "-c", COPY, " ".join(SLOW_TO_LOAD), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert files_in(tmp_path) == files_of_server(server)
    assert connections(server) - before == 2  # the archiver's, and the one that counts


def connections(server: Server) -> int:
    ((_, count),) = server.query("SHOW GLOBAL STATUS LIKE 'Connections'")
    return int(count)
