"""Statements: QUERY, EXECUTE_LOAD_QUERY, and MariaDB's QUERY_COMPRESSED."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from binspark.event.construct import fast_constructor
from binspark.event.context import Context, SqlText
from binspark.event.status_vars import StatusCode, StatusVariable, decode_status_vars, encode_status_vars
from binspark.frames.payload import deflate_block, inflate_block
from binspark.wire import Cursor, Layout, Writer
from binspark.wire.meaning import as_text, code, note, quantity

_V3_POST_HEADER = 11
_new_tuple = tuple.__new__


@dataclass(frozen=True, slots=True)
class Query:
    """QUERY: a statement as text, with the settings of its session. BEGIN and COMMIT are statements, too."""

    thread_id: int
    execution_time: int
    error_code: int
    schema: str
    status_vars: tuple[StatusVariable, ...]
    query: SqlText

    def status(self, status_code: StatusCode) -> Any:
        """Return the value of a status variable, or None if the event does not contain it."""
        return next((variable.value for variable in self.status_vars if variable.code == status_code), None)


@dataclass(frozen=True, slots=True)
class QueryCompressed(Query):
    """QUERY_COMPRESSED: a statement whose text is compressed. `compressed` is the block as it is in the log."""

    compressed: bytes = b""


class DuplicateHandling(IntEnum):
    """What LOAD DATA does with a row whose key exists already."""

    ERROR = 0
    IGNORE = 1
    REPLACE = 2


@dataclass(frozen=True, slots=True)
class ExecuteLoadQuery(Query):
    """EXECUTE_LOAD_QUERY: LOAD DATA of the file whose blocks came before. `file_name_start` is an offset in `query`."""

    file_id: int = 0
    file_name_start: int = 0
    file_name_end: int = 0
    duplicate_handling: int = 0


_THREAD_ID = ("thread_id", "I", note("the thread that ran it"))
_EXECUTION_TIME = ("execution_time", "I", quantity("second"))
_SCHEMA_LENGTH = ("schema_length", "B", quantity("byte"))
_ERROR_CODE = ("error_code", "H", lambda number: f"error {number}" if number else "no error")
_STATUS_LENGTH = ("status_length", "H", quantity("byte"))
_query = fast_constructor(Query)
_QUERY = Layout(_THREAD_ID, _EXECUTION_TIME, _SCHEMA_LENGTH, _ERROR_CODE, _STATUS_LENGTH)
_QUERY_V3 = Layout(_THREAD_ID, _EXECUTION_TIME, _SCHEMA_LENGTH, _ERROR_CODE)
_LOAD_QUERY = Layout(
    ("file_id", "I", note("the file whose blocks came before")),
    ("file_name_start", "I", note("where the file's name begins in the statement")),
    ("file_name_end", "I", note("where it ends")),
    ("duplicates", "B", code(DuplicateHandling)),
)


def decode_query(body: Cursor, context: Context) -> Query:
    """Decode QUERY.

    offset  bytes  field
    0       4      id of the thread that ran it
    4       4      execution time in seconds
    8       1      length of the schema's name
    9       2      error code
    11      2      length of the status variables      (since version 4)
    13      s      status variables                    (since version 4)
    13+s    n+1    schema, zero-terminated
    14+s+n  rest   statement
    """
    return _query_body(body, _post_header(body, context))


def encode_query(event: Query, writer: Writer, context: Context) -> None:
    """Encode QUERY: the inverse of `decode_query`."""
    _write_until_query(event, writer, context, b"")
    writer.raw(event.query)


def decode_query_compressed(body: Cursor, context: Context) -> QueryCompressed:
    """Decode QUERY_COMPRESSED: a QUERY whose statement is a compressed block."""
    head = _post_header(body, context)
    status_vars, schema = _status_and_schema(body, head)
    start = body.offset
    query = inflate_block(body, "query", context.limits)
    compressed = body.data[start : body.offset]
    return QueryCompressed(head.thread_id, head.execution_time, head.error_code, schema, status_vars, query, compressed)


def encode_query_compressed(event: QueryCompressed, writer: Writer, context: Context) -> None:
    """Encode QUERY_COMPRESSED: the inverse of `decode_query_compressed`."""
    _write_until_query(event, writer, context, b"")
    writer.raw(event.compressed or deflate_block(event.query))


def decode_execute_load_query(body: Cursor, _context: Context) -> ExecuteLoadQuery:
    """Decode EXECUTE_LOAD_QUERY: a QUERY with four more fields in its post-header.

    offset  bytes  field
    13      4      id of the file
    17      4      where the file's name begins in the statement
    21      4      where it ends
    25      1      0: error on duplicates, 1: ignore, 2: replace
    """
    head = _PostHeader._make(body.fields(_QUERY))
    load = body.fields(_LOAD_QUERY)
    query = _query_body(body, head)
    if max(load[1], load[2]) > len(query.query):
        raise body.malformed(f"file name at {load[1]}-{load[2]} is beyond the statement of {len(query.query)} bytes")
    return ExecuteLoadQuery(
        query.thread_id, query.execution_time, query.error_code, query.schema, query.status_vars, query.query, *load
    )


def encode_execute_load_query(event: ExecuteLoadQuery, writer: Writer, context: Context) -> None:
    """Encode EXECUTE_LOAD_QUERY: the inverse of `decode_execute_load_query`."""
    load = (event.file_id, event.file_name_start, event.file_name_end, event.duplicate_handling)
    _write_until_query(event, writer, context, _LOAD_QUERY.pack(*load))
    writer.raw(event.query)


class _PostHeader(NamedTuple):
    thread_id: int
    execution_time: int
    schema_length: int
    error_code: int
    status_length: int = 0


def _post_header(body: Cursor, context: Context) -> _PostHeader:
    length = context.post_header_length
    if length <= _V3_POST_HEADER:
        return _PostHeader(*body.fields(_QUERY_V3))
    head = _new_tuple(_PostHeader, body.fields(_QUERY))
    if length > _QUERY.size:
        body.raw("post_header_rest", length - _QUERY.size)
    return head


def _query_body(body: Cursor, head: _PostHeader) -> Query:
    status_vars, schema = _status_and_schema(body, head)
    return _query(
        head.thread_id, head.execution_time, head.error_code, schema, status_vars, body.rest("query", as_text)
    )


def _status_and_schema(body: Cursor, head: _PostHeader) -> tuple[tuple[StatusVariable, ...], str]:
    status_vars = decode_status_vars(body, head.status_length)
    schema = body.text("schema", head.schema_length)
    body.zero("schema_end")
    return status_vars, schema


def _write_until_query(event: Query, writer: Writer, context: Context, load: bytes) -> None:
    schema = writer.encode_text(event.schema)
    head = (event.thread_id, event.execution_time, len(schema), event.error_code)
    if context.post_header_length <= _V3_POST_HEADER:
        writer.fields(_QUERY_V3, *head)
    else:
        status_vars = encode_status_vars(event.status_vars, writer.encoding)
        writer.fields(_QUERY, *head, len(status_vars))
        writer.raw(load or bytes(max(0, context.post_header_length - _QUERY.size)))
        writer.raw(status_vars)
    writer.raw(schema)
    writer.zero()
