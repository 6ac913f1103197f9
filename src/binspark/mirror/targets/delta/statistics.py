"""What Delta's log says of a data file: its rows, and the smallest and largest values by which readers skip it.

All of it comes from the file's Parquet footer. A bound may be wider than the values are, never narrower: text is cut
off after 32 characters, and times are rounded to milliseconds, as other writers do.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from binspark.mirror.files.data_file import DataFile

MAX_COLUMNS = 32
_MAX_TEXT = 32
_LAST_CHARACTER = "\U0010ffff"
_EPOCH = datetime(1970, 1, 1)
_EPOCH_DAY = _EPOCH.date().toordinal()
_MICROSECONDS = 1000  # in a millisecond


class _Column(NamedTuple):
    """The bounds of a column over all row groups; None where they are not known or all rows are NULL."""

    low: Any
    high: Any
    nulls: int | None


def statistics(file: DataFile, schema: pa.Schema) -> str:
    """Return the statistics of a data file as JSON."""
    metadata = pq.read_metadata(pa.BufferReader(file.footer)) if file.footer else None
    fields: dict[str, dict[str, str]] = {"minValues": {}, "maxValues": {}, "nullCount": {}}
    for field, column in _columns(metadata, schema) if metadata else ():
        name, literal = json.dumps(field.name), _literal_of(field.type)
        if column.nulls is not None:
            fields["nullCount"][name] = str(column.nulls)
        low, high = _bounds(literal, column) if literal else (None, None)
        if low is not None and high is not None:
            fields["minValues"][name], fields["maxValues"][name] = low, high
    members = [f'"numRecords":{file.rows}', *(f'"{name}":{_object(values)}' for name, values in fields.items())]
    return f"{{{','.join(members)}}}"


def _object(literals: dict[str, str]) -> str:
    return f"{{{','.join(f'{name}:{literal}' for name, literal in literals.items())}}}"


def _columns(metadata: pq.FileMetaData, schema: pa.Schema) -> Iterator[tuple[pa.Field, _Column]]:
    wanted = {field.name: field for field in schema if not pa.types.is_nested(field.type) and "." not in field.name}
    names = dict(list(wanted.items())[:MAX_COLUMNS])
    for index in range(metadata.num_columns):
        field = names.get(metadata.schema.column(index).path)
        if field is not None:
            yield field, _column(metadata, index, raw=pa.types.is_temporal(field.type))


def _column(metadata: pq.FileMetaData, index: int, *, raw: bool) -> _Column:
    lows, highs, nulls, bounded = [], [], 0, True
    for number in range(metadata.num_row_groups):
        chunk = metadata.row_group(number).column(index)
        found = chunk.statistics
        if found is None or not found.has_null_count:
            return _Column(None, None, None)
        nulls += found.null_count
        if found.has_min_max:
            lows.append(found.min_raw if raw else found.min)
            highs.append(found.max_raw if raw else found.max)
        elif found.null_count < chunk.num_values:
            bounded = False
    return _Column(min(lows), max(highs), nulls) if bounded and lows else _Column(None, None, nulls)


def _bounds(literal: Callable[[Any, bool], str], column: _Column) -> tuple[str | None, str | None]:
    """Return the literals of both bounds; None if one of them has no literal: a year before 1, or after 9999."""
    if column.low is None:
        return None, None
    try:
        return literal(column.low, False), literal(column.high, True)
    except (OverflowError, ValueError):
        return None, None


def _number(value: int | Decimal, _high: bool) -> str:
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _float(value: float, _high: bool) -> str:
    if not math.isfinite(value):
        raise ValueError(value)
    return repr(value)


def _day(days: int, _high: bool) -> str:
    return f'"{date.fromordinal(days + _EPOCH_DAY).isoformat()}"'


def _time(microseconds: int, high: bool) -> str:
    milliseconds = -(-microseconds // _MICROSECONDS) if high else microseconds // _MICROSECONDS
    return (_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds")


def _text(value: str, high: bool) -> str:
    cut = value[:_MAX_TEXT]
    if high and cut != value:
        if value[_MAX_TEXT] == _LAST_CHARACTER:
            raise ValueError(value)
        cut += _LAST_CHARACTER
    return json.dumps(cut, ensure_ascii=False)


def _zoned_time(microseconds: int, high: bool) -> str:
    return f'"{_time(microseconds, high)}Z"'


def _local_time(microseconds: int, high: bool) -> str:
    return f'"{_time(microseconds, high)}"'


_Literal = Callable[[Any, bool], str]
_LITERALS: dict[pa.DataType, _Literal] = {
    pa.int8(): _number,
    pa.int16(): _number,
    pa.int32(): _number,
    pa.int64(): _number,
    pa.float32(): _float,
    pa.float64(): _float,
    pa.date32(): _day,
    pa.timestamp("us"): _local_time,
    pa.timestamp("us", tz="UTC"): _zoned_time,
    pa.string(): _text,
}


def _literal_of(kind: pa.DataType) -> _Literal | None:
    return _number if pa.types.is_decimal128(kind) else _LITERALS.get(kind)
