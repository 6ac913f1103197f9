"""What kernels and plans agree on: opcodes, and where each number stands in the arrays that they share."""

from __future__ import annotations

from enum import IntEnum


class Op(IntEnum):
    """What to do with the bytes of one value, which are found and bounds-checked before."""

    SKIP = 0
    INT8 = 1
    UINT8 = 2  # to int16
    INT16 = 3
    UINT16 = 4  # to int32
    INT24 = 5  # to int32
    UINT24 = 6  # to int32
    INT32 = 7
    UINT32 = 8  # to int64
    INT64 = 9
    UINT64 = 10  # to decimal128
    DECIMAL = 11  # p1: digits before the point, p2: digits after it; to decimal128
    YEAR = 12  # to int16
    DATE = 13  # to days since 1970
    TIME = 14  # p1: digits of the fraction; to microseconds
    DATETIME = 15  # likewise, since 1970
    TIMESTAMP = 16  # likewise
    BIT = 17  # p1: bits; to int64
    BIT64 = 18  # to decimal128
    BINARY = 19
    TEXT_UTF8 = 20  # p2: most bytes of a character
    TEXT_TABLE = 21  # aux: for each byte, its UTF-8 in three bytes and their number in the fourth
    ENUM = 22  # p1: members; aux: int32 offsets of the members' text, then the text
    SET = 23  # likewise; to a list
    JSON = 24  # aux: function that writes a document as text
    GEOMETRY = 25  # to srid and wkb
    VECTOR = 26  # to a list of floats
    FIXED_BINARY = 27  # p1: bytes that the value is filled up to with zeros
    TEMPORAL_TEXT = 28  # p1: digits of the fraction; aux: function that writes a date or time as text


class Column(IntEnum):
    """Numbers that describe one output column, in a row of int64."""

    OP = 0
    P1 = 1
    P2 = 2
    AUX = 3  # address of a table or function that the opcode needs
    LENGTH_BYTES = 4  # bytes of the length field before the value, 0 if its size is fixed
    FIXED_SIZE = 5
    VALUES = 6  # address of fixed-size values
    OFFSETS = 7  # address of int32 offsets into DATA, or into the items of a list
    DATA = 8  # address of variable-size bytes
    DATA_CAPACITY = 9
    DATA_USED = 10
    VALIDITY = 11  # address of the bitmap of values that are not NULL
    NULLS = 12
    ITEM_OFFSETS = 13  # address of int32 offsets of list items into DATA
    ITEMS = 14  # list items so far
    ITEM_CAPACITY = 15
    ON_ODD_DATE = 16  # a date that is none: 0 becomes NULL, 1 is refused
    MAX_LENGTH = 17  # most bytes of a value of variable size
    WIDTH = 20


class Table(IntEnum):
    """Numbers that describe one table, in a row of int64."""

    FIRST_COLUMN = 0  # row of its first output column
    COLUMN_COUNT = 1  # columns of the table, all of which stand in the log
    ROWS = 2  # rows so far
    ROW_CAPACITY = 3
    WANTED = 4  # 1: decode, 0: the rows are stepped over
    META_EVENT = 5  # address of int64: offset of the event of each row
    META_ROW = 6  # address of int32: number of the row in its event
    META_TRANSACTION = 7  # address of int32: transaction of each row
    META_OP = 8  # address of int8: operation of each row
    META_SERVER = 9  # address of int64: server id of each row
    BEFORE = 10  # 1: old images of updates are kept, in columns behind the others
    META_TX_ROW = 11  # address of int64: number of the row in its transaction
    OPS = 12  # bit mask of the operations that are wanted
    META_IMAGE = 13  # address of int32: which columns the images of each row have
    CHECK = 15  # 1: Python checks the values of every event, because kernels only copy those of some column
    IMAGE = 16  # number of the last images without all columns, one for each operation
    IMAGE_BITS = 19  # address of their bitmaps, one for each operation, 0 for none
    BYTES = 22  # bytes of the rows events that were decoded, one for each operation
    WIDTH = 25


