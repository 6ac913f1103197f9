"""Values that rows decode to text: JSON documents, dates where those of no calendar are kept, times on request.

Each is written by a C function, which is compiled when a column needs it.
"""

from __future__ import annotations

from binspark.event.column_types import ColumnType as T
from binspark.kernels.compiler import Writer, callback_address
from binspark.kernels.json.document import write_json
from binspark.kernels.printing.temporal import (
    write_date,
    write_datetime,
    write_logged_time,
    write_old_datetime,
    write_old_time,
    write_old_timestamp,
    write_timestamp,
)

_WRITERS: dict[int, Writer] = {
    T.JSON: write_json,
    T.TYPED_ARRAY: write_json,
    T.DATE: write_date,
    T.NEWDATE: write_date,
    T.TIME: write_old_time,
    T.TIME2: write_logged_time,
    T.DATETIME: write_old_datetime,
    T.DATETIME2: write_datetime,
    T.TIMESTAMP: write_old_timestamp,
    T.TIMESTAMP2: write_timestamp,
}


def text_writer_address(column_type: int) -> int:
    """Return the address of the function that writes the values of a column as text."""
    return callback_address(_WRITERS[column_type])
