"""What a query does when rows have another schema version than it was planned for: go on, or stop with advice.

A batch read continues wherever nothing is lost. A stream stops where its table changed so that rows no longer have the
columns of the query; its batches end at such statements, so that what came before was delivered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import pyarrow as pa

from binspark.errors import SchemaError
from binspark.files.sources import log_order
from binspark.position import Position
from binspark.schema.lineage import WantedColumns
from binspark.schema.table import TableSchema
from binspark.spark.options import MissingColumns, SchemaEvolution, SourceOptions
from binspark.spark.plan import SchemaVersion
from binspark.spark.schemas import table_schema
from binspark.spark.table_schemas import describe_version
from binspark.values.column import Column

_RESTART = "start the query again with the same checkpoint, and it continues from there with the new schema"


class SchemaChanges:
    """Compares schema versions of rows with the one of the query."""

    def __init__(self, newest: SchemaVersion, wanted: WantedColumns, options: SourceOptions) -> None:
        self._newest = newest
        self._wanted = wanted
        self._options = options

    def check_names(self, version: SchemaVersion) -> None:
        """Refuse to guess which column is which where names are not known and schema versions differ."""
        is_unnamed = self._unnamed or _has_unnamed(version.table)
        if is_unnamed and version.table.columns != self._newest.table.columns:
            raise self._irreconcilable(version, "the names of the columns are not known; schemaFile can supply them")

    def check_columns(self, version: SchemaVersion, sources: Mapping[str, str]) -> None:
        """Stop a stream whose table has other columns than the query: those of rows would be lost or NULL."""
        options = self._options
        if not options.streaming:
            return
        missing = [column.name for column in self._wanted.columns if column.name not in sources]
        if options.own_schema:
            if missing and options.missing_columns is MissingColumns.ERROR and not self._is_older(version):
                raise self._changed(version, f"it has no column {missing[0]!r} any more", self._own_schema_advice)
            return
        used = set(sources.values())
        columns = zip(version.table.column_names, version.table.columns, strict=True)
        lost = [name for name, column in columns if name not in used and not _is_hidden(column)]
        if not (missing or lost):
            return
        if self._is_older(version):
            if options.schema_evolution is SchemaEvolution.RESTART:
                return
            raise self._changed(version, _difference(missing, lost), "set schemaEvolution=restart to read both")
        raise self._changed(version, _difference(missing, lost), self._restart_advice)

    def conflict(self, version: SchemaVersion, fields: Sequence[pa.Field]) -> SchemaError:
        """Return the error for columns whose types cannot become those of the query, with ways to go on that work."""
        why = ", ".join(f"{field.name} cannot become {field.type}" for field in fields)
        if self._options.streaming and not self._is_older(version):
            if not self._options.own_schema:
                return self._changed(version, why, self._restart_advice)
            advice = f"change or remove it, and {_RESTART}"
            message = f"rows do not fit the .schema(…) of the query: {why}. {describe_version(version)}. {advice}"
            return SchemaError(message, version.position)
        strings = f"stringColumns={','.join(field.name for field in fields)}"
        what = "it" if len(fields) == 1 else "them"
        ways = [f"{strings} reads {what} as text in all versions", *self._other_ways(version)]
        return self._irreconcilable(version, f"{why}; {'; '.join(ways)}")

    @cached_property
    def _unnamed(self) -> bool:
        return _has_unnamed(self._newest.table)

    @property
    def _restart_advice(self) -> str:
        if self._options.schema_evolution is SchemaEvolution.RESTART:
            return _RESTART
        return f"set schemaEvolution=restart and {_RESTART}"

    @property
    def _own_schema_advice(self) -> str:
        return f"remove it from .schema(…), or set missingColumns=null to have it NULL from there on; {_RESTART}"

    def _other_ways(self, version: SchemaVersion) -> list[str]:
        start = _text(self._newest.position)
        if not self._options.streaming:
            after = f"startPosition={start} reads the rows after the change"
            return [after, f"stopPosition={start} those before it"] if start else []
        fields = table_schema(version.table, self._options).fields
        own = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in fields)
        before = f'.schema("{own}") reads the rows up to the change, and without it the query continues after it'
        return [before, *([f"startingOffsets={start} with a new checkpoint skips them"] if start else [])]

    def _is_older(self, version: SchemaVersion) -> bool:
        return _order(version.position) < _order(self._newest.position)

    def _changed(self, version: SchemaVersion, why: str, how: str) -> SchemaError:
        is_older = self._is_older(version)
        when = "has an earlier schema than the query" if is_older else "changed while the query was running"
        both = f"{describe_version(version)}; the query has {describe_version(self._newest)}"
        return SchemaError(f"the table {when}: {why}. {both}. {how}", version.position)

    def _irreconcilable(self, version: SchemaVersion, why: str) -> SchemaError:
        versions = f"{describe_version(version)} and {describe_version(self._newest)}"
        return SchemaError(f"rows of one schema version do not fit another: {why}. {versions}", version.position)


def _has_unnamed(table: TableSchema) -> bool:
    return any(column.name is None and not _is_hidden(column) for column in table.columns)


def _is_hidden(column: Column) -> bool:
    """Return whether a column is that of a functional index, which no definition has."""
    return column.name is None and not column.visible


def _difference(missing: list[str], lost: list[str]) -> str:
    found = [f"rows have no {name}" for name in missing] + [f"the query has no {name}" for name in lost]
    return ", ".join(found)


def _text(position: Position) -> str:
    """Return the position of a statement as options take it; empty for that of a TABLE_MAP, inside a transaction."""
    file = (position.file or "").rpartition("/")[2]
    return f"{file}:{position.offset or 0}" if file and position.event != "TABLE_MAP" else ""


def _order(position: Position) -> tuple[tuple[str, int], int]:
    return log_order((position.file or "").rpartition("/")[2]), position.offset or 0
