"""What kernels and their callers agree on: opcodes, and the index of each number in the arrays that they share."""

from __future__ import annotations

from enum import IntEnum

REFUSED, NO_ROOM = -1, -2
"""What a kernel that writes text returns instead of a length: the bytes are wrong, or more memory is needed."""


class Header(IntEnum):
    """Offsets in the header of an event of version 4, and its length."""

    TIMESTAMP = 0
    TYPE = 4
    SERVER_ID = 5
    EVENT_SIZE = 9
    END_POSITION = 13
    FLAGS = 17
    LENGTH = 19


CHECKSUM_LENGTH = 4

MIN_MYSQL_BODY, MIN_MARIADB_BODY = 25, 13
"""The shortest bodies of GTID events."""


class Op(IntEnum):
    """What to do with the bytes of one value, which were located and bounds-checked before."""

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
    DECIMAL = 11  # p1: digits before the decimal point, p2: after it; to decimal128
    YEAR = 12  # to int16
    DATE = 13  # to days since 1970
    TIME = 14  # p1: digits of the fraction; to microseconds
    DATETIME = 15  # likewise, since 1970
    TIMESTAMP = 16  # likewise
    BIT = 17  # p1: bits; to int64
    BIT64 = 18  # to decimal128
    BINARY = 19
    TEXT_UTF8 = 20  # p2: maximum bytes of a character
    TEXT_TABLE = 21  # aux: for each byte, its UTF-8 in three bytes and their count in the fourth
    ENUM = 22  # p1: members; aux: int32 offsets of the members' text, then the text
    SET = 23  # likewise; to a list
    JSON = 24  # aux: function that writes a document as text
    GEOMETRY = 25  # to srid and wkb
    VECTOR = 26  # to a list of floats
    FIXED_BINARY = 27  # p1: the length that values are padded to with zeros
    TEMPORAL_TEXT = 28  # p1: digits of the fraction; aux: function that writes a date or time as text


class Operation(IntEnum):
    """What a row is: the number of its operation in META_OP."""

    INSERT = 0
    UPDATE = 1
    DELETE = 2
    TRUNCATE = 3  # of a statement; the others are those of rows events


ROWS_OPERATIONS = 3
"""How many operations rows events have."""


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
    ON_INVALID_DATE = 16  # 0: an invalid date becomes NULL, 1: it is refused
    MAX_LENGTH = 17  # maximum bytes of a value of variable size
    WIDTH = 20


class Table(IntEnum):
    """Numbers that describe one table, in a row of int64."""

    FIRST_COLUMN = 0  # row of its first output column
    COLUMN_COUNT = 1  # columns of the table, all of which are in the log
    ROWS = 2  # rows so far
    ROW_CAPACITY = 3
    WANTED = 4  # 1: rows are decoded, 0: they are skipped
    META_EVENT = 5  # address of int64: offset of the event of each row
    META_ROW = 6  # address of int32: number of the row in its event
    META_TRANSACTION = 7  # address of int32: transaction of each row
    META_OP = 8  # address of int8: operation of each row
    META_SERVER = 9  # address of int64: server id of each row
    BEFORE = 10  # 1: before images are kept, in columns after the others; 0: only the key in those of updates
    META_TX_ROW = 11  # address of int64: number of the row in its transaction
    OPS = 12  # bit mask of the selected operations
    META_IMAGE = 13  # address of int32: number of the row image of each row, see `columns.image_table`
    PARTIAL = 14  # 1: some row image does not have all columns
    CHECK = 15  # 1: Python checks the values of every event, because kernels only copy some of them
    IMAGE = 16  # number of the last incomplete row image, one for each operation
    IMAGE_BITS = 19  # address of its bitmaps, one for each operation, 0 for none
    BYTES = 22  # bytes of the rows events that were decoded, one for each operation
    META_TIME = 25  # address of uint32: time of the event of each row
    META_THREAD = 26  # address of uint32: thread that changed each row, NO_THREAD if not known
    META_STATEMENT = 27  # address of int32: number of the statement of each row among those kept, -1 for none
    OLD_FIRST = 28  # the first column that is decoded in before images,
    OLD_END = 29  # and the one after the last; 0 if there is none
    WIDTH = 30


