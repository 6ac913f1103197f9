"""The tables in a set of logs: a summary, and each table as a DataFrame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from binspark.errors import OptionError
from binspark.options.option import Surface
from binspark.spark.options import STORAGE_PREFIX, read_options
from binspark.spark.source import NAME
from binspark.spark.workers import register

_OPERATIONS = ("insert", "update", "delete")


class LogTables(Mapping[str, DataFrame]):
    """The tables whose rows are in the logs, by name; each is a typed DataFrame.

    >>> tables = binspark.tables(spark, "logs/")  # doctest: +SKIP
    >>> tables.summary.show()  # doctest: +SKIP
    >>> tables["shop.orders"].where("_op = 'delete'").show()  # doctest: +SKIP
    """

    def __init__(self, spark: SparkSession, path: str | list[str], options: Mapping[str, str]) -> None:
        self._spark = spark
        self._path = path
        self._options = dict(options)

    @cached_property
    def summary(self) -> DataFrame:
        """One row for each table: the number of rows and the size of their events, in total and by operation.

        No value is decoded. `uncounted_events` are rows events whose rows cannot be counted, because the log does not
        contain how large their values are, or because they are damaged.
        """
        found = self._read({"view": "tables"})
        by_operation = [
            F.sum(F.when(F.col("operation") == operation, F.col(what)).otherwise(0)).alias(f"{operation}_{what}")
            for operation in _OPERATIONS
            for what in ("rows", "bytes")
        ]
        total = [F.sum(what).alias(what) for what in ("rows", "bytes", "uncounted_events")]
        return found.groupBy("schema", "table").agg(*total, *by_operation).orderBy(F.desc("bytes"), "schema", "table")

    def __getitem__(self, name: str) -> DataFrame:
        if name not in self._names:
            raise KeyError(name)
        return self._read({"table": name})

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        rows = self.summary.select("schema", "table").where("schema <> ''").collect()  # others have only an id
        return tuple(sorted(f"{row['schema']}.{row['table']}" for row in rows))

    def _read(self, options: Mapping[str, str]) -> DataFrame:
        return self._spark.read.format(NAME).options(**{**self._options, **options}).load(self._path)


def tables(spark: SparkSession, path: str | Path | Sequence[str | Path], **options: Any) -> LogTables:
    """Return the tables in a set of logs: a summary, and each table as a typed DataFrame.

    The options are those of the data source, spelled as in Spark (`excludeTables`) or as in Python (`exclude_tables`).
    For an option with several values, a list is accepted too.
    """
    for name in ("view", "table"):
        if name in options:
            raise OptionError("is not valid here: the result has all tables", option=name)
    texts = {_name(name): _text(value) for name, value in options.items()}
    read_options(texts)
    register(spark)
    return LogTables(spark, str(path) if isinstance(path, str | Path) else [str(one) for one in path], texts)


def _name(name: str) -> str:
    return name if name.startswith(STORAGE_PREFIX) else Surface.SPARK.spell(name)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str) or not isinstance(value, Sequence) else ",".join(map(str, value))
