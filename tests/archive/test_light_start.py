"""What a process of a command loads, and how it ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

UNWANTED = """
import sys
from binspark.cli.main import load_lightly
load_lightly()
import numpy, pyarrow
from binspark.kernels.walk import walk_sound
pyarrow.array([1])
walk_sound(numpy.zeros(2, dtype=numpy.int64), 0, 0, False, 0)
print([name for name in ("cffi", "pandas", "yaml") if name in sys.modules])
"""
LEAVE = """
import atexit, sys
from binspark.cli.main import leave
atexit.register(print, "tidied up")
sys.stdout.write("written")
leave(3)
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_libraries_are_not_loaded_only_because_they_are_there() -> None:
    ended = run(UNWANTED)
    assert (ended.stdout, ended.stderr) == ("[]\n", "")


@pytest.mark.parametrize("name", ["cffi", "yaml"])
def test_others_may_load_what_numba_may_not(name: str) -> None:
    pytest.importorskip(name)
    ended = run(f"from binspark.cli.main import load_lightly\nload_lightly()\nimport {name}")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_what_was_written_is_there_when_a_process_leaves_at_once() -> None:
    ended = run(LEAVE)
    assert (ended.returncode, ended.stdout) == (3, "written")
