"""What Python and the kernels of a dump tell each other: numbers in memory, by their names."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """Why the kernel returns."""

    MORE = 1
    """The next event is not complete in memory."""
    PYTHON = 2
    """The next event is not one that the kernel prints."""
    NO_ROOM = 3
    """There is no room for the text of the next event."""
    END_OF_STATEMENT = 4
    """A statement has ended of which Python keeps the first part."""


class Dump(IntEnum):
    """The state of a dump; addresses, numbers and flags. `X_AT` is where the next text is written in region X."""

    AT = 0
    END = 1
    OFFSET = 2
    OUT = 3
    OUT_AT = 4
    OUT_LIMIT = 5
    HEAD = 6
    HEAD_AT = 7
    HEAD_LIMIT = 8
    BODY = 9
    BODY_AT = 10
    BODY_LIMIT = 11
    TAIL = 12
    TAIL_AT = 13
    TAIL_LIMIT = 14
    SPILLED = 15
    """Whether Python keeps parts of the statement."""
    ROW_COUNT = 16
    IN_ROWS = 17
    VERBOSE = 18
    ENCODES = 19
    COUNTS = 20
    POSITIONS = 21
    CHECKSUM = 22
    """The length of checksums."""
    ZONE = 23
    """Seconds from UTC to the time zone, from ZONE_FROM up to ZONE_UNTIL."""
    ZONE_FROM = 24
    ZONE_UNTIL = 25
    SKIPS = 26
    """Whether SET skip_replication=1 was printed last."""
    PARALLEL = 27
    """What was printed last for the GTID: skip_parallel_replication, domain and server; -1 for nothing."""
    DOMAIN = 28
    SERVER = 29
    CHECKS_ORDER = 30
    START_SEQUENCE = 31
    LAST_SEQUENCE = 32
    LAST_SERVER = 33
    SEEN_GTID = 34
    PENDING = 35
    """Whether Python keeps an annotation."""
    SKIPS_ANNOTATIONS = 36
    ANNOTATION = 37
    """The address of an annotation that was read, 0 for none; ANNOTATION_OFFSET its offset in the log."""
    ANNOTATION_OFFSET = 38
    TABLES = 39
    TABLE_COUNT = 40
    LAST_TABLE = 41
    PRINTF = 42
    WORDS = 43
    WIDTH = 44


class Table(IntEnum):
    """A table map that was printed. `MAP` is its body, `TEXT` what follows its heading, `VERBS` begin rows."""

    ID = 0
    MAP = 1
    MAP_LENGTH = 2
    TEXT = 3
    TEXT_LENGTH = 4
    SIZES = 5
    """The sizes of values, for `count_rows`; 0 if rows cannot be counted."""
    COLUMNS = 6
    """The columns, for printing; 0 if rows cannot be printed."""
    COUNT = 7
    VERBS = 8
    """Address and length of what begins an insert, an update and a delete."""
    WIDTH = 14


class Column(IntEnum):
    """How the values of a column are printed. NULL_TEXT is all of a NULL, TEXT what comes before a value."""

    KIND = 0
    FIRST = 1
    SECOND = 2
    TEXT = 3
    TEXT_LENGTH = 4
    END = 5
    END_LENGTH = 6
    NULL_TEXT = 7
    NULL_LENGTH = 8
    WIDTH = 9


class Kind(IntEnum):
    """The forms of values. FIRST and SECOND of a column are given for each."""

    SIGNED = 0
    """Bytes."""
    UNSIGNED = 1
    """Bytes, and what is added."""
    DECIMAL = 2
    """Digits before and after the point."""
    FLOAT = 3
    DOUBLE = 4
    BITS = 5
    """Number of bits."""
    TIMESTAMP = 6
    """Digits of the fraction."""
    DATETIME = 7
    """Digits of the fraction."""
    TIME = 8
    """Digits of the fraction."""
    DATE = 9
    TEXT = 10
    """Bytes of the length."""


WORDS = (
    b"# at ",
    b" server id ",
    b"  end_log_pos ",
    b"CRC32 0x",
    b"\tGTID ",
    b" cid=",
    b" ddl",
    b" trans",
    b" waited",
    b"/*M!100001 SET @@session.gtid_seq_no=",
    b"*//*!*/;\n",
    b"START TRANSACTION\n/*!*/;\n",
    b"\tXid = ",
    b"\nCOMMIT/*!*/;\n",
    b"\tAnnotate_rows:\n",
    b"#Q> ",
    b"\tWrite_rows: table id ",
    b"\tUpdate_rows: table id ",
    b"\tDelete_rows: table id ",
    b" flags: STMT_END_F",
    b"\nBINLOG '\n",
    b"'/*!*/;\n",
    b"# Number of rows: ",
    b"### SET\n",
    b"%-20g\0",
    b"%.20g\0",
)
"""Texts that the kernel writes; it finds them as address and length, in this order."""


class Word(IntEnum):
    """The index of each of WORDS."""

    POSITION = 0
    SERVER = 1
    END_POSITION = 2
    CHECKSUM = 3
    GTID = 4
    COMMIT_ID = 5
    DDL = 6
    TRANSACTIONAL = 7
    WAITED = 8
    SEQUENCE = 9
    SEQUENCE_END = 10
    START = 11
    XID = 12
    COMMIT = 13
    ANNOTATION = 14
    LINE = 15
    WRITE_ROWS = 16
    STATEMENT_END = 19
    BINLOG = 20
    BINLOG_END = 21
    ROW_COUNT = 22
    SET = 23
    FLOAT = 24
    DOUBLE = 25
