"""Real clusters: executors in their own processes, with binspark from a wheel or from an archive."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark.cli.demo import SHOP
from tests.support.spark import spark_processes as processes

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

DRIVER = Path(processes.__file__).with_name("cluster_driver.py")
LOGS = str(SHOP / "mysql")
OPERATIONS = {"insert": 151, "update": 90, "delete": 150}
COMPILED = ("*.o",)


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


def test_executors_with_the_wheel_read_logs_and_compile_kernels_once(
    wheel: Path, master: str, folder: Path, damaged: tuple[str, int]
) -> None:
    python, cache = processes.make_python(folder / "with-wheel", wheel), folder / "cache-of-wheel"
    variables = processes.environment(python, cache)
    first = processes.run_driver([python, DRIVER, master, LOGS, damaged[0]], variables, folder)
    kept = compiled(cache)
    second = processes.run_driver([python, DRIVER, master, LOGS, damaged[0]], variables, folder)
    for found in (first, second):
        check(found, damaged)
        files = {found["driver"], *(file for _, file in found["executors"])}
        assert {Path(file).is_relative_to(folder / "with-wheel") for file in files} == {True}
        assert len(found["executors"]) == 2
    assert len(kept) >= 5
    assert compiled(cache) == kept


def test_executors_with_an_archive_of_the_sources_read_logs_and_compile_kernels_once(
    master: str, folder: Path, damaged: tuple[str, int]
) -> None:
    archive = processes.make_archive(folder / "sources.zip")
    python, cache = processes.make_python(folder / "without", None), folder / "cache-of-archive"
    variables = processes.environment(python, cache)
    submit = [processes.SPARK_SUBMIT, "--master", master, "--py-files", str(archive), str(DRIVER)]
    first = processes.run_driver([*submit, master, LOGS, damaged[0]], variables, folder)
    kept = compiled(cache)
    second = processes.run_driver([*submit, master, LOGS, damaged[0]], variables, folder)
    for found in (first, second):
        check(found, damaged)
        assert {"sources.zip" in file for _, file in found["executors"]} == {True}
        assert len(found["executors"]) == 2
    assert len(kept) >= 5
    assert compiled(cache) == kept


def test_executors_receive_the_wheel_that_the_driver_was_given(
    wheel: Path, master: str, folder: Path, damaged: tuple[str, int]
) -> None:
    python = processes.make_python(folder / "without-wheel", None)
    submit = [processes.SPARK_SUBMIT, "--master", master, "--py-files", str(wheel), str(DRIVER)]
    variables = processes.environment(python, folder / "cache-of-archive")
    found = processes.run_driver([*submit, master, LOGS, damaged[0]], variables, folder)
    check(found, damaged)
    assert wheel.name in found["driver"]
    assert {f"{wheel.stem}.zip" in file for _, file in found["executors"]} == {True}
    assert len(found["executors"]) == 2


def test_spark_connect_reads_logs(wheel: Path, folder: Path, damaged: tuple[str, int]) -> None:
    python, cache = processes.make_python(folder / "for-connect", wheel), folder / "cache-of-wheel"
    variables = processes.environment(python, cache)
    with processes.start_connect_server(folder, variables) as address:
        found = processes.run_driver([python, DRIVER, address, LOGS, damaged[0]], variables, folder)
    check(found, damaged)
    tables = {"shop.customers": 7, "shop.order_lines": 258, "shop.orders": 151, "shop.products": 5}
    assert found["connect"] == {"tables": tables, "key": 151, "schema": "variant"}
