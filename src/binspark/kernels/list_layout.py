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