class State(IntEnum):
    """Numbers that a scan keeps from call to call, in an array of int64."""

    AT = 0  # address of the next event
    END = 1  # address after the last byte
    FILE_OFFSET = 2  # offset in the file of the byte at address BUFFER
    BUFFER = 3
    NEEDED = 5  # bytes that the next event takes, for Stop.MORE
    TABLE = 6  # the table that is full
    ROW_AT = 7  # address of the next row inside the event at AT, 0 before the first one
    ROW_NUMBER = 8  # number of that row in its event
    TRANSACTION = 9  # number of the current transaction among those kept, -1 for none
    TRANSACTIONS = 10  # transactions kept
    TRANSACTION_CAPACITY = 11
    TEXT_USED = 12  # bytes of their identifiers
    TEXT_CAPACITY = 13
    TX_ROW = 14  # rows of the current transaction so far
    CHECKSUM = 15  # 1: events end with a CRC32
    CRC_FUNCTION = 16  # address of zlib's crc32, 0 if there is none
    INNER = 17  # 1: the events are inside a payload, 2: a single event that was rewritten
    OUTER_OFFSET = 18  # offset of the payload's event
    COUNT_ALL = 19  # 1: rows of tables that are not selected are counted, too
    EVENTS = 20
    ROWS = 21
    PAYLOAD_ROW = 24  # rows so far inside the current payload
    START_POSITION = 25  # rows of events before this offset are skipped
    STOP_POSITION = 26  # the scan ends at this offset, 0 for none
    START_TIME = 27  # rows of events before this time, in seconds, are skipped
    STOP_TIME = 28  # rows of events from this time on are skipped, 0 for none
    SERVER = 29  # rows of other servers are skipped, -1 for none
    SELECT_BY_GTID = 30  # 1: Python decides which transactions are selected
    SKIP_TRANSACTION = 31  # 1: rows of the current transaction are skipped
    UUID_LOW = 32  # the UUID whose text was written last
    UUID_HIGH = 33
    UUID_TEXT = 34  # address of that text, 0 if it is gone
    ALL_FOR_PYTHON = 35  # 1: kernels do not know the log's type codes or lengths, so Python reads every event
    SPLIT_END = 36  # the scan ends at the first transaction that begins here or later, 0 for none
    SELECT_BY_THREAD = 37  # 1: Python reads BEGIN, which has the thread of a transaction
    COMMITTED_FROM = 38  # rows of transactions before this commit time, in microseconds, are skipped
    COMMITTED_BEFORE = 39  # rows of transactions from this commit time on are skipped, 0 for none
    KEEP_IMAGES = 40  # 1: the number of its row image is kept for each row
    DECODED = 41  # bytes of rows events that were decoded
    OUTER_END = 42  # offset after the payload's event
    INNER_NUMBER = 43  # number of the next event inside the current payload
    FILE = 44  # number of the file, of those that a reader of events or transactions has read
    LISTED = 45  # events or transactions in their arrays
    LIST_CAPACITY = 46
    SELECT_EVENTS = 47  # 1: not all events are selected
    SKIP_UNNAMED = 48  # 1: events that belong to no transaction are skipped
    STATEMENT = 49  # number of the current statement: table maps of earlier ones are no longer valid
    CHANGES = 50  # changes of tables in their arrays
    CHANGE_CAPACITY = 51
    OVERHEAD = 52  # bytes of the table maps and statements since the last rows event of the transaction
    KEEP_ORIGINS = 53  # 1: time, thread and statement are kept for each row
    THREAD = 54  # of the current transaction, NO_THREAD if not known
    ROWS_QUERY = 55  # number of the current statement among those kept, -1 for none
    ROWS_QUERIES = 56  # statements kept
    ROWS_QUERY_CAPACITY = 57
    ROWS_QUERY_OFFSETS = 58  # address of int32: where the text of each statement ends
    ROWS_QUERY_TEXT = 59  # address of the texts
    ROWS_QUERY_TEXT_USED = 60
    ROWS_QUERY_TEXT_CAPACITY = 61
    WIDTH = 62


class Stop(IntEnum):
    """Why a scan returned to Python."""

    MORE = 1  # the next event is not complete
    PYTHON = 2  # the event at AT is for Python
    FULL = 3  # a table has no room for the next row
    REFUSED = 4  # the bytes of the event at AT are wrong; the reference decoder finds out how
    TRANSACTIONS_FULL = 5  # no room for another transaction, or for another statement
    END = 6  # the position to stop at is reached
    CHECK = 7  # the rows of the event at AT are decoded, except for values that Python must check
    BOUNDARY = 8  # a transaction begins at AT, where the split may end
    IMAGE = 9  # the row images of the event at AT have other columns than those of the event before


class Transactions(IntEnum):
    """Numbers that describe one transaction, in a row of int64."""

    COMMIT_TIME = 0  # microseconds since 1970, 0 if unknown
    SERVER = 1
    WIDTH = 4


NO_THREAD = 0xFFFFFFFF
"""Instead of the id of a thread."""

KEPT_STATEMENT_BYTES = 1001
"""How much of a statement is kept: one byte more than is shown, so that it shows whether there is more."""

SKIPPED, BY_PYTHON = -1, -2
"""Instead of a table: its rows are not selected, or Python decodes them."""


class TableIds(IntEnum):
    """Numbers of one table id in use, in a row of int64."""

    ID = 0  # -1 for an empty entry
    TABLE = 1  # number of the table, SKIPPED or BY_PYTHON
    MAP = 2  # address of the body of its TABLE_MAP
    MAP_LENGTH = 3
    WIDTH = 4
