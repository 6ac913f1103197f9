"""Logs read through Spark, and as Python reads them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import binspark
from binspark import BinlogError, binlog_error

Paths = str | Path | Iterable[str | Path]
OptionValue = bool | float | int | str | None
Record = dict[str, Any]


class ReadLogs(Protocol):
    """The fixture `read`: reads logs with the Spark that all tests share."""

    def __call__(self, paths: Paths, schema: str | None = None, **options: OptionValue) -> DataFrame: ...


def read_logs(spark: SparkSession, paths: Paths, schema: str | None = None, **options: OptionValue) -> DataFrame:
    """Read logs as a user does."""
    reader = spark.read.format("binlog").options(**options)
    if schema is not None:
        reader = reader.schema(schema)
    return reader.load(str(paths) if isinstance(paths, str | Path) else [str(path) for path in paths])


def records(frame: DataFrame) -> list[Record]:
    """Return the rows of a DataFrame, in its order, times with their zone."""
    rows: list[Record] = frame.toArrow().to_pylist()
    return rows


def ordered(rows: Iterable[Record]) -> list[Record]:
    """Order changes as the log does."""
    return sorted(rows, key=lambda row: (row["_log_file"], row["_log_pos"], row["_log_row"]))


def batch_records(paths: Paths, table: str, **options: Any) -> list[Record]:
    """Return the rows of a table as `binspark.batches` gives them."""
    rows = [row for batch in binspark.batches(paths, table=table, **options) for row in batch.to_pylist()]
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def values(rows: Iterable[Record]) -> list[Record]:
    """Return rows without the columns about their origin."""
    return [{name: value for name, value in row.items() if not name.startswith("_")} for row in rows]


def column_types(frame: DataFrame) -> str:
    """Write the columns of a table as in SQL: `id int, name string`."""
    fields = [field for field in frame.schema if not field.name.startswith("_")]
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in fields)


def parsed(text: str | None) -> Any:
    """Return a JSON document; numbers as they are written, so that no digit is lost."""
    return None if text is None else json.loads(text, parse_float=str)


def failure(action: Callable[[], object]) -> BinlogError:
    """Return the binspark error with which a query fails."""
    with pytest.raises(PySparkException) as raised:
        action()
    error = binlog_error(raised.value)
    assert error is not None, raised.value
    return error
