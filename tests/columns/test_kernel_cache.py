"""Compiled kernels are kept, wherever binspark is imported from and whatever the machine lets it write."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark.columns.kernel_cache import cache_folder, written_sources

SOURCES = Path(binspark.__file__).parent
NO_SUCH_HOME = "/proc/no-such-home"

RUN_A_KERNEL = """
import json
import numpy as np
from binspark.columns.kernels import search

log = np.zeros(100, dtype=np.uint8)
search.find_start_header(log.ctypes.data, 100, 0, 4, 1, False)
stats = search.find_start_header.stats
compiled = sum(stats.cache_misses.values())
print(json.dumps({"file": search.__file__, "folder": stats.cache_path, "compiled": compiled}))
"""


def run_a_kernel(**environment: str) -> dict[str, Any]:
    """Run a small kernel in another process; return where it stands, where it is kept, how often it was compiled."""
    kept = {name: value for name, value in os.environ.items() if name not in ("BINSPARK_CACHE", "NUMBA_CACHE_DIR")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN_A_KERNEL],
        env={**kept, **environment},
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package in an archive."""
    path = tmp_path_factory.mktemp("archive") / "binspark.zip"
    with zipfile.ZipFile(path, "w") as file:
        for source in SOURCES.rglob("*.py"):
            file.write(source, source.relative_to(SOURCES.parent))
    return path


def test_what_is_compiled_from_files_is_kept(tmp_path: Path) -> None:
    runs = [run_a_kernel(BINSPARK_CACHE=str(tmp_path)) for _ in range(2)]
    assert [run["compiled"] for run in runs] == [1, 0]
    assert Path(runs[0]["folder"]).is_relative_to(tmp_path)
    assert Path(runs[0]["file"]).is_relative_to(SOURCES)


def test_what_is_compiled_from_an_archive_is_kept_wherever_the_archive_is(archive: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved.zip"
    moved.write_bytes(archive.read_bytes())
    cache = str(tmp_path / "cache")
    runs = [run_a_kernel(BINSPARK_CACHE=cache, PYTHONPATH=str(path)) for path in (archive, moved)]
    assert [run["compiled"] for run in runs] == [1, 0]
    assert all(Path(run["file"]).is_relative_to(cache) for run in runs)


def test_an_archive_obeys_numbas_own_setting(archive: Path, tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(archive), "BINSPARK_CACHE": str(tmp_path / "ours")}
    run = run_a_kernel(NUMBA_CACHE_DIR=str(tmp_path / "numba"), **environment)
    assert Path(run["folder"]).is_relative_to(tmp_path / "numba")


def test_a_machine_without_a_home_keeps_kernels_among_its_temporary_files(archive: Path, tmp_path: Path) -> None:
    nowhere = {"HOME": NO_SUCH_HOME, "XDG_CACHE_HOME": "", "BINSPARK_CACHE": f"{NO_SUCH_HOME}/cache"}
    runs = [run_a_kernel(PYTHONPATH=str(archive), TMPDIR=str(tmp_path), **nowhere) for _ in range(2)]
    assert [run["compiled"] for run in runs] == [1, 0]
    assert Path(runs[0]["folder"]).is_relative_to(tmp_path / f"binspark-{os.getuid()}")


def test_a_folder_of_somebody_else_is_not_trusted(tmp_path: Path) -> None:
    shared = tmp_path / f"binspark-{os.getuid()}"
    shared.mkdir()
    shared.chmod(0o777)
    nowhere = {"HOME": NO_SUCH_HOME, "XDG_CACHE_HOME": "", "TMPDIR": str(tmp_path)}
    folder = Path(run_a_kernel(**nowhere)["folder"])
    assert folder.is_relative_to(tmp_path)
    assert not folder.is_relative_to(shared)


def test_other_texts_have_another_folder() -> None:
    assert cache_folder({"a.py": b"1"}, "0.61") != cache_folder({"a.py": b"2"}, "0.61")
    assert cache_folder({"a.py": b"1"}, "0.61") != cache_folder({"a.py": b"1"}, "0.62")


def test_sources_are_written_once_and_whole(tmp_path: Path) -> None:
    first = written_sources({"a.py": b"1", "b.py": b"2"}, tmp_path)
    assert {path.name: path.read_bytes() for path in first.iterdir()} == {"a.py": b"1", "b.py": b"2"}
    assert written_sources({"a.py": b"1", "b.py": b"2"}, tmp_path) == first
    assert list(tmp_path.iterdir()) == [first]
