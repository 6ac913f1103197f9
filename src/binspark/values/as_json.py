"""Values as JSON text: exact, with one form for each value.

integers, YEAR, BIT     numbers
DECIMAL                 a string
FLOAT, DOUBLE           the shortest number that reads back to the same bits; a string if there is none (NaN)
dates and times         a string, as the server prints them; TIMESTAMP in UTC
text, ENUM              a string
binary                  a string, "0x…"
SET                     a list of strings
JSON                    the document, with all digits of its numbers
GEOMETRY                {"srid": …, "wkb": "0x…"}
VECTOR                  a list of numbers
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from binspark.event.column_types import ColumnType
from binspark.values.column import Column
from binspark.values.temporal.value import Date, DateTime, Time, Timestamp
from binspark.values.value import Absent, DocumentDiff, Geometry, JsonDiffs, Row, Value
from binspark.wire.floats import shortest_float


def row_json(row: Row, columns: Sequence[Column]) -> str:
    """Return a row image as a JSON object, without absent columns. Columns without a name are `@1`, `@2`, ..."""
    members = [
        f"{_quoted(column.name or f'@{number}')}: {value_json(value, column)}"
        for number, (value, column) in enumerate(zip(row, columns, strict=True), 1)
        if not isinstance(value, Absent)
    ]
    return "{" + ", ".join(members) + "}"


def value_json(value: Value, column: Column) -> str:
    """Return one value of a column as JSON."""
    return _WRITERS[type(value)](value, column)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _string(text: str, column: Column) -> str:
    return text if column.is_document else _quoted(text)


def _number(number: float, column: Column) -> str:
    if not math.isfinite(number):
        return _quoted({"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(number)])
    return repr(number if column.type == ColumnType.DOUBLE else shortest_float(number))


def _list(items: tuple[Any, ...], column: Column) -> str:
    return "[" + ", ".join(value_json(item, column) for item in items) + "]"


def _geometry(geometry: Geometry, _column: Column) -> str:
    return f'{{"srid": {geometry.srid}, "wkb": "0x{geometry.wkb.hex()}"}}'


def diffs_json(partial: JsonDiffs) -> str:
    """Return a partial update as JSON."""
    return '{"json_diffs": [' + ", ".join(_diff(diff) for diff in partial.diffs) + "]}"


def _diff(diff: DocumentDiff) -> str:
    value = "" if diff.value is None else f', "value": {diff.value}'
    return f'{{"op": {_quoted(diff.operation)}, "path": {_quoted(diff.path)}{value}}}'


def _temporal(value: Date | Time | DateTime | Timestamp, _column: Column) -> str:
    return f'"{value.text()}"'


_WRITERS: dict[type, Callable[[Any, Column], str]] = {
    type(None): lambda _value, _column: "null",
    int: lambda value, _column: str(value),
    float: _number,
    str: _string,
    bytes: lambda value, _column: f'"0x{value.hex()}"',
    Decimal: lambda value, _column: f'"{value:f}"',
    Date: _temporal,
    Time: _temporal,
    DateTime: _temporal,
    Timestamp: _temporal,
    Geometry: _geometry,
    JsonDiffs: lambda value, _column: diffs_json(value),
    tuple: _list,
}
