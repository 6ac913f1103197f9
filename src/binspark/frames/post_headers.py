"""The lengths of post-headers, for logs that do not list them."""

from __future__ import annotations

from binspark.frames.codes import EventCode as E

V4_POST_HEADERS: dict[int, int] = {
    E.START_V3: 56,
    E.QUERY: 13,
    E.ROTATE: 8,
    E.LOAD: 18,
    E.CREATE_FILE: 4,
    E.APPEND_BLOCK: 4,
    E.EXEC_LOAD: 4,
    E.DELETE_FILE: 4,
    E.NEW_LOAD: 18,
    E.FORMAT_DESCRIPTION: 84,
    E.BEGIN_LOAD_QUERY: 4,
    E.EXECUTE_LOAD_QUERY: 26,
    E.TABLE_MAP: 8,
    E.PRE_GA_WRITE_ROWS: 8,
    E.PRE_GA_UPDATE_ROWS: 8,
    E.PRE_GA_DELETE_ROWS: 8,
    E.WRITE_ROWS_V1: 8,
    E.UPDATE_ROWS_V1: 8,
    E.DELETE_ROWS_V1: 8,
    E.INCIDENT: 2,
    E.WRITE_ROWS: 10,
    E.UPDATE_ROWS: 10,
    E.DELETE_ROWS: 10,
    E.GTID: 42,
    E.ANONYMOUS_GTID: 42,
    E.TRANSACTION_CONTEXT: 18,
    E.VIEW_CHANGE: 52,
    E.PARTIAL_UPDATE_ROWS: 10,
    E.BINLOG_CHECKPOINT: 4,
    E.MARIADB_GTID: 19,
    E.GTID_LIST: 4,
    E.QUERY_COMPRESSED: 13,
    E.WRITE_ROWS_COMPRESSED_V1: 8,
    E.UPDATE_ROWS_COMPRESSED_V1: 8,
    E.DELETE_ROWS_COMPRESSED_V1: 8,
    E.WRITE_ROWS_COMPRESSED: 10,
    E.UPDATE_ROWS_COMPRESSED: 10,
    E.DELETE_ROWS_COMPRESSED: 10,
}

_LAST_BEFORE_V4 = E.USER_VAR


def _before_v4(*, query: int, rotate: int) -> bytes:
    lengths = {**V4_POST_HEADERS, E.QUERY: query, E.ROTATE: rotate}
    return bytes(lengths.get(type_code, 0) for type_code in range(1, _LAST_BEFORE_V4 + 1))


V1_POST_HEADERS = _before_v4(query=11, rotate=0)
V3_POST_HEADERS = _before_v4(query=11, rotate=8)