class State(IntEnum):
    """Numbers that a scan keeps between calls, in an array of int64."""

    AT = 0  # address of the next event
    END = 1  # address behind the last byte
    FILE_OFFSET = 2  # offset in the file of the byte at address BUFFER
    BUFFER = 3
    NEEDED = 5  # bytes that the next event takes, for Stop.MORE
    TABLE = 6  # the table that is full
    ROW_AT = 7  # address of the next row inside the event at AT, 0 if the event is not begun
    ROW_NUMBER = 8  # number of that row in its event
    TRANSACTION = 9  # number of the current transaction among those kept, -1 if none
    TRANSACTIONS = 10  # transactions kept
    TRANSACTION_CAPACITY = 11
    TEXT_USED = 12  # bytes of their identifiers
    TEXT_CAPACITY = 13
    TX_ROW = 14  # rows of the current transaction so far
    CHECKSUM = 15  # 1: events end with a CRC32
    CRC_FUNCTION = 16  # address of zlib's crc32, 0 if there is none
    INNER = 17  # 1: the events are inside a payload; 2: one event that was rewritten
    OUTER_OFFSET = 18  # offset of the payload's event
    COUNT_ALL = 19  # 1: rows of tables that are not wanted are counted too
    EVENTS = 20
    ROWS = 21
    PAYLOAD_ROW = 24  # rows so far inside the current payload
    START_POSITION = 25  # rows of events before this offset are stepped over
    STOP_POSITION = 26  # the scan ends at this offset, 0 for none
    START_TIME = 27  # rows of events before this time, in seconds, are stepped over
    STOP_TIME = 28  # rows of events from this time on are stepped over, 0 for none
    SERVER = 29  # rows of other servers are stepped over, -1 for none
    ASK_TRANSACTIONS = 30  # 1: Python decides which transactions are wanted
    SKIP_TRANSACTION = 31  # 1: rows of the current transaction are stepped over
    UUID_LOW = 32  # the UUID whose text was written last
    UUID_HIGH = 33
    UUID_TEXT = 34  # address of that text, 0 if it is gone
    ALL_FOR_PYTHON = 35  # 1: kernels do not know the log's type codes or lengths, so Python deals with every event
    SPLIT_END = 36  # the scan ends at the first transaction that begins here or later, 0 for none
    COMMITTED_FROM = 38  # rows of transactions before this time, in microseconds, are stepped over
    COMMITTED_BEFORE = 39  # rows of transactions from this time on are stepped over, 0 for none
    KEEP_IMAGES = 40  # 1: rows remember which columns their images have
    DECODED = 41  # bytes of rows events that were decoded
    WIDTH = 42


class Stop(IntEnum):
    """Why a scan returned to Python."""

    MORE = 1  # the next event is not complete
    PYTHON = 2  # the event at AT is for Python
    FULL = 3  # a table has no room for the next row
    REFUSED = 4  # the bytes of the event at AT are wrong; the reference says how
    TRANSACTIONS_FULL = 5
    END = 6  # the position to stop at is reached
    CHECK = 7  # the rows of the event at AT are decoded, but for values that Python must look at
    BOUNDARY = 8  # a transaction begins at AT, where the split may end
    IMAGE = 9  # the images of the event at AT lack columns, and are not those of the event before


class Transactions(IntEnum):
    """Numbers that describe one transaction, in a row of int64."""

    COMMIT_TIME = 0  # microseconds since 1970, 0 if unknown
    SERVER = 1
    WIDTH = 4


class TableIds(IntEnum):
    """Numbers of one table id in use, in a row of int64."""

    ID = 0
    TABLE = 1  # -1: rows of this table are of no interest and need no schema
    MAP = 2  # address of the body of its TABLE_MAP
    MAP_LENGTH = 3
    WIDTH = 4
