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
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from binspark.columns.metadata import BEFORE, DEFAULT_PREFIX, Metadata, metadata_names
from binspark.errors import OptionError
from binspark.event import RowOperation
from binspark.spark.schemas import arrow_schema

_NEEDED = (Metadata.OP, Metadata.SEQ, Metadata.KEY)
_INSERT, _UPDATE, _DELETE, _TRUNCATE = (operation.value for operation in RowOperation)
# The columns of records, beside those of the table.
_AT, _KEY, _GONE, _FRESH, _FROM, _MISSING = (f"__{name}" for name in ("at", "key", "gone", "fresh", "from", "missing"))


def latest(changes: DataFrame, *, metadata_prefix: str = DEFAULT_PREFIX) -> DataFrame:
    """Return the rows that a table has after its changes: a typed table, or what was stored of one.

    >>> orders = spark.read.format("binlog").option("table", "shop.orders").load("logs/")  # doctest: +SKIP
    >>> binspark.latest(orders).show()  # doctest: +SKIP

    It needs the metadata columns `_op`, `_seq` and `_key` and the columns of the key. The order of the changes, and
    whether some are there twice, does not matter. If the server has `binlog_row_image=MINIMAL` or NOBLOB, read them
    with the option `absent`: then columns that a change does not contain keep their values. Rows that were there before
    the first change are only as complete as the changes since. The rows of a table that was renamed are not followed.
    """
    table = _Table(changes, metadata_prefix)
    records = table.records(table.after_truncation())
    if not table.has_absent:
        last = records.groupBy(_KEY).agg(F.max_by(F.struct(_GONE, *table.columns), _AT).alias("last"))
        return last.where(~F.col("last")[_GONE]).select(*(F.col("last")[name].alias(name) for name in table.names))
    carried = table.carried_keys(records)
    rest = records.join(carried, _KEY, "left_anti")
    return table.merged(rest).unionByName(table.folded(records.join(carried, _KEY, "left_semi")))


