"""The numbers of listed events and transactions that kernels share with `columns`: the row of each in its array."""

from __future__ import annotations

from enum import IntEnum

NULL = -(1 << 62)
"""A number that is not there. No number of a log is that small."""


class EventNumber(IntEnum):
    """Numbers of one event."""

    OFFSET = 0
    END = 1  # offset after the event; of one inside a payload, after the payload's event
    INNER = 2  # number of the event inside a payload, NULL outside
    TYPE = 3
    TIMESTAMP = 4
    SERVER = 5
    SIZE = 6
    FLAGS = 7
    CHECKSUM = 8  # 1: it matches, 0: there is none
    FILE = 9
    ADDRESS = 10  # of the event's bytes, as long as they are in memory; 0 if they were not
    COUNT = 11


class TransactionNumber(IntEnum):
    """Numbers of one transaction. Only the last one may be in progress."""

    FILE = 0
    START = 1
    END_FILE = 2
    END = 3
    TIMESTAMP = 4
    SERVER = 5
    LENGTH = 6
    EVENTS = 7
    STATEMENTS = 8
    COMPRESSED = 9
    PROGRESS = 10
    PAYLOAD_CLOSED = 11  # 1: the last event is a payload, and none from inside came since
    ENDING = 12  # number of the ending in `Ending`, NULL in progress
    STATEMENT_ENDING = 13  # number of the ending that a single statement means
    IMMEDIATE_COMMIT_TIMESTAMP = 14
    ORIGINAL_COMMIT_TIMESTAMP = 15
    DECLARED_LENGTH = 16
    LAST_COMMITTED = 17
    SEQUENCE_NUMBER = 18
    GTID_FLAGS = 19
    DOMAIN = 20
    COMMIT_ID = 21
    HAS_COMMIT_ID = 22
    XID = 23
    HAS_XID = 24
    THREAD = 25
    SCHEMA = 26  # number of its name, NULL for none
    COUNT = 27


class ChangeNumber(IntEnum):
    """Numbers of the changes of one table in a transaction, in one way."""

    TRANSACTION = 0  # row of the transaction
    TABLE = 1  # number of its name
    OPERATION = 2
    EVENTS = 3
    BYTES = 4
    ROWS = 5  # -1: not known
    OVERHEAD = 6  # bytes of the table maps and statements before the rows events
    COUNT = 7


class MapNumber(IntEnum):
    """Numbers of a table as a TABLE_MAP describes it."""

    TABLE = 0  # number of its name
    COLUMNS = 1  # number of columns
    SIZES = 2  # address of two numbers for each column, see `SizeOf`; 0 if a size is not known
    COUNT = 3


class NameNumber(IntEnum):
    """Numbers of one entry in a hash table of names."""

    HASH = 0  # -1 for an empty entry
    ADDRESS = 1
    LENGTH = 2
    NUMBER = 3
    COUNT = 4


INTERVAL_LENGTH = 32
"""The bytes of an interval of GTIDs that is selected: 16 of the UUID, the first number, and that after the last."""


class FilterNumber(IntEnum):
    """Numbers with which `kernels.event_filter` chooses among listed events.

    Those up to PICKED_LIMIT are set by the caller; the others change with each event.
    """

    START = 0  # events before this offset are not selected
    START_TIME = 1
    STOP_TIME = 2  # 0: none
    SERVER = 3  # -1: any
    THREAD = 4  # -1: any
    COMMITTED_FROM = 5
    COMMITTED_BEFORE = 6  # 0: none
    BY_GTID = 7  # 1: by the intervals below, 2: Python decides
    UNNAMED = 8  # 1: events without a GTID are selected
    INCLUDED = 9  # address of intervals of GTIDs that are selected, see INTERVAL_LENGTH
    INCLUDED_COUNT = 10  # -1: all are
    EXCLUDED = 11
    EXCLUDED_COUNT = 12
    BY_CONTENT = 13  # 1: events are selected by the tables that they are about, or rows events by their operation
    BY_OPERATION = 14  # 1: rows events alone are selected
    OPERATIONS = 15  # the operations that are selected, in a bit mask
    ALL_FOR_PYTHON = 16  # 1: the layouts of events are not the usual ones
    BY_ROW = 17  # 1: rows events must have rows that a condition selects
    PICKED = 18  # address of the positions of such rows, in the order of the log
    PICKED_COUNT = 19
    PICKED_LIMIT = 20  # from this offset on such rows are not known
    PICKED_AT = 21  # the number of the first of them in the next event, or later
    ROW = 22  # the next event
    END = 23  # the number of events
    KEPT = 24  # how many are selected: they move to the front
    HELD = 25  # the first one of which it is not yet known, because the thread is not; -1 for none
    PROGRESS = 26  # what is in progress after the last event
    WANTED = 27  # 1: the transaction in progress is selected, as far as that is known
    THREAD_KNOWN = 28
    QUERY = 29  # address of the last statement, 0 if it is not in memory
    COUNT = 30


class FilterStop(IntEnum):
    """Why `kernels.event_filter` returned to Python."""

    END = 0
    PYTHON = 1  # the next event is for Python
    STATEMENT = 2  # Python decides whether the statement in the next event is about selected tables
