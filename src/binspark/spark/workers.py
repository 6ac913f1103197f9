"""Registering the data source, so that workers run an interpreter with binspark in it."""

from __future__ import annotations

import os
import shutil
import sys
from functools import lru_cache
from pathlib import Path

from pyspark import SparkContext, SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType

from binspark.options.arguments import check_session
from binspark.spark.pickling import check_function
from binspark.spark.source import NAME

_THIS_MACHINE = "local"
_WHEEL = ".whl"


def register(spark: SparkSession) -> None:
    """Register the data source `binlog` with a session, so that its workers find binspark.

    The workers of a local session then run the interpreter that calls this, unless PYSPARK_PYTHON names another. A
    wheel that binspark was imported from (`spark-submit --py-files binspark….whl`) is sent to the executors.

    Without this, Spark looks for the data source in the `python3` of the PATH, or in PYSPARK_PYTHON: in an activated
    virtual environment, that is the one in which binspark is installed.

    >>> spark = SparkSession.builder.getOrCreate()  # doctest: +SKIP
    >>> binspark.register(spark)  # doctest: +SKIP
    """
    check_session(spark)
    if isinstance(spark, SparkSession):  # a session of Spark Connect has no context
        _use_this_interpreter(spark.sparkContext)
        _send_wheel(spark.sparkContext)
    spark.dataSource.register(_source_class(NAME))


def _use_this_interpreter(context: SparkContext) -> None:
    """Make workers on this machine run this interpreter; which one there is on other machines is not known here."""
    if "PYSPARK_PYTHON" not in os.environ and (context.master or "").startswith(_THIS_MACHINE):
        context.pythonExec = sys.executable


@lru_cache(maxsize=1)
def _send_wheel(context: SparkContext) -> None:
    """Send the wheel that binspark was imported from. Spark puts only archives with other endings on workers' paths."""
    wheel = next((path for path in Path(__file__).parents if path.suffix == _WHEEL and path.is_file()), None)
    if wheel is not None:
        archive = Path(SparkFiles.getRootDirectory(), "binspark-wheel", f"{wheel.stem}.zip")  # Spark deletes it
        archive.parent.mkdir()
        shutil.copyfile(wheel, archive)
        context.addPyFile(str(archive))


def _source_class(format_name: str) -> type[DataSource]:
    """Return the data source as a class that Spark sends to workers by value."""
    check = check_function()

    class BinlogSource(DataSource):
        """Loads the data source where binspark is installed."""

        def __init__(self, options: dict[str, str]) -> None:
            super().__init__(options)
            check()
            from binspark.spark.source import BinlogDataSource

            self._source = BinlogDataSource(options)

        @classmethod
        def name(cls) -> str:
            return format_name

        def schema(self) -> StructType:
            return self._source.schema()

        def reader(self, schema: StructType) -> DataSourceReader:
            return self._source.reader(schema)

        def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
            return self._source.streamReader(schema)

    return BinlogSource
