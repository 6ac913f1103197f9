"""One Spark for all tests of this folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

from binspark.spark.session import LOOPBACK, SETTINGS, local_session
from tests.support.servers import database, shared
from tests.support.spark.spark_reading import OptionValue, Paths, ReadLogs, read_logs

__all__ = ["database", "shared"]

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java for many small queries: optimizing compilation and parallel garbage collection cost more than they gain."""


@pytest.fixture(scope="session")
def spark_environment() -> Iterator[None]:
    """What Java and the workers of Spark inherit: this Python, loopback as the only address, no pandas warning."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        environment.setenv("SPARK_LOCAL_IP", LOOPBACK)
        environment.setenv("PYTHONWARNINGS", "ignore::FutureWarning")
        environment.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield


@pytest.fixture(scope="session")
def spark(spark_environment: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A Spark of two workers on this machine. The data source is not registered: Spark finds it."""
    folder = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.master": "local[2]",
        "spark.driver.extraJavaOptions": f"{SETTINGS['spark.driver.extraJavaOptions']} {QUICK_START}",
        "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    session = local_session("binspark tests", settings)
    yield session
    session.stop()


@pytest.fixture
def read(spark: SparkSession) -> ReadLogs:
    """A function that reads logs: `read(path, view="events")`, `read([path, path], table="shop.orders")`."""

    def read_them(paths: Paths, schema: str | None = None, **options: OptionValue) -> DataFrame:
        return read_logs(spark, paths, schema, **options)

    return read_them
