"""What a process of a command loads, and how it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from binspark.files.windows import BULK_BYTES
from binspark.testing.builder import BinlogBuilder, insert, integer, table, varchar

ROWS = """
import sys
from binspark.cli import main
from binspark.kernels import cache
cache.enable()
main.load_lightly()
main.exit_code(["rows", sys.argv[1]])
print(*(name for name in sys.argv[2:] if name in sys.modules), file=sys.stderr)
"""
UNWANTED = (
    "pandas",
    "pyarrow.compute",
    "binspark.event.load",
    "binspark.event.variables",
    "binspark.server.config",
    "encodings.cp1252",
)
LEAVE = """
import atexit, sys
from binspark.cli.main import leave
atexit.register(print, "tidied up")
sys.stdout.write("written")
leave(3)
"""


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


def test_printing_rows_loads_nothing_that_it_does_not_use(tmp_path: Path) -> None:
    log = BinlogBuilder()
    items = table("shop.items", integer("id"), varchar("name", 400))
    log.transaction(*(insert(items, *((number, "x" * 300) for number in range(20))) for _ in range(30)))
    path = log.save(tmp_path)[0]
    assert path.stat().st_size > BULK_BYTES
    run(ROWS, str(path), *UNWANTED)  # compiles kernels, if they are not there
    ended = run(ROWS, str(path), "pyarrow", *UNWANTED)
    assert ended.stderr.strip() == "pyarrow"
    assert ended.stdout.count("shop.items") == 600


def test_what_was_written_is_there_when_a_process_leaves_at_once() -> None:
    ended = run(LEAVE)
    assert (ended.returncode, ended.stdout) == (3, "written")
