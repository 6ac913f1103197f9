"""What writers of SQL and their callers agree on: numbers in shared arrays."""

from __future__ import annotations

from enum import IntEnum

from binspark.kernels.objects.layout import Field


class SqlField(IntEnum):
    """Numbers that describe one column of the rows: those of `Field` as far as they are used, and what is SQL's.

    A text is two numbers: its address, and its length.
    """

    WRITER = Field.WRITER
    VALIDITY = Field.VALIDITY
    FIRST_BIT = Field.FIRST_BIT
    VALUES = Field.VALUES
    OFFSETS = Field.OFFSETS
    DATA = Field.DATA
    DIGITS = Field.DIGITS
    NAME = Field.NAME  # text: the name, quoted
    NAME_LENGTH = Field.NAME_LENGTH
    SIZE = 10  # bytes of a value, 0 if it is of variable size
    SETTABLE = 11  # 1: statements may set the column
    KEEPS_TIME = 12  # 1: an UPDATE must set it, to what it is
    SETS = 13  # text before a value that the column is set to, or that its key has
    KEEPS = 15  # text that sets the column to what it is
    IS_NULL = 17  # text of the condition for NULL
    COMPARES = 19  # text before a value that the column is compared with
    PLAIN = 21  # which text is written in quotes, see `Plain`
    INTRODUCER = 22  # text before hexadecimal digits: the character set
    GUARDS = 24  # whether an undo compares the column, see `Guards`
    WIDTH = 25


class Plain(IntEnum):
    """Which text is written in quotes; the rest is in hexadecimal."""

    NONE = 0
    ASCII = 1  # characters that all character sets of one byte for ASCII share
    UTF8 = 2


class Guards(IntEnum):
    """Whether the condition of an undo compares a column, besides the key."""

    NEVER = 0
    ALWAYS = 1
    IF_EXACT = 2  # a document: not if its literal has a comment, which says that a value in it becomes another


class Statements(IntEnum):
    """Numbers of the statements that rows become, after those of `ChangedRows` in the same array.

    Where a table has n columns, n more that describe how values are compared follow them.
    """

    BY_REFERENCE = 15  # address of a byte for each row: 1 if Python must write it
    UNDO = 16  # 1: the inverse of each change is written, the last row first
    INSERT_ALL = 17  # texts
    INSERT = 19
    DELETE = 21
    UPDATE = 23
    COUNTS = 25  # text after an UPDATE or DELETE: it counts the rows that were not found
    GUARDED = 27  # 1: conditions with a key compare other columns, too
    WIDTH = 28


class Walk(IntEnum):
    """Numbers of a walk over the events of a log, in an array of int64."""

    AT = 0  # address after the last transaction that was found
    END = 1  # address after the bytes that may be read
    ORIGIN = 2  # an address plus this is an offset in the log
    CHECKSUM = 3  # 1: events have a CRC32
    CRC_FUNCTION = 4
    TRANSACTIONS = 5  # address of the numbers of transactions, see `RowsTransaction`
    TRANSACTION_COUNT = 6
    TRANSACTION_CAPACITY = 7
    EVENTS = 8  # address of the numbers of rows events, see `RowsEvent`
    EVENT_COUNT = 9
    EVENT_CAPACITY = 10
    WIDTH = 11


class WalkStop(IntEnum):
    """Why a walk ended."""

    MORE = 0  # the next transaction is not complete
    OTHER = 1  # the next transaction is not only rows, or its events are not as usual
    FULL = 2


class RowsTransaction(IntEnum):
    """Numbers of a transaction that consists of rows alone."""

    START = 0  # offset
    END = 1
    TIMESTAMP = 2
    SERVER = 3
    THREAD = 4  # NO_THREAD if it is not known
    GTID = 5  # address of the UUID, of the domain in MariaDB; 0 for an anonymous transaction
    NUMBER = 6
    FIRST_EVENT = 7
    EVENTS_END = 8
    MOMENT = 9  # number of the text of its time
    IS_MARIADB = 10
    WIDTH = 11


class RowsEvent(IntEnum):
    """Numbers of a rows event."""

    OFFSET = 0
    FLAGS = 1
    STATEMENT = 2  # address of the statement that caused it, 0 if that is not known
    STATEMENT_LENGTH = 3
    TEXT = 4  # address of its statements
    TEXT_LENGTH = 5  # 0 if it is not selected
    SETTINGS = 6  # number of the settings that it needs
    NOTE = 7  # number of the text for its statement, -1 for none
    WIDTH = 8


class Script(IntEnum):
    """Numbers of transactions on their way into a script. Tables of texts have an address and a length for each."""

    AT = 0  # address to write at
    TRANSACTIONS = 1
    COUNT = 2
    EVENTS = 3
    UNDO = 4
    SETTINGS = 5  # number of the settings of the session
    CHANGES = 6  # address of texts: from the first settings to each, then from the next ones
    MOMENTS = 7  # address of texts
    NOTES = 8  # address of texts
    HAS_COMMENTS = 9
    KEEPS_GTIDS = 10
    FILE = 11  # text: the name of the log, and a colon
    ENDING = 13  # texts that end a transaction, before and after its name
    ENDING_REST = 15
    WIDTH = 17


SETTINGS_COUNT = 4
"""How many settings rows events may need: checks of foreign keys, and of unique keys."""
