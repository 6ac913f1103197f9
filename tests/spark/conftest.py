"""Fixtures for the tests of Spark, which is started by the fixture `spark` for all tests."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.support.servers import database, shared
from tests.support.spark.spark_reading import OptionValue, Paths, ReadLogs, read_logs

__all__ = ["database", "shared"]


@pytest.fixture
def read(spark: SparkSession) -> ReadLogs:
    """A function that reads logs: `read(path, view="events")`, `read([path, path], table="shop.orders")`."""

    def read_them(paths: Paths, schema: str | None = None, **options: OptionValue) -> DataFrame:
        return read_logs(spark, paths, schema, **options)

    return read_them
