"""Compiled kernels are kept where a program enables it, wherever binspark is imported from; importing has no effect."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark.kernels.machine_code import USED_MODULES, folder_name

SOURCES = Path(binspark.__file__).parent
NO_SUCH_HOME = "/proc/no-such-home"
VARIABLES = ("BINSPARK_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")

RUN_A_KERNEL = """
import json
import sys
import warnings
import numpy as np
from binspark.errors import BinlogWarning
from binspark.kernels import cache, machine_code
from binspark.kernels.starts import find_start_header
warnings.simplefilter("always", BinlogWarning)
said = []
warnings.showwarning = lambda message, *_: said.append(str(message))
cache.enable() if ENABLE else None

log = np.zeros(100, dtype=np.uint8)
assert find_start_header(log.ctypes.data, 100, 0, 4, 1, False) == -1
print(json.dumps({
    "file": find_start_header.function.__code__.co_filename,
    "folder": str(machine_code.kernel_folder()) if ENABLE else None,
    "compiled": int("numba" in sys.modules),
    "warnings": said,
}))
"""
IMPORT_EVERYTHING = """
import json, os, pkgutil, sys
import numba
before = {name: repr(value) for name, value in vars(numba.config).items()}
variables = dict(os.environ)
import importlib
import binspark
for package in ("kernels", "columns", "documents"):
    root = importlib.import_module(f"binspark.{package}")
    for module in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
        importlib.import_module(module.name)
after = {name: repr(value) for name, value in vars(numba.config).items()}
print(json.dumps([len([name for name in sys.modules if name.startswith("binspark.kernels.")]), before == after,
    variables == dict(os.environ)]))
"""


def start(code: str, **environment: str) -> subprocess.Popen[bytes]:
    """Run code in another process."""
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    command = [sys.executable, "-B", "-W", "error", "-c", code]
    return subprocess.Popen(command, env={**kept, **environment}, stdout=subprocess.PIPE)


def result(process: subprocess.Popen[bytes]) -> Any:
    """Wait for a process; return the JSON that it prints."""
    printed, _ = process.communicate()
    assert process.returncode == 0
    return json.loads(printed)


def run(code: str, **environment: str) -> Any:
    """Run code in another process; return the JSON that it prints."""
    return result(start(code, **environment))


def run_a_kernel(enable: str = "True", **environment: str) -> dict[str, Any]:
    """Call a small kernel in another process; return its file, where it is kept, and how often it was compiled."""
    found: dict[str, Any] = run(f"ENABLE = {enable}\n{RUN_A_KERNEL}", **environment)
    return found


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package in an archive."""
    path = tmp_path_factory.mktemp("archive") / "binspark.zip"
    with zipfile.ZipFile(path, "w") as file:
        for source in SOURCES.rglob("*.py"):
            file.write(source, source.relative_to(SOURCES.parent))
    return path


def test_importing_kernels_columns_and_documents_has_no_effect(tmp_path: Path) -> None:
    modules, same_settings, same_environment = run(IMPORT_EVERYTHING, HOME=str(tmp_path), TMPDIR=str(tmp_path))
    assert modules > 30
    assert same_settings
    assert same_environment
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_unless_caching_is_enabled(tmp_path: Path) -> None:
    found = run_a_kernel("False", HOME=str(tmp_path), TMPDIR=str(tmp_path))
    assert (found["compiled"], found["folder"]) == (1, None)
    assert list(tmp_path.iterdir()) == []


def test_what_is_compiled_from_files_is_kept_unless_the_file_is_broken(tmp_path: Path) -> None:
    runs = [run_a_kernel(BINSPARK_CACHE=str(tmp_path)) for _ in range(2)]
    assert [found["compiled"] for found in runs] == [1, 0]
    assert Path(runs[0]["folder"]).parent == tmp_path / "kernels"
    assert Path(runs[0]["file"]).is_relative_to(SOURCES)
    for file in Path(runs[0]["folder"]).iterdir():
        file.write_bytes(b"")
    assert run_a_kernel(BINSPARK_CACHE=str(tmp_path))["compiled"] == 1


def test_processes_that_need_a_kernel_at_once_compile_it_once(tmp_path: Path) -> None:
    code = f"ENABLE = True\n{RUN_A_KERNEL}"
    processes = [start(code, BINSPARK_CACHE=str(tmp_path)) for _ in range(3)]
    assert sum(result(process)["compiled"] for process in processes) == 1


