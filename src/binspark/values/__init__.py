"""One value: the readable reference decoder of every column type."""

from binspark.values.as_json import row_json, value_json
from binspark.values.column import BINARY_COLLATION, Column
from binspark.values.decoders import decode_value
from binspark.values.options import DEFAULT_OPTIONS, Undecodable, ValueOptions
from binspark.values.row_image import decode_row
from binspark.values.rows import RowChange, rows_of
from binspark.values.temporals import Date, DateTime, Time, Timestamp
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
