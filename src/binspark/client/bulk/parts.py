"""What each type of event means for the transaction around it, as tables of bytes.

This is `transactions.Assembler` in small: it only tells whether a transaction is open behind an event.
"""

from __future__ import annotations

from enum import IntEnum

from binspark.event import Event, MariadbGtidEvent, Rows
from binspark.frames import EventCode as E
from binspark.kernels.packet_layout import Part
from binspark.transactions.boundaries import boundary_of
from binspark.transactions.identity import begins_implicitly
from binspark.transactions.roles import Role


class Open(IntEnum):
    """What is open behind an event.

    NOTHING     the log may be cut here
    PREPARED    events came that belong to a statement which is still to come
    IDENTIFIED  a GTID came; one statement may be all that it names
    BEGUN       only an explicit end ends the transaction
    """

    NOTHING = 0
    PREPARED = 1
    IDENTIFIED = 2
    BEGUN = 3


AFTER: dict[Part, tuple[Open, Open, Open, Open]] = {
    Part.NONE: (Open.NOTHING, Open.PREPARED, Open.IDENTIFIED, Open.BEGUN),
    Part.IDENTIFIES: (Open.IDENTIFIED,) * 4,
    Part.BEGINS: (Open.BEGUN,) * 4,
    Part.PREPARES: (Open.PREPARED, Open.PREPARED, Open.IDENTIFIED, Open.BEGUN),
    Part.STATEMENT: (Open.NOTHING, Open.NOTHING, Open.NOTHING, Open.BEGUN),
    Part.ROWS: (Open.NOTHING, Open.NOTHING, Open.BEGUN, Open.BEGUN),
    Part.ENDS: (Open.NOTHING,) * 4,
}
"""What is open behind an event of each part, by what was open before it."""

AFTER_TABLE = bytes(after for part in sorted(AFTER) for after in AFTER[part])

_PARTS: dict[int, Part] = {
    E.GTID: Part.IDENTIFIES,
    E.ANONYMOUS_GTID: Part.IDENTIFIES,
    E.GTID_TAGGED: Part.IDENTIFIES,
    E.MARIADB_GTID: Part.MARIADB_GTID,
    E.QUERY: Part.QUERY_EVENT,
    E.EXECUTE_LOAD_QUERY: Part.STATEMENT,
    E.VIEW_CHANGE: Part.STATEMENT,
    E.XID: Part.ENDS,
    E.XA_PREPARE: Part.ENDS,
    E.INCIDENT: Part.ENDS,
    E.TRANSACTION_PAYLOAD: Part.ENDS,
    **dict.fromkeys((E.WRITE_ROWS_V1, E.UPDATE_ROWS_V1, E.DELETE_ROWS_V1), Part.ROWS_EVENT),
    **dict.fromkeys((E.WRITE_ROWS, E.UPDATE_ROWS, E.DELETE_ROWS, E.PARTIAL_UPDATE_ROWS), Part.ROWS_EVENT),
    **dict.fromkeys(range(E.WRITE_ROWS_COMPRESSED_V1, E.DELETE_ROWS_COMPRESSED + 1), Part.ROWS_EVENT),
    **dict.fromkeys((E.TABLE_MAP, E.PARTIAL_ROW_DATA, E.ROWS_QUERY, E.ANNOTATE_ROWS), Part.PREPARES),
    **dict.fromkeys((E.INTVAR, E.RAND, E.USER_VAR, E.BEGIN_LOAD_QUERY, E.APPEND_BLOCK), Part.PREPARES),
    **dict.fromkeys((E.TRANSACTION_CONTEXT, E.IGNORABLE, E.LARGE_TRANSACTION_HEADER), Part.NONE),
    **dict.fromkeys((E.PREVIOUS_GTIDS, E.GTID_LIST, E.BINLOG_CHECKPOINT), Part.NONE),
}
"""What kernels deal with. All other events, those that nobody knows too, are Python's."""

PART_TABLE = bytes(_PARTS.get(code, Part.FOR_PYTHON) for code in range(256))

_PARTS_OF_ROLES = {
    Role.IDENTIFIES: Part.IDENTIFIES,
    Role.BEGINS: Part.BEGINS,
    Role.INSIDE: Part.BEGINS,
    Role.PREPARES: Part.PREPARES,
    Role.STATEMENT: Part.STATEMENT,
    Role.WRAPS: Part.ENDS,
    Role.ENDS: Part.ENDS,
    Role.BREAKS: Part.ENDS,
    Role.JOINS: Part.NONE,
    Role.OUTSIDE: Part.NONE,
}


def part_of(event: Event) -> Part:
    """Return the part that an event plays: what kernels tell from its bytes, told by what it says."""
    role = boundary_of(event).role
    if isinstance(event.body, MariadbGtidEvent) and begins_implicitly(event.body):
        return Part.BEGINS
    if isinstance(event.body, Rows) and role is Role.STATEMENT:
        return Part.ROWS
    return _PARTS_OF_ROLES[role]


def open_after(event: Event, before: Open) -> Open:
    """Return what is open behind an event."""
    return AFTER[part_of(event)][before]
