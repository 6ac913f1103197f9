"""Real clusters: executors in their own processes, with binspark from a wheel or from an archive."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import binspark
from binspark.cli.demo import SHOP
from tests.support.spark import spark_processes as processes

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

DRIVER = Path(processes.__file__).with_name("cluster_driver.py")
LOGS = str(SHOP / "mysql")
OPERATIONS = {"insert": 151, "update": 90, "delete": 150}
COMPILED = ("*.o",)


class Kept(NamedTuple):
    """Kernels that are kept: where, when each was written, and what the job that compiled them found."""

    cache: Path
    kernels: dict[str, int]
    found: dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def master(folder: Path) -> Iterator[str]:
    """The address of a cluster of two workers."""
    with processes.start_cluster(folder) as address:
        yield address


@pytest.fixture(scope="module")
def damaged(folder: Path) -> tuple[str, int]:
    """A log with one wrong byte, and the offset of the damaged event."""
    log = folder / "binlog.000001"
    content = bytearray((SHOP / "mysql" / "binlog.000001").read_bytes())
    offset = next(row.pos for row in binspark.rows(SHOP / "mysql", tables=["shop.orders"]))
    content[offset + 30] ^= 1
    log.write_bytes(content)
    return str(log), offset


@pytest.fixture(scope="module")
def wheel(folder: Path) -> Path:
    return processes.build_wheel(folder / "wheel")


def compiled(cache: Path) -> dict[str, int]:
    """Return the compiled kernels that are kept, and when each was written."""
    return {str(path): path.stat().st_mtime_ns for pattern in COMPILED for path in cache.rglob(pattern)}


def check(found: dict[str, Any], damaged: tuple[str, int]) -> None:
    """Check what a driver found: the rows, and where the log is damaged."""
    assert found["operations"] == OPERATIONS
    assert (found["failure"]["error"], found["failure"]["file"]) == ("Checksum", damaged[0])
    assert found["failure"]["offset"] == damaged[1]
    assert "checksum" in found["failure"]["text"]


def test_the_wheel_contains_every_file_of_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    assert contents == processes.package_files()


@pytest.fixture(scope="module")
def kept(master: str, folder: Path, damaged: tuple[str, int]) -> Kept:
    """The kernels that executors compiled which got binspark as an archive: nobody compiles them again."""
    archive = processes.make_archive(folder / "sources.zip")
    python, cache = processes.make_python(folder / "without", None), folder / "cache"
    submit = [processes.SPARK_SUBMIT, "--master", master, "--py-files", str(archive), str(DRIVER)]
    found = processes.run_driver([*submit, master, LOGS, damaged[0]], processes.environment(python, cache), folder)
    return Kept(cache, compiled(cache), found)


def test_executors_with_an_archive_of_the_sources_read_logs_and_keep_kernels(
    kept: Kept, damaged: tuple[str, int]
) -> None:
    check(kept.found, damaged)
    assert {"sources.zip" in file for _, file in kept.found["executors"]} == {True}
    assert len(kept.found["executors"]) == 2
    assert len(kept.kernels) >= 5


def test_executors_with_the_wheel_read_logs_and_compile_nothing_that_is_kept(
    wheel: Path, kept: Kept, master: str, folder: Path, damaged: tuple[str, int]
) -> None:
    python = processes.make_python(folder / "with-wheel", wheel)
    variables = processes.environment(python, kept.cache)
    found = processes.run_driver([python, DRIVER, master, LOGS, damaged[0]], variables, folder)
    check(found, damaged)
    files = {found["driver"], *(file for _, file in found["executors"])}
    assert {Path(file).is_relative_to(folder / "with-wheel") for file in files} == {True}
    assert len(found["executors"]) == 2
    assert compiled(kept.cache) == kept.kernels


def test_executors_receive_the_wheel_that_the_driver_was_given(
    wheel: Path, kept: Kept, master: str, folder: Path, damaged: tuple[str, int]
) -> None:
    python = processes.make_python(folder / "without-wheel", None)
    submit = [processes.SPARK_SUBMIT, "--master", master, "--py-files", str(wheel), str(DRIVER)]
    variables = processes.environment(python, kept.cache)
    found = processes.run_driver([*submit, master, LOGS, damaged[0]], variables, folder)
    check(found, damaged)
    assert wheel.name in found["driver"]
    assert {f"{wheel.stem}.zip" in file for _, file in found["executors"]} == {True}
    assert len(found["executors"]) == 2
    assert compiled(kept.cache) == kept.kernels


def test_spark_connect_reads_logs(wheel: Path, kept: Kept, folder: Path, damaged: tuple[str, int]) -> None:
    python = processes.make_python(folder / "for-connect", wheel)
    variables = processes.environment(python, kept.cache)
    with processes.start_connect_server(folder, variables) as address:
        found = processes.run_driver([python, DRIVER, address, LOGS, damaged[0]], variables, folder)
    check(found, damaged)
    tables = {"shop.customers": 7, "shop.order_lines": 258, "shop.orders": 151, "shop.products": 5}
    assert found["connect"] == {"tables": tables, "key": 151, "schema": "variant"}
