"""What writers of objects and their callers agree on: numbers in shared arrays, and how rows are read from them."""

from __future__ import annotations

from enum import IntEnum

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import get, load8, load32


class Source(IntEnum):
    """How the values of an Arrow array are laid out, and what they mean."""

    NULL = 0
    INT8 = 1
    INT16 = 2
    INT32 = 3
    INT64 = 4
    UNSIGNED = 5  # an unsigned 64-bit integer in a decimal128
    DECIMAL = 6  # digits: after the decimal point
    FLOAT = 7
    DOUBLE = 8
    DATE = 9
    DATETIME = 10  # digits: of the fraction
    TIMESTAMP = 11  # likewise
    TIME = 12  # likewise
    TEXT = 13
    BINARY = 14
    TEXT_OR_BINARY = 15  # bytes whose type is not known: text where they are valid text
    DOCUMENT = 16  # JSON as text
    TEXTS = 17
    FLOATS = 18
    GEOMETRY = 19


class Field(IntEnum):
    """Numbers that describe one column of the rows, in a row of int64. Addresses are those of the first row."""

    WRITER = 0  # address of the function that writes a value, 0 if all are NULL
    VALIDITY = 1  # address of the bitmap of values that are not NULL, 0 if none is
    FIRST_BIT = 2  # bit of the first row in that bitmap
    VALUES = 3  # address of values of fixed size
    OFFSETS = 4  # address of int32 offsets into DATA, or into the items of a list
    DATA = 5  # address of bytes of variable size
    ITEM_OFFSETS = 6  # address of int32 offsets of texts in a list into DATA
    DIGITS = 7  # of a fraction
    NAME = 8  # address of the text before a value in JSON: the name in quotes, and a colon
    NAME_LENGTH = 9
    KEY_BYTES = 10  # bytes of the numbers of the keys of a geometry
    SRID_KEY = 11
    WKB_KEY = 12
    WORKSPACE = 13  # address of the numbers of the workspace for documents
    WIDTH = 14


class Rows(IntEnum):
    """Numbers of rows on their way to objects, in an array of int64."""

    ROW = 0  # the next row
    ROWS = 1
    FIELDS = 2  # address of the numbers of the columns, in the order in which they are written
    FIELD_COUNT = 3
    VALID = 4  # address of a byte for each row: 0 if there is no object; 0 if all rows have one
    IMAGES = 5  # address of int32: the image of each row; 0 if all columns are in all rows
    PRESENT = 6  # address of a byte for each image and column: 1 if the column is in it
    AT = 7  # address to write the next object at
    LIMIT = 8  # the last address at which an object may begin
    START = 9  # address of the first object
    OFFSETS = 10  # address of int32: where each object begins, and where the last one ends
    META_AT = 11  # the same for the dictionaries of keys
    META_LIMIT = 12
    META_START = 13
    META_OFFSETS = 14
    ENTRIES = 15  # address of words for the members of an object, one for each column
    KEY_BYTES = 16  # bytes of a key's number
    WORKSPACE = 17  # address of the numbers of the workspace for documents, 0 if there are none
    WIDTH = 18


class ChangedRows(IntEnum):
    """Numbers of changed rows on their way to text, lines or statements, in an array of int64."""

    ROW = 0  # the next row; how many were written
    ROWS = 1
    AT = 2  # address to write the next text at
    LIMIT = 3  # the last address at which a value may begin, or one of variable size may end
    START = 4  # address of the first text
    OFFSETS = 5  # address of int32: where each text begins, and where the last one ends
    NEW = 6  # address of the numbers of the columns of new rows, and of deleted ones
    OLD = 7  # address of those of the old rows of updates
    FIELD_COUNT = 8
    KEY = 9  # address of int64: the indexes of the columns of the key
    KEY_COUNT = 10
    IMAGES = 11  # address of int32: the image of each row; 0 if all columns are in all rows
    BEFORE_PRESENT = 12  # address of a byte for each image and column: 1 if the column is in the old row
    AFTER_PRESENT = 13  # the same for the new row
    OPERATIONS = 14  # address of int32
    WIDTH = 15


