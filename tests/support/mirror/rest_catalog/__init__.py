"""Iceberg's own REST catalog for tests, fetched once by Maven and started for a test."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from binspark.folders import cache_folder
from binspark.testing.servers.cache import build_once

_POM = Path(__file__).with_name("pom.xml")
_SERVER = "org.apache.iceberg.rest.RESTCatalogServer"
_FETCH_SECONDS = 300


class NoRestCatalog(Exception):
    """The catalog cannot be had here."""


@contextmanager
def rest_catalog(warehouse: Path) -> Iterator[str]:
    """Run a catalog; yield its URI."""
    jars, port = _jars(), _free_port()
    environment = {**os.environ, "CATALOG_WAREHOUSE": str(warehouse), "CATALOG_REST_PORT": str(port)}
    command = ["java", "-cp", f"{jars}/*", _SERVER]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=warehouse
    ) as server:
        try:
            _wait_for(port, server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _jars() -> Path:
    for program in ("mvn", "java"):
        if shutil.which(program) is None:
            raise NoRestCatalog(f"{program} is not installed")
    version = hashlib.sha256(_POM.read_bytes()).hexdigest()[:8]
    return build_once(cache_folder() / f"iceberg-rest-{version}", _fetch)


def _fetch(folder: Path) -> None:
    repository = f"-Dmaven.repo.local={folder / 'maven'}"
    command = ["mvn", "-q", "-B", "-f", str(_POM), repository, "dependency:copy-dependencies"]
    try:
        subprocess.run(
            [*command, f"-DoutputDirectory={folder}"], check=True, capture_output=True, timeout=_FETCH_SECONDS
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise NoRestCatalog("Maven cannot fetch Iceberg's REST catalog") from error
    shutil.rmtree(folder / "maven")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise NoRestCatalog("Iceberg's REST catalog does not start")
