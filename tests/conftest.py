"""Fixtures for all tests, started when the first one needs them: servers, one Spark. Which tests share a process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from binspark.kernels import cache
from binspark.testing.servers import Family, MariaDB, MySQL, Server, ServerUnavailable, start
from tests.support.examples import leave_logs_to_the_long_run, load_profile
from tests.support.servers import ServerOptions, StartServer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

cache.enable()  # compiling kernels takes half a minute, and every process of the tests would do it

SHARED_OPTIONS: ServerOptions = {"binlog-row-metadata": "FULL"}
"""Tests that need other options start their own server with `start_server`."""


def pytest_configure(config: pytest.Config) -> None:
    """Try fewer random examples where slow tests are left out."""
    load_profile(quick="not slow" in config.getoption("markexpr"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute tests one by one, but those of a shared process together."""
    from tests.support.scheduling import ByProcess

    return ByProcess(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put slow tests first: otherwise one process would run the last of them while the others have nothing to do."""
    leave_logs_to_the_long_run(items)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


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


QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java for many small queries: optimizing compilation and parallel garbage collection cost more than they gain."""


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A Spark of two workers on this machine. The data source is not registered: Spark finds it.

    Java and the workers of Spark inherit this Python, loopback as the only address, and no pandas warning.
    """
    from binspark.spark.session import LOOPBACK, SETTINGS, local_session

    folder = tmp_path_factory.mktemp("spark")
    properties = {
        "spark.master": "local[2]",
        "spark.driver.extraJavaOptions": f"{SETTINGS['spark.driver.extraJavaOptions']} {QUICK_START}",
        "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        environment.setenv("SPARK_LOCAL_IP", LOOPBACK)
        environment.setenv("PYTHONWARNINGS", "ignore::FutureWarning")
        environment.setenv("AWS_EC2_METADATA_DISABLED", "true")
        session = local_session("binspark tests", properties)
        yield session
        session.stop()
