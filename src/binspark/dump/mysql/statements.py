"""Statements, and the variables that they use: QUERY, INTVAR, RAND, USER_VAR, EXECUTE_LOAD_QUERY."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from binspark.dump.mysql.page import DELIMITER, Page
from binspark.dump.mysql.session import charset_statements
from binspark.event.query import DuplicateHandling
from binspark.event.status_vars import Charsets, StatusCode
from binspark.frames import HeaderFlag
from binspark.schema.collations import collation_name

if TYPE_CHECKING:
    from binspark.event import Event, ExecuteLoadQuery, Intvar, Query, Rand, UserVar

_UTF8 = 33
"""The collation of names, utf8mb3_general_ci."""
_THREAD_OF_SHORT_FORM = 999999999


def quoted_identifier(name: bytes) -> bytes:
    """Return a name in backticks."""
    return b"`%b`" % name.replace(b"`", b"``")


def is_transaction_keyword(query: bytes) -> bool:
    """Return whether a statement controls a transaction: then its default database does not matter."""
    start = query[:9].upper()
    return (
        query.startswith(b"XA")
        or b"BEGIN".startswith(query)
        or b"COMMIT".startswith(query)
        or start == b"SAVEPOINT"
        or start.startswith(b"ROLLBACK")
    )


def ends_group(query: bytes) -> bool:
    """Return whether a statement ends a transaction."""
    start = query[:12].upper()
    rolls_back = start.startswith(b"ROLLBACK") and start != b"ROLLBACK TO "
    return b"COMMIT".startswith(query) or rolls_back or query.startswith(b"XA ROLLBACK")


def starts_group(query: bytes) -> bool:
    """Return whether a statement begins a transaction."""
    return b"BEGIN".startswith(query) or query.startswith(b"XA START")


def print_query(event: Event, page: Page) -> None:
    """Print a statement with what its session needs."""
    _print_query_header(event, page, b"Query")
    page.head.append(b"%b\n%b\n" % (event.body.query, DELIMITER))


def print_load(event: Event, page: Page, file_name: bytes | None) -> None:
    """Print LOAD DATA with the name of a local file; without one, as a comment."""
    load: ExecuteLoadQuery = event.body
    _print_query_header(event, page, b"Execute_load_query")
    if file_name is not None:
        replaces = load.duplicate_handling == DuplicateHandling.REPLACE  # a local file implies IGNORE
        page.head.append(
            b"%b LOCAL INFILE '%b'%b INTO%b\n%b\n"
            % (
                load.query[: load.file_name_start].removesuffix(b" INFILE "),
                file_name,
                b" REPLACE" if replaces else b"",
                load.query[load.file_name_end :],
                DELIMITER,
            )
        )
    if not page.settings.short_form:
        page.head.append(b"# file_id: %d \n" % load.file_id)


def _print_query_header(event: Event, page: Page, kind: bytes) -> None:
    query: Query = event.body
    session = page.session
    if not page.settings.short_form:
        page.header(event)
        xid = query.status(StatusCode.DDL_LOGGED_WITH_XID)
        page.head.append(
            b"\t%b\tthread_id=%d\texec_time=%d\terror_code=%d%b\n"
            % (
                kind,
                query.thread_id,
                query.execution_time,
                query.error_code,
                b"" if xid is None else b"\tXid = %d" % xid,
            )
        )
    if event.header.flags & HeaderFlag.SUPPRESS_USE:
        if not is_transaction_keyword(query.query):
            session.database = b""
    else:
        database = query.schema.encode(event.frame.format.encoding)
        if database and database != session.database:
            page.line(b"use %b" % quoted_identifier(database))
        session.database = database
    microseconds = query.status(StatusCode.MICROSECONDS)
    fraction = b".%06d" % microseconds if microseconds else b""
    page.line(b"SET TIMESTAMP=%d%b" % (event.header.timestamp, fraction))
    _print_thread(event, page)
    for statement in session.changes(query.status_vars):
        page.line(statement)


def _print_thread(event: Event, page: Page) -> None:
    if page.settings.require_row_format:
        return
    session, thread_id = page.session, event.body.thread_id
    is_specific = bool(event.header.flags & HeaderFlag.THREAD_SPECIFIC)
    if session.thread_id is None or (is_specific and thread_id != session.thread_id):
        shown = _THREAD_OF_SHORT_FORM if page.settings.short_form else thread_id
        page.line(b"SET @@session.pseudo_thread_id=%d" % shown)
        session.thread_id = thread_id


def print_intvar(event: Event, page: Page) -> None:
    """Print the value of LAST_INSERT_ID or INSERT_ID."""
    variable: Intvar = event.body
    if not page.settings.short_form:
        page.header(event)
        page.head.append(b"\tIntvar\n")
    from binspark.event.variables import IntvarKind  # few logs have statements that need variables

    names: dict[int, bytes] = {IntvarKind.LAST_INSERT_ID: b"LAST_INSERT_ID", IntvarKind.INSERT_ID: b"INSERT_ID"}
    page.line(b"SET %b=%d" % (names.get(variable.kind, b"INVALID_INT"), variable.value))


def print_rand(event: Event, page: Page) -> None:
    """Print the seeds of RAND()."""
    seeds: Rand = event.body
    if not page.settings.short_form:
        page.header(event)
        page.head.append(b"\tRand\n")
    page.line(b"SET @@RAND_SEED1=%d, @@RAND_SEED2=%d" % (seeds.seed1, seeds.seed2))


def print_user_var(event: Event, page: Page) -> None:
    """Print the value of a user variable."""
    variable: UserVar = event.body
    if not page.settings.short_form:
        page.header(event)
        page.head.append(b"\tUser_var\n")
    is_number = not isinstance(variable.value, bytes | None)
    connection = variable.charset if is_number and variable.charset is not None else _UTF8
    for statement in charset_statements(Charsets(_UTF8, connection, _UTF8)):
        page.line(statement)
    name = quoted_identifier(variable.name.encode(event.frame.format.encoding))
    page.line(b"SET @%b:=%b" % (name, _value(variable)))
    if page.session.charsets is not None:
        for statement in charset_statements(page.session.charsets):
            page.line(statement)


def _value(variable: UserVar) -> bytes:
    match variable.value:
        case None:
            return b"NULL"
        case bytes():
            return _text_value(variable.value, variable.charset or 0)
        case Decimal():
            return f"{variable.value:f}".encode()
        case float():
            return b"%.14g" % variable.value
    return b"%d" % variable.value


def _text_value(value: bytes, collation: int) -> bytes:
    name = collation_name(collation).encode()
    if not name:
        return b"???"
    digits = b"0x%b" % value.hex().upper().encode() if value else b'""'
    return b"_%b %b COLLATE `%b`" % (name.partition(b"_")[0], digits, name)
