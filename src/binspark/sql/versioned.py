"""Tables that keep their old rows (MariaDB, WITH SYSTEM VERSIONING): which of their changes statements make.

The log has each row with the time at which it ended, which is far in the future for a current row. A DELETE is an
update of that time. An UPDATE is followed by an insert of the old row. The server that runs a script keeps its own old
rows, so a script has what happened to the current ones.
"""

from __future__ import annotations

from binspark.schema.table import TableSchema
from binspark.values.temporal.value import Timestamp
from binspark.values.value import ABSENT, Absent, Row, Value

Images = tuple[Row | None, Row | None]
"""A row before and after a change; None before an insert and after a delete."""

_NEVER = ("2038-01-19 03:14:07.999999", "2106-02-07 06:28:15.999999")
"""When a current row ends, in UTC: the last moment of a TIMESTAMP, since MariaDB 11.5 that of an unsigned one."""


def row_end_of(table: TableSchema) -> int | None:
    """Return the index of the column with the time at which a row ended; None for a table that keeps no old rows."""
    return next((index for index, column in enumerate(table.columns) if column.row_end), None)


def current_images(before: Row | None, after: Row | None, row_end: int) -> Images:
    """Return what a change does to the current rows: neither image if it only changes old ones."""
    ended = ABSENT if before is None else before[row_end]
    ends = ended if after is None or after[row_end] is ABSENT else after[row_end]
    return before if _is_current(ended) else None, after if _is_current(ends) else None


def _is_current(end: Value | Absent) -> bool:
    """Return whether a row with this end is current. An image without it has no other change of it."""
    return not isinstance(end, Timestamp) or end.text().startswith(_NEVER)