class _Table:
    """The columns of a DataFrame with changes."""

    def __init__(self, changes: DataFrame, prefix: str) -> None:
        self._changes = changes
        self._prefix = prefix
        metadata = {*metadata_names(prefix, Metadata), f"{prefix}{BEFORE}"}
        missing = [f"{prefix}{name}" for name in _NEEDED if f"{prefix}{name}" not in changes.columns]
        if missing:
            message = f"the changes have no column {missing[0]}, which latest needs"
            if missing[0] == f"{prefix}{Metadata.KEY}":
                message += ": the table has no primary key, or the log does not name it (schemaFile does)"
            raise OptionError(message)
        self.names = [name for name in changes.columns if name not in metadata]
        self.columns = [changes[_quoted(name)] for name in self.names]
        self.has_absent = f"{prefix}{Metadata.ABSENT}" in changes.columns
        key = changes.schema[f"{prefix}{Metadata.KEY}"].dataType
        assert isinstance(key, StructType)
        lost = [name for name in key.names if name not in self.names]
        if lost:
            raise OptionError(f"the changes have no column {lost[0]}, which is a part of the key")
        self._key = F.struct(*(F.col(_quoted(name)) for name in key.names))

    def _meta(self, name: Metadata) -> Column:
        return F.col(_quoted(f"{self._prefix}{name}"))

    def after_truncation(self) -> DataFrame:
        """Return the changes after the last truncation."""
        changes, op, at = self._changes, self._meta(Metadata.OP), self._meta(Metadata.SEQ)
        truncation = changes.where(op == _TRUNCATE).agg(F.max(at).alias("__since"))
        later = changes.where(op != _TRUNCATE).crossJoin(F.broadcast(truncation))
        return later.where(F.col("__since").isNull() | (at > F.col("__since"))).drop("__since")

    def records(self, changes: DataFrame) -> DataFrame:
        """Return what changes do to single keys.

        key    the key; `gone` says that it has no row any more
        fresh  whether the row does not depend on what was there before
        from   the key that columns which are not in the row image have their values from, if that is another one
        """
        op, new = self._meta(Metadata.OP), self._key
        old = F.coalesce(self._meta(Metadata.KEY), new)
        absent = self._meta(Metadata.ABSENT) if self.has_absent else F.lit(None).cast("array<string>")
        is_moved = (op == _UPDATE) & (old != new)
        carried = F.when(absent.isNotNull(), old)

        def record(key: Column, *, gone: bool, fresh: Column, source: Column | None = None) -> Column:
            nothing = F.lit(None).cast(self._changes.schema[f"{self._prefix}{Metadata.KEY}"].dataType)
            parts = {_KEY: key, _GONE: F.lit(gone), _FRESH: fresh, _FROM: nothing if source is None else source}
            return F.struct(*(part.alias(name) for name, part in parts.items()))

        tombstone = record(old, gone=True, fresh=F.lit(True))
        kept = record(new, gone=False, fresh=op != _UPDATE)
        moved = record(new, gone=False, fresh=F.lit(True), source=carried)
        every = F.when(op == _DELETE, F.array(tombstone)).when(is_moved, F.array(tombstone, moved))
        return changes.select(
            *self.columns,
            self._meta(Metadata.SEQ).alias(_AT),
            absent.alias(_MISSING),
            F.inline(every.otherwise(F.array(kept))),
        )

    def carried_keys(self, records: DataFrame) -> DataFrame:
        """Return the keys whose rows depend on those of other keys, and these other keys."""
        moves = records.where(F.col(_FROM).isNotNull())
        return moves.select(F.explode(F.array(_KEY, _FROM)).alias(_KEY)).distinct()

    def merged(self, records: DataFrame) -> DataFrame:
        """Return the rows of keys, each column from the last record that has it."""
        start = F.max(F.when(F.col(_FRESH), F.col(_AT))).over(Window.partitionBy(_KEY))
        recent = records.withColumn("__start", start).where(
            F.col("__start").isNull() | (F.col(_AT) >= F.col("__start"))
        )
        absent = F.coalesce(F.col(_MISSING), F.array().cast("array<string>"))
        last = [
            F.max_by(F.struct(_quoted(name)), F.when(~F.array_contains(absent, name), F.col(_AT))).alias(name)
            for name in self.names
        ]
        rows = recent.groupBy(_KEY).agg(F.max_by(_GONE, _AT).alias(_GONE), *last).where(~F.col(_GONE))
        return rows.select(*(F.col(_quoted(name))[name].alias(name) for name in self.names))

    def folded(self, records: DataFrame) -> DataFrame:
        """Return the rows of keys that depend on each other."""
        schema = StructType([self._changes.schema[name] for name in self.names])
        return records.groupBy(F.lit("all")).applyInArrow(_folder(tuple(self.names), schema), schema)


def _folder(names: tuple[str, ...], schema: StructType) -> Callable[[pa.Table], pa.Table]:
    def fold(records: pa.Table) -> pa.Table:
        # A row that is moved must be read before its old key is gone: False sorts before True.
        ordered = records.sort_by([(_AT, "ascending"), (_GONE, "ascending")]).to_pylist()
        rows = reduce(_applied(names), ordered, dict[tuple[Any, ...], dict[str, Any]]())
        return pa.Table.from_pylist(list(rows.values()), schema=arrow_schema(schema))

    return fold


def _applied(names: Iterable[str]) -> Callable[[dict[tuple[Any, ...], dict[str, Any]], dict[str, Any]], Any]:
    def apply(rows: dict[tuple[Any, ...], dict[str, Any]], record: dict[str, Any]) -> dict[Any, Any]:
        key = tuple(record[_KEY].values())
        if record[_GONE]:
            rows.pop(key, None)
            return rows
        source = key if record[_FROM] is None else tuple(record[_FROM].values())
        known = {} if record[_FRESH] and record[_FROM] is None else rows.get(source, {})
        absent = set(record[_MISSING] or ())
        rows[key] = {name: known.get(name) if name in absent else record[name] for name in names}
        return rows

    return apply


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
