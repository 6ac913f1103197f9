"""The type codes of all events that MySQL and MariaDB have written, lengths of post-headers, and header flags."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class EventCode(IntEnum):
    """Type codes: 0 to 43 are MySQL's (MariaDB has 0 to 38 in common), those from 160 on are MariaDB's."""

    UNKNOWN = 0
    START_V3 = 1
    QUERY = 2
    STOP = 3
    ROTATE = 4
    INTVAR = 5
    LOAD = 6
    SLAVE = 7
    CREATE_FILE = 8
    APPEND_BLOCK = 9
    EXEC_LOAD = 10
    DELETE_FILE = 11
    NEW_LOAD = 12
    RAND = 13
    USER_VAR = 14
    FORMAT_DESCRIPTION = 15
    XID = 16
    BEGIN_LOAD_QUERY = 17
    EXECUTE_LOAD_QUERY = 18
    TABLE_MAP = 19
    PRE_GA_WRITE_ROWS = 20
    PRE_GA_UPDATE_ROWS = 21
    PRE_GA_DELETE_ROWS = 22
    WRITE_ROWS_V1 = 23
    UPDATE_ROWS_V1 = 24
    DELETE_ROWS_V1 = 25
    INCIDENT = 26
    HEARTBEAT = 27
    IGNORABLE = 28
    ROWS_QUERY = 29
    WRITE_ROWS = 30
    UPDATE_ROWS = 31
    DELETE_ROWS = 32
    GTID = 33
    ANONYMOUS_GTID = 34
    PREVIOUS_GTIDS = 35
    TRANSACTION_CONTEXT = 36
    VIEW_CHANGE = 37
    XA_PREPARE = 38
    PARTIAL_UPDATE_ROWS = 39
    TRANSACTION_PAYLOAD = 40
    HEARTBEAT_V2 = 41
    GTID_TAGGED = 42
    LARGE_TRANSACTION_HEADER = 43

    ANNOTATE_ROWS = 160
    BINLOG_CHECKPOINT = 161
    MARIADB_GTID = 162
    GTID_LIST = 163
    START_ENCRYPTION = 164
    QUERY_COMPRESSED = 165
    WRITE_ROWS_COMPRESSED_V1 = 166
    UPDATE_ROWS_COMPRESSED_V1 = 167
    DELETE_ROWS_COMPRESSED_V1 = 168
    WRITE_ROWS_COMPRESSED = 169
    UPDATE_ROWS_COMPRESSED = 170
    DELETE_ROWS_COMPRESSED = 171
    PARTIAL_ROW_DATA = 172


KNOWN_CODES = frozenset(EventCode)

V4_POST_HEADERS: dict[int, int] = {
    EventCode.START_V3: 56,
    EventCode.QUERY: 13,
    EventCode.ROTATE: 8,
    EventCode.LOAD: 18,
    EventCode.CREATE_FILE: 4,
    EventCode.APPEND_BLOCK: 4,
    EventCode.EXEC_LOAD: 4,
    EventCode.DELETE_FILE: 4,
    EventCode.NEW_LOAD: 18,
    EventCode.FORMAT_DESCRIPTION: 84,
    EventCode.BEGIN_LOAD_QUERY: 4,
    EventCode.EXECUTE_LOAD_QUERY: 26,
    EventCode.TABLE_MAP: 8,
    EventCode.PRE_GA_WRITE_ROWS: 8,
    EventCode.PRE_GA_UPDATE_ROWS: 8,
    EventCode.PRE_GA_DELETE_ROWS: 8,
    EventCode.WRITE_ROWS_V1: 8,
    EventCode.UPDATE_ROWS_V1: 8,
    EventCode.DELETE_ROWS_V1: 8,
    EventCode.INCIDENT: 2,
    EventCode.WRITE_ROWS: 10,
    EventCode.UPDATE_ROWS: 10,
    EventCode.DELETE_ROWS: 10,
    EventCode.GTID: 42,
    EventCode.ANONYMOUS_GTID: 42,
    EventCode.TRANSACTION_CONTEXT: 18,
    EventCode.VIEW_CHANGE: 52,
    EventCode.PARTIAL_UPDATE_ROWS: 10,
    EventCode.BINLOG_CHECKPOINT: 4,
    EventCode.MARIADB_GTID: 19,
    EventCode.GTID_LIST: 4,
    EventCode.QUERY_COMPRESSED: 13,
    EventCode.WRITE_ROWS_COMPRESSED_V1: 8,
    EventCode.UPDATE_ROWS_COMPRESSED_V1: 8,
    EventCode.DELETE_ROWS_COMPRESSED_V1: 8,
    EventCode.WRITE_ROWS_COMPRESSED: 10,
    EventCode.UPDATE_ROWS_COMPRESSED: 10,
    EventCode.DELETE_ROWS_COMPRESSED: 10,
}
"""Lengths of post-headers, 0 for types that are not here. The list in a log's format description takes precedence."""


class HeaderFlag(IntFlag):
    """The flags of an event header."""

    BINLOG_IN_USE = 0x0001
    FORCED_ROTATE = 0x0002
    THREAD_SPECIFIC = 0x0004
    SUPPRESS_USE = 0x0008
    UPDATE_TABLE_MAP_VERSION = 0x0010
    ARTIFICIAL = 0x0020
    RELAY_LOG = 0x0040
    IGNORABLE = 0x0080
    NO_FILTER = 0x0100
    MTS_ISOLATE = 0x0200
    SKIP_REPLICATION = 0x8000


def type_name(type_code: int) -> str:
    """Return the name of a type code, `UNKNOWN_n` for a code that is not documented."""
    return EventCode(type_code).name if type_code in KNOWN_CODES else f"UNKNOWN_{type_code}"
