"""The versions of the rows of a table, made of its changes: a slowly changing dimension of type 2.

Each record of a key (see `change_table`) begins a version, or ends the last one. A version ends with the next record of
its key, or with a truncation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType, TimestampType

from binspark.columns.metadata import DEFAULT_PREFIX, Metadata
from binspark.errors import OptionError
from binspark.spark.change_table import AT, FRESH, FROM, GONE, KEY, MISSING, ChangeTable, quoted
from binspark.spark.schemas import arrow_schema

_TIME, _NEXT, _UNTIL, _TRUNCATIONS, _LIFE = "__time", "__next", "__until", "__truncations", "__life"


def scd2(changes: DataFrame, *, metadata_prefix: str = DEFAULT_PREFIX) -> DataFrame:
    """Return all versions of the rows of a table, with the time from which and up to which each was valid.

    >>> orders = spark.read.format("binlog").option("table", "shop.orders").load("logs/")  # doctest: +SKIP
    >>> history = binspark.scd2(orders)  # doctest: +SKIP
    >>> history.where("_valid_from <= '2026-11-15' AND ifnull(_valid_to > '2026-11-15', true)")  # doctest: +SKIP

    `changes` is a typed table, or what was stored of one, with the metadata columns `_op`, `_seq`, `_key` and
    `_commit_time`, and the columns of the key. The result has the columns of the table and

    _valid_from   when the transaction was committed that wrote this version
    _valid_to     when the next version was written, or the row was deleted, moved to another key, or its table
                  truncated; NULL for a version that is valid now
    _is_current   whether it is valid now
    _seq          the change that wrote this version: versions of the same time have an order, too

    The order of the changes, and whether some are there twice, does not matter. If the server has
    `binlog_row_image=MINIMAL` or NOBLOB, read them with the option `absent`. Versions from before the first change are
    not known.
    """
    table = ChangeTable(changes, metadata_prefix, "scd2")
    time = f"{metadata_prefix}{Metadata.COMMIT_TIME}"
    if time not in changes.columns:
        raise OptionError(f"the changes have no column {time}, which scd2 needs")
    records = table.records(table.row_changes(), F.col(quoted(time)).alias(_TIME)).dropDuplicates([KEY, AT])
    if table.has_absent:
        carried = table.carried_keys(records)
        filled = _filled(table, records.join(carried, KEY, "left_anti"))
        records = filled.unionByName(_carried(table, records.join(carried, KEY, "left_semi")))
    return _versions(table, records, time, metadata_prefix)


def _versions(table: ChangeTable, records: DataFrame, time: str, prefix: str) -> DataFrame:
    """Return the versions that records with all columns make."""
    of_key = Window.partitionBy(KEY).orderBy(AT)
    truncations = table.truncations().select(table.meta(Metadata.SEQ).alias(AT), F.col(quoted(time)).alias(_TIME))
    listed = truncations.agg(F.array_sort(F.collect_set(F.struct(AT, _TIME))).alias(_TRUNCATIONS))
    known = records.withColumn(_NEXT, F.lead(F.struct(AT, _TIME)).over(of_key)).where(~F.col(GONE))
    truncated = F.try_element_at(F.filter(_TRUNCATIONS, lambda each: each[AT] > F.col(AT)), F.lit(1))
    until = F.least(F.col(_NEXT), truncated)  # structs compare by their first field, and NULL is skipped
    ended = known.crossJoin(F.broadcast(listed)).withColumn(_UNTIL, until)
    return ended.select(
        *(F.col(quoted(name)) for name in table.names),
        F.col(_TIME).alias(f"{prefix}valid_from"),
        F.col(_UNTIL)[_TIME].alias(f"{prefix}valid_to"),
        F.col(_UNTIL).isNull().alias(f"{prefix}is_current"),
        F.col(AT).alias(f"{prefix}{Metadata.SEQ}"),
    )


def _filled(table: ChangeTable, records: DataFrame) -> DataFrame:
    """Return records with the columns that they lack: each from the last record of its key that has it."""
    of_key = Window.partitionBy(KEY).orderBy(AT)
    lives = records.withColumn(_LIFE, F.sum(F.col(FRESH).cast("int")).over(of_key))
    of_life = Window.partitionBy(KEY, _LIFE).orderBy(AT).rowsBetween(Window.unboundedPreceding, 0)
    absent = F.coalesce(F.col(MISSING), F.array().cast("array<string>"))

    def last(name: str) -> Column:
        given = F.when(~F.array_contains(absent, name), F.struct(quoted(name)))
        return F.last(given, ignorenulls=True).over(of_life)[name].alias(name)

    return lives.select(*map(last, table.names), KEY, GONE, AT, _TIME)


def _carried(table: ChangeTable, records: DataFrame) -> DataFrame:
    """Return the same for keys that take values from each other: one change after the other, in one task."""
    fields = [table.changes.schema[name] for name in table.names]
    key = records.schema[KEY]
    schema = StructType(
        [*fields, key, records.schema[GONE], StructField(AT, StringType()), StructField(_TIME, TimestampType())]
    )
    return records.groupBy(F.lit("all")).applyInArrow(_filler(tuple(table.names), schema), schema)


def _filler(names: tuple[str, ...], schema: StructType) -> Callable[[pa.Table], pa.Table]:
    def fill(records: pa.Table) -> pa.Table:
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        found: list[dict[str, Any]] = []
        # A row that is moved must be read before its old key is gone: False sorts before True.
        for record in records.sort_by([(AT, "ascending"), (GONE, "ascending")]).to_pylist():
            key = tuple(record[KEY].values())
            source = key if record[FROM] is None else tuple(record[FROM].values())
            known = {} if record[FRESH] and record[FROM] is None else rows.get(source, {})
            absent = set(record[MISSING] or ())
            row = {name: known.get(name) if name in absent else record[name] for name in names}
            if record[GONE]:
                rows.pop(key, None)
            else:
                rows[key] = row
            found.append({**row, **{name: record[name] for name in (KEY, GONE, AT, _TIME)}})
        return pa.Table.from_pylist(found, schema=arrow_schema(schema))

    return fill
