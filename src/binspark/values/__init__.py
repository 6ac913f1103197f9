"""Values of columns, one at a time: the reference decoder of every column type, in plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binspark.lazy import names_in

if TYPE_CHECKING:
    from binspark.values.as_json import row_json, value_json
    from binspark.values.column import BINARY_COLLATION, Column
    from binspark.values.decoders import decode_value
    from binspark.values.options import DEFAULT_OPTIONS, Undecodable, ValueOptions
    from binspark.values.rows import RowChange, decode_row, rows_of
    from binspark.values.temporal.value import Date, DateTime, Time, Timestamp
    from binspark.values.value import ABSENT, Absent, DocumentDiff, Geometry, JsonDiffs, Row, Value

__all__ = [
    "ABSENT",
    "BINARY_COLLATION",
    "DEFAULT_OPTIONS",
    "Absent",
    "Column",
    "Date",
    "DateTime",
    "DocumentDiff",
    "Geometry",
    "JsonDiffs",
    "Row",
    "RowChange",
    "Time",
    "Timestamp",
    "Undecodable",
    "Value",
    "ValueOptions",
    "decode_row",
    "decode_value",
    "row_json",
    "rows_of",
    "value_json",
]

__getattr__ = names_in(
    __name__,
    {
        "as_json": "row_json value_json",
        "column": "BINARY_COLLATION Column",
        "decoders": "decode_value",
        "options": "DEFAULT_OPTIONS Undecodable ValueOptions",
        "rows": "RowChange decode_row rows_of",
        "temporal.value": "Date DateTime Time Timestamp",
        "value": "ABSENT Absent DocumentDiff Geometry JsonDiffs Row Value",
    },
)
