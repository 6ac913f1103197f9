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
    WIDTH = 24


class Plain(IntEnum):
    """Which text is written in quotes; the rest is in hexadecimal."""

    NONE = 0
    ASCII = 1  # characters that all character sets of one byte for ASCII share
    UTF8 = 2


class Statements(IntEnum):
    """Numbers that describe the rows of a batch and where their statements go, in an array of int64.

    Where a table has n columns, n more that describe how values are compared follow them.
    """

    ROW = 0  # how many rows were written
    ROWS = 1
    AT = 2  # address to write the next statement at
    LIMIT = 3  # the last address at which a value of variable size may end
    START = 4  # address of the first statement
    OFFSETS = 5  # address of int32: where each statement begins, and where the last one ends
    NEW = 6  # address of the numbers of the columns of new rows, and of deleted ones
    OLD = 7  # address of those of the old rows of updates
    FIELD_COUNT = 8
    KEY = 9  # address of int64: the indexes of the columns of the key
    KEY_COUNT = 10
    IMAGES = 11  # address of int32: the image of each row; 0 if all columns are in all rows
    BEFORE_PRESENT = 12  # address of a byte for each image and column: 1 if the column is in the old row
    AFTER_PRESENT = 13  # the same for the new row
    OPERATIONS = 14  # address of int32
    BY_REFERENCE = 15  # address of a byte for each row: 1 if Python must write it
    UNDO = 16  # 1: the inverse of each change is written, the last row first
    INSERT_ALL = 17  # texts
    INSERT = 19
    DELETE = 21
    UPDATE = 23
    WIDTH = 25
