"""The numbers that kernels of a dump share with their callers."""

from __future__ import annotations

from enum import IntEnum


class Op(IntEnum):
    """How the values of a column are printed."""

    REFUSED = 0
    TINY = 1
    SHORT = 2
    INT24 = 3
    LONG = 4
    LONGLONG = 5
    DECIMAL = 6
    FLOAT = 7
    DOUBLE = 8
    BITS = 9
    TIMESTAMP = 10
    TIMESTAMP2 = 11
    DATETIME2 = 12
    TIME2 = 13
    DATE = 14
    YEAR = 15
    NUMBER_1 = 16
    NUMBER_2 = 17
    TEXT = 18
    JSON = 19


class ColumnField(IntEnum):
    """The numbers of a column: how to print it, and what is printed around its values."""

    OP = 0
    PARAMETER = 1
    SIZE = 2
    LENGTH_BYTES = 3
    PREFIX = 4
    PREFIX_LENGTH = 5
    SUFFIX = 6
    NULL_SUFFIX = 7
    SUFFIX_LENGTH = 8
    IS_JSON = 9


COLUMN_FIELDS = 10


class TableField(IntEnum):
    """The numbers of a table: its map as the log has it, its columns, and the headings of its rows."""

    MAP = 0
    MAP_LENGTH = 1
    COLUMNS = 2
    COLUMN_COUNT = 3
    INSERT = 4
    INSERT_LENGTH = 5
    DELETE = 6
    DELETE_LENGTH = 7
    UPDATE = 8
    UPDATE_LENGTH = 9
    IS_PRINTABLE = 10


TABLE_FIELDS = 11


class Status(IntEnum):
    """Why the kernel returns."""

    INPUT = 0
    EVENT = 1
    TIME = 2
    OUTPUT = 3
    BODY = 4
    FOOTER = 5
    FLUSH = 6


class State(IntEnum):
    """What the kernel keeps between calls."""

    CONSUMED = 0
    OUTPUT = 1
    BODY = 2
    FOOTER = 3
    NEEDED = 4
    POSITION = 5
    STOP = 6
    STOP_TIME = 7
    CHECKSUM = 8
    VERBOSE = 9
    WITH_BASE64 = 10
    IN_TRANSACTION = 11
    SEEN_GTID = 12
    UNFINISHED = 13
    HAS_BODY = 14
    IS_CARRIED = 15
    SERVER_VERSION = 16
    TABLE_COUNT = 17
    KEY_COUNT = 18
    MAPPED = 19
    JSON_WRITER = 20
    SECOND = 21
    OUTER_END = 22  # where the event ends that contains the events, -1 if none does
    EVENTS = 23  # how many events were printed


STATE_FIELDS = 24
MAPPED_TABLES = 16
"""How many tables of a statement are remembered: pairs of a table id and the index of its table."""

KEY_FIELDS = 4
"""The numbers of a statement that changes nothing: address, length, flags, and where its microseconds are, or -1."""

CLOCK_SLOTS = 64
CLOCK_FIELDS = 3
"""A second, and the addresses of its short and its long text."""

SHORT_TIME, LONG_TIME = 15, 19