class Work(IntEnum):
    """Numbers of the workspace in which documents are parsed, in an array of int64."""

    LIMIT = 0  # the last address at which `SLACK` bytes may be written
    SOURCE = 1  # address of what a function has not read; of a document that is wrong: the byte where it is
    END = 2  # address after the text
    DOCUMENT_WRITER = 3  # addresses of functions
    KEY_READER = 4
    NUMBER_WRITER = 5
    CONTAINER_CLOSER = 6
    DICTIONARY_WRITER = 7
    STRING_DECODER = 8  # 0 until it is needed
    LONG_NUMBER_WRITER = 9  # likewise
    SLOTS = 10  # address of the hash table of keys: generation, and number + 1
    SLOT_MASK = 11
    GENERATION = 12  # slots of other generations are free; those of generation 0 never are
    KEYS = 13  # address of the keys, in the order of their numbers
    KEY_COUNT = 14
    KEY_CAPACITY = 15
    LASTING_KEYS = 16  # the first keys, which every dictionary has
    ENTRIES = 17  # address of words for the members of arrays and objects that are open
    ENTRIES_END = 18
    LEVELS = 19  # address of what is kept of arrays and objects that are open
    TEXT_START = 20  # address of bytes for keys that have escapes
    TEXT_AT = 21
    TEXT_LIMIT = 22
    DOUBLES = 23  # address of numbers that Python reads
    DOUBLE_COUNT = 24
    DOUBLE_ANSWERS = 25  # how many of them it has read
    DOUBLE_CAPACITY = 26
    SEED = 27  # an odd number that nobody can guess: so nobody can write keys that have the same hash
    WIDTH = 28


class Level(IntEnum):
    """Numbers of an array or object that is open."""

    OPENER = 0  # the character that it begins with; 0 for the document itself
    FIRST = 1  # address of its first entry
    START = 2  # address of its first value
    WIDTH = 3


class Key(IntEnum):
    """Numbers of one key of a dictionary."""

    ADDRESS = 0
    LENGTH = 1
    RANK = 2  # the first eight bytes as a signed number, which orders as they do
    WIDTH = 3


class HardDouble(IntEnum):
    """Numbers of a number in a document that only Python rounds right."""

    ADDRESS = 0
    LENGTH = 1
    BITS = 2
    WIDTH = 3


class Outcome(IntEnum):
    """Why a writer returned. Those below 0 are returned instead of an address."""

    DONE = 0
    WRONG = -1  # the document is not JSON
    NO_ROOM = -2  # the values need more room
    NO_META_ROOM = -3  # the dictionaries need more room
    NO_WORKSPACE = -4  # the workspace is too small for a document
    ASK_PYTHON = -5  # there are numbers for Python
    NO_STRING_DECODER = -6  # a function is needed that is not compiled yet
    NO_LONG_NUMBER_WRITER = -7  # likewise


SLACK = 128
"""Bytes that writers may write after a limit."""

MAX_DEPTH = 1000
"""Arrays and objects inside each other."""


@kernel
def has_object(rows: int, row: int) -> bool:
    """Return whether there is an object for a row."""
    valid = get(rows, Rows.VALID)
    return valid == 0 or load8(valid + row) != 0


@kernel
def image_of(rows: int, row: int) -> int:
    """Return the address of a byte for each column, 1 if the row has it; 0 if all rows have all columns."""
    images = get(rows, Rows.IMAGES)
    if images == 0:
        return 0
    return get(rows, Rows.PRESENT) + get(rows, Rows.FIELD_COUNT) * load32(images + 4 * row)


@kernel
def has_value(field: int, row: int) -> bool:
    """Return whether a value is not NULL."""
    validity = get(field, Field.VALIDITY)
    if validity == 0:
        return get(field, Field.WRITER) != 0
    bit = get(field, Field.FIRST_BIT) + row
    return load8(validity + (bit >> 3)) >> (bit & 7) & 1 == 1


@kernel
def is_present(image: int, index: int) -> bool:
    """Return whether a column is in an image."""
    return image == 0 or load8(image + index) != 0


@kernel
def changed_image(rows: int, row: int, present: int) -> int:
    """Return what `image_of` returns, for the old or the new row: `present` is BEFORE_PRESENT or AFTER_PRESENT."""
    images = get(rows, ChangedRows.IMAGES)
    if images == 0:
        return 0
    return get(rows, present) + get(rows, ChangedRows.FIELD_COUNT) * load32(images + 4 * row)