def test_what_is_compiled_from_an_archive_is_kept_wherever_the_sources_are(archive: Path, tmp_path: Path) -> None:
    """In the same archive elsewhere, and in files."""
    moved = tmp_path / "moved.zip"
    moved.write_bytes(archive.read_bytes())
    results = {str(path): run_a_kernel(BINSPARK_CACHE=str(tmp_path), PYTHONPATH=str(path)) for path in (archive, moved)}
    assert [found["compiled"] for found in results.values()] == [1, 0]
    assert all(Path(found["file"]).is_relative_to(path) for path, found in results.items())
    assert run_a_kernel(BINSPARK_CACHE=str(tmp_path))["compiled"] == 0


def test_an_archive_obeys_numbas_own_setting(archive: Path, tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(archive), "BINSPARK_CACHE": str(tmp_path / "ours")}
    found = run_a_kernel(NUMBA_CACHE_DIR=str(tmp_path / "numba"), **environment)
    assert Path(found["folder"]).is_relative_to(tmp_path / "numba")


def test_a_cache_that_cannot_be_written_is_no_error() -> None:
    assert run_a_kernel(NUMBA_CACHE_DIR=NO_SUCH_HOME)["compiled"] == 1


def test_a_machine_without_a_home_keeps_kernels_among_its_temporary_files(archive: Path, tmp_path: Path) -> None:
    nowhere = {"HOME": NO_SUCH_HOME, "XDG_CACHE_HOME": "", "BINSPARK_CACHE": f"{NO_SUCH_HOME}/cache"}
    runs = [run_a_kernel(PYTHONPATH=str(archive), TMPDIR=str(tmp_path), **nowhere) for _ in range(2)]
    assert [found["compiled"] for found in runs] == [1, 0]
    assert Path(runs[0]["folder"]).is_relative_to(tmp_path / f"binspark-{os.getuid()}")


def test_a_folder_that_others_can_write_to_is_not_trusted(tmp_path: Path) -> None:
    shared = tmp_path / f"binspark-{os.getuid()}"
    shared.mkdir()
    shared.chmod(0o777)
    nowhere = {"HOME": NO_SUCH_HOME, "XDG_CACHE_HOME": "", "TMPDIR": str(tmp_path)}
    folder = Path(run_a_kernel(**nowhere)["folder"])
    assert folder.is_relative_to(tmp_path)
    assert not folder.is_relative_to(shared)


@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "BINSPARK_CACHE"])
def test_nothing_is_loaded_from_a_chosen_folder_that_others_can_write_to(variable: str, tmp_path: Path) -> None:
    shared, home = tmp_path / "shared", tmp_path / "home"
    shared.mkdir()
    environment = {"HOME": str(home), variable: str(shared)}
    assert run_a_kernel(**environment)["compiled"] == 1
    assert run_a_kernel(**environment)["compiled"] == 0
    shared.chmod(0o777)
    refused, again = (run_a_kernel(**environment) for _ in range(2))
    assert (refused["compiled"], again["compiled"]) == (1, 0)
    assert Path(refused["folder"]).is_relative_to(home / ".cache" / "binspark")
    [warning] = refused["warnings"]
    assert f"not loaded from {shared}" in warning
    assert f"{shared} can be written to by others (mode 0777); choose a folder that only you can write to" in warning


def test_other_sources_and_compilers_have_another_folder() -> None:
    name = folder_name("0.61", {"a.py": b"1", "b.py": b"2"})
    assert name == folder_name("0.61", {"a.py": b"1", "b.py": b"2"})
    others = [{"a.py": b"1", "b.py": b"3"}, {"a.py": b"1"}, {"a.py": b"12", "b.py": b""}, {"a.py": b"1", "c.py": b"2"}]
    assert name not in {folder_name("0.61", sources) for sources in others}
    assert name != folder_name("0.62", {"a.py": b"1", "b.py": b"2"})


def test_the_key_covers_every_module_that_kernels_use() -> None:
    kernels = {name for path in (SOURCES / "kernels").rglob("*.py") for name in imported(path)}
    used = {name for name in kernels if not name.startswith("binspark.kernels")}
    while True:
        more = {other for name in used for other in imported(source_path(name))} - used
        if not more:
            break
        used |= more
    assert sorted(used) == list(USED_MODULES)


def imported(path: Path) -> set[str]:
    """Return the modules of binspark that a module imports, anywhere in it."""
    tree = ast.parse(path.read_text())
    for_types = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    skipped = {id(inner) for node in for_types for inner in ast.walk(node)}
    nodes = [node for node in ast.walk(tree) if id(node) not in skipped]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {module_of(node.module, alias.name) for alias in node.names}
    return {name for name in names if name.startswith("binspark.")}


def module_of(module: str, name: str) -> str:
    """Return the module that `from module import name` reads: that of the name, if it is one."""
    inner = f"{module}.{name}"
    return inner if source_path(inner).exists() else module


def source_path(module: str) -> Path:
    """Return the file of a module or package."""
    path = SOURCES.parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
