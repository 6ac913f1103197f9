"""Both paths from logs to rows, in one form, so that they can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from binspark.changes import Change
from binspark.columns.reader import TableBatch
from binspark.errors import BinlogError
from binspark.event.column_types import ColumnType
from binspark.files.batches import read_batches
from binspark.files.changes import read_changes
from binspark.schema.table import TableSchema
from binspark.values import ABSENT, Column, Date, DateTime, Geometry, Row, Time, Timestamp

METADATA = ("_op", "_gtid", "_log_file", "_log_pos", "_log_row", "_server_id")
EPOCH = datetime(1970, 1, 1)
MAX_DIGITS = 38


class Outcome(NamedTuple):
    """The result of reading: the rows of each schema of each table, and the class of the error that ended it."""

    tables: dict[TableSchema, list[dict[str, Any]]]
    error: type[BinlogError] | None


def by_rows(logs: Iterable[Path], **options: Any) -> Outcome:
    """Read logs one row at a time."""
    changes, error = until_error(read_changes(list(logs), **options))
    tables: dict[TableSchema, list[dict[str, Any]]] = {}
    for change in changes:
        tables.setdefault(change.table_schema, []).append(arrow_record(change))
    return Outcome(tables, error)


def by_batches(logs: Iterable[Path], **options: Any) -> Outcome:
    """Read logs in bulk."""
    items, error = until_error(read_batches(list(logs), before=True, **options))
    tables: dict[TableSchema, list[dict[str, Any]]] = {}
    for item in items:
        tables.setdefault(item.table, []).extend(bulk_records(item))
    return Outcome(tables, error)


def until_error(items: Iterator[Any]) -> tuple[list[Any], type[BinlogError] | None]:
    """Return what comes before an error, and the kind of error."""
    found: list[Any] = []
    try:
        for item in items:
            found.append(item)  # noqa: PERF402 (what came before an error counts)
    except BinlogError as error:
        return found, type(error)
    return found, None


def bulk_records(item: TableBatch) -> list[dict[str, Any]]:
    """Return the rows of a batch, without the metadata that only the bulk path has."""
    names = [name for name in item.batch.schema.names if name not in ("_seq", "_commit_time", "_tx_row")]
    records: list[dict[str, Any]] = item.batch.select(names).to_pylist()
    return records


def arrow_record(change: Change) -> dict[str, Any]:
    """Return a change as the bulk path shows it: a delete with what was deleted, and the key of an update complete."""
    metadata = (change.op.value, change.gtid, Path(change.file).name, change.pos, change.row, change.server_id)
    schema, before, after = change.table_schema, change.before_image, change.after_image
    shown = before if after is None else after
    if before is not None and after is not None:
        key = schema.primary_key or ()
        shown = tuple(before[index] if value is ABSENT and index in key else value for index, value in enumerate(after))
    columns = dict(zip(schema.column_names, schema.columns, strict=True))
    keys = {name: arrow_value(value, columns[name]) for name, value in (change.key or {}).items()}
    return {
        **dict(zip(METADATA, metadata, strict=True)),
        **({"_key": keys or None} if schema.primary_key else {}),
        **arrow_values(shown, schema),
        "_before": None if before is None else arrow_values(before, schema),
    }


def arrow_values(image: Row | None, schema: TableSchema) -> dict[str, Any]:
    """Return a row image as Arrow gives it back to Python; a column that is absent is NULL there."""
    values = image or (ABSENT,) * len(schema.columns)
    columns = zip(schema.column_names, values, schema.columns, strict=True)
    return {name: arrow_value(value, column) for name, value, column in columns}


def arrow_value(value: Any, column: Column) -> Any:
    """Return one value as Arrow gives it back to Python."""
    return _CONVERTERS.get(type(value), _same)(value, column)


def _same(value: Any, _column: Column) -> Any:
    return value


def _decimal(value: Decimal, column: Column) -> Decimal | str:
    wide = column.type == ColumnType.DECIMAL or column.precision > MAX_DIGITS
    return f"{value:f}" if wide else value


def _date(value: Date, _column: Column) -> date | None:
    return None if value.days is None else EPOCH.date() + timedelta(days=value.days)


def _datetime(value: DateTime, _column: Column) -> datetime | None:
    return None if value.microseconds is None else EPOCH + timedelta(microseconds=value.microseconds)


def _timestamp(value: Timestamp, _column: Column) -> datetime | None:
    if value.microseconds is None:
        return None
    return EPOCH.replace(tzinfo=UTC) + timedelta(microseconds=value.microseconds)


_CONVERTERS: dict[type, Callable[[Any, Column], Any]] = {
    type(ABSENT): lambda _value, _column: None,
    Decimal: _decimal,
    Date: _date,
    DateTime: _datetime,
    Timestamp: _timestamp,
    Time: lambda value, _column: timedelta(microseconds=value.microseconds),
    Geometry: lambda value, _column: {"srid": value.srid, "wkb": value.wkb},
    tuple: lambda value, _column: list(value),
}
