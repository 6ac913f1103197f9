"""The current rows of a table, made of its changes.

Every change becomes records, each of one key: a row, or that there is none. An update that moves the key becomes two,
and the last record of each key counts. What the last truncation removed does not.

Where row images do not contain all columns (`binlog_row_image=MINIMAL` or NOBLOB), the column ABSENT names those that
are missing. They keep the value that they had: the last one of the key since its insert. A row whose key is moved by
such an update takes the values of the old key along. These keys, which are few, are followed one change after the other
in one task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from binspark.columns.metadata import DEFAULT_PREFIX
from binspark.spark.change_table import AT, FRESH, FROM, GONE, KEY, MISSING, ChangeTable, quoted
from binspark.spark.schemas import arrow_schema


def latest(changes: DataFrame, *, metadata_prefix: str = DEFAULT_PREFIX) -> DataFrame:
    """Return the rows that a table has after its changes: a typed table, or what was stored of one.

    >>> orders = spark.read.format("binlog").option("table", "shop.orders").load("logs/")  # doctest: +SKIP
    >>> binspark.latest(orders).show()  # doctest: +SKIP

    It needs the metadata columns `_op`, `_seq` and `_key` and the columns of the key. The order of the changes, and
    whether some are there twice, does not matter. If the server has `binlog_row_image=MINIMAL` or NOBLOB, read them
    with the option `absent`: then columns that a change does not contain keep their values. Rows that were there before
    the first change are only as complete as the changes since. The rows of a table that was renamed are not followed.
    """
    table = ChangeTable(changes, metadata_prefix, "latest")
    records = table.records(table.after_truncation())
    if not table.has_absent:
        last = records.groupBy(KEY).agg(F.max_by(F.struct(GONE, *table.columns), AT).alias("last"))
        return last.where(~F.col("last")[GONE]).select(*(F.col("last")[name].alias(name) for name in table.names))
    carried = table.carried_keys(records)
    rest = records.join(carried, KEY, "left_anti")
    return _merged(table, rest).unionByName(_folded(table, records.join(carried, KEY, "left_semi")))


def _merged(table: ChangeTable, records: DataFrame) -> DataFrame:
    """Return the rows of keys, each column from the last record that has it."""
    start = F.max(F.when(F.col(FRESH), F.col(AT))).over(Window.partitionBy(KEY))
    recent = records.withColumn("__start", start).where(F.col("__start").isNull() | (F.col(AT) >= F.col("__start")))
    absent = F.coalesce(F.col(MISSING), F.array().cast("array<string>"))
    last = [
        F.max_by(F.struct(quoted(name)), F.when(~F.array_contains(absent, name), F.col(AT))).alias(name)
        for name in table.names
    ]
    rows = recent.groupBy(KEY).agg(F.max_by(GONE, AT).alias(GONE), *last).where(~F.col(GONE))
    return rows.select(*(F.col(quoted(name))[name].alias(name) for name in table.names))


def _folded(table: ChangeTable, records: DataFrame) -> DataFrame:
    """Return the rows of keys that depend on each other."""
    schema = StructType([table.changes.schema[name] for name in table.names])
    return records.groupBy(F.lit("all")).applyInArrow(_folder(tuple(table.names), schema), schema)


def _folder(names: tuple[str, ...], schema: StructType) -> Callable[[pa.Table], pa.Table]:
    def fold(records: pa.Table) -> pa.Table:
        # A row that is moved must be read before its old key is gone: False sorts before True.
        ordered = records.sort_by([(AT, "ascending"), (GONE, "ascending")]).to_pylist()
        rows = reduce(_applied(names), ordered, dict[tuple[Any, ...], dict[str, Any]]())
        return pa.Table.from_pylist(list(rows.values()), schema=arrow_schema(schema))

    return fold


def _applied(names: Iterable[str]) -> Callable[[dict[tuple[Any, ...], dict[str, Any]], dict[str, Any]], Any]:
    def apply(rows: dict[tuple[Any, ...], dict[str, Any]], record: dict[str, Any]) -> dict[Any, Any]:
        key = tuple(record[KEY].values())
        if record[GONE]:
            rows.pop(key, None)
            return rows
        source = key if record[FROM] is None else tuple(record[FROM].values())
        known = {} if record[FRESH] and record[FROM] is None else rows.get(source, {})
        absent = set(record[MISSING] or ())
        rows[key] = {name: known.get(name) if name in absent else record[name] for name in names}
        return rows

    return apply
