"""Iceberg's own REST catalog for tests, fetched once by Maven and started for a test."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.maven import NoJars, fetched_jars

_POM = Path(__file__).with_name("pom.xml")
_SERVER = "org.apache.iceberg.rest.RESTCatalogServer"


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
    try:
        return fetched_jars(_POM, "iceberg-rest")
    except NoJars as error:
        raise NoRestCatalog(str(error)) from None


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
