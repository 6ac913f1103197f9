"""Fixtures for all tests: real servers, started when the first test needs them; and which tests share a process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import settings

from binspark.kernels import cache
from binspark.testing.servers import Family, MariaDB, MySQL, Server, ServerUnavailable, start
from tests.support.servers import ServerOptions, StartServer

settings.register_profile("tests", deadline=None)  # machines are noisy: no test fails for being slow
settings.load_profile("tests")
cache.enable()  # compiling kernels takes half a minute, and every process of the tests would do it

SHARED_OPTIONS: ServerOptions = {"binlog-row-metadata": "FULL"}
"""Tests that need other options start their own server with `start_server`."""


SHARED_PROCESSES = {"tests/spark/test_spark_clusters.py": "clusters", "tests/spark/": "spark"}
"""Tests that share something costly, one Spark, run in one process: how their names begin, and its name."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute tests one by one, but those of a shared process together.

    The marks for xdist's own `loadgroup` do not reach it: this pytest no longer keeps names where it writes them.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByProcess(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            return next((name for start, name in SHARED_PROCESSES.items() if nodeid.startswith(start)), nodeid)

    return ByProcess(config, log)


@pytest.fixture(scope="session")
def mysql() -> Iterator[Server]:
    """A MySQL server shared by the tests of this process: use a database of your own."""
    with ExitStack() as running:
        yield _enter_or_skip(running, MySQL, SHARED_OPTIONS)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[Server]:
    """A MariaDB server shared by the tests of this process: use a database of your own."""
    with ExitStack() as running:
        yield _enter_or_skip(running, MariaDB, SHARED_OPTIONS)


@pytest.fixture
def start_server() -> Iterator[StartServer]:
    """A function that starts a server for one test: `start_server(MySQL, {"gtid-mode": "OFF", …})`."""
    with ExitStack() as running:

        def start_one(family: Family, options: ServerOptions | None = None) -> Server:
            return _enter_or_skip(running, family, options)

        yield start_one


def _enter_or_skip(running: ExitStack, family: Family, options: ServerOptions | None) -> Server:
    try:
        return running.enter_context(start(family, options))
    except ServerUnavailable as error:
        reason = f"{family.title} is not available: {error}"
    if os.environ.get("BINSPARK_REQUIRE_SERVERS") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
