"""CREATE TABLE: with columns, LIKE another table, or from a query."""

from __future__ import annotations

from dataclasses import dataclass, field

from binspark.event.column_types import ColumnType
from binspark.schema.changes import ColumnSpec, CopyTable, CreateTable, Key, TemporaryTables, TypeSpec
from binspark.schema.session import CharsetRequest
from binspark.schema.sql.columns import read_column
from binspark.schema.sql.keys import at_key, inline_keys, read_key, read_period
from binspark.schema.sql.options import NO_REQUEST, read_charset_option
from binspark.schema.sql.reader import SqlReader
from binspark.schema.table import TableName

_QUERY_WORDS = ("SELECT", "AS", "VALUES", "TABLE", "WITH", "IGNORE", "REPLACE")


@dataclass(slots=True)
class _Tail:
    """What follows the columns of a table."""

    charset: CharsetRequest = NO_REQUEST
    versioned: bool = False
    from_query: bool = False
    engine: str | None = None


@dataclass(slots=True)
class _Elements:
    columns: list[ColumnSpec] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    period: tuple[str, str] | None = None


def read_create_table(sql: SqlReader) -> CreateTable | CopyTable:
    """Read what follows CREATE [TEMPORARY] TABLE."""
    if_not_exists = sql.accept("IF", "NOT", "EXISTS")
    name = sql.table_name()
    model = _model(sql)
    if model is not None:
        return CopyTable(name, model, if_not_exists)
    elements = _Elements()
    tail = _Tail(from_query=sql.is_sign("(") and _begins_query(sql))
    if sql.is_sign("(") and not tail.from_query:
        elements = _read_elements(sql)
    if not tail.from_query:
        _read_tail(sql, tail)
    columns = None if tail.from_query or not elements.columns else tuple(elements.columns)
    versioned = tail.versioned or any(column.versioned for column in elements.columns)
    return CreateTable(
        name,
        columns,
        tuple(elements.keys),
        tail.charset,
        sql.session,
        versioned,
        if_not_exists,
        engine=tail.engine,
        period=elements.period,
    )


def read_create_temporary(sql: SqlReader) -> TemporaryTables:
    """Read what follows CREATE TEMPORARY TABLE: only the name matters."""
    sql.accept("IF", "NOT", "EXISTS")
    return TemporaryTables((sql.other_table_name(),), created=True)


def read_create_sequence(sql: SqlReader) -> CreateTable:
    """Read what follows CREATE SEQUENCE: in the log of MariaDB it is a table with these columns."""
    if_not_exists = sql.accept("IF", "NOT", "EXISTS")
    name = sql.table_name()
    columns = tuple(
        ColumnSpec(column, TypeSpec(kind, unsigned=unsigned), NO_REQUEST, unsigned, nullable=False)
        for column, kind, unsigned in SEQUENCE_COLUMNS
    )
    return CreateTable(name, columns, (), NO_REQUEST, sql.session, if_not_exists=if_not_exists)


SEQUENCE_COLUMNS = (
    ("next_not_cached_value", ColumnType.LONGLONG, False),
    ("minimum_value", ColumnType.LONGLONG, False),
    ("maximum_value", ColumnType.LONGLONG, False),
    ("start_value", ColumnType.LONGLONG, False),
    ("increment", ColumnType.LONGLONG, False),
    ("cache_size", ColumnType.LONGLONG, True),
    ("cycle_option", ColumnType.TINY, True),
    ("cycle_count", ColumnType.LONGLONG, False),
)
"""Name, type and sign of the columns that every sequence has."""


def _model(sql: SqlReader) -> TableName | None:
    if sql.accept("LIKE"):
        return sql.other_table_name()
    if sql.is_sign("(") and sql.peek(1).word == "LIKE":
        sql.next()
        sql.next()
        return sql.other_table_name()
    return None


def _begins_query(sql: SqlReader) -> bool:
    ahead = 1
    while sql.is_sign("(", ahead):
        ahead += 1
    return sql.peek(ahead).word in ("SELECT", "WITH", "VALUES", "TABLE")


def _read_elements(sql: SqlReader) -> _Elements:
    elements = _Elements()
    sql.expect_sign("(")
    while True:
        _read_element(sql, elements)
        if not sql.accept_sign(","):
            break
    sql.expect_sign(")")
    return elements


def _read_element(sql: SqlReader, elements: _Elements) -> None:
    if sql.at("PERIOD", "FOR"):
        elements.period = read_period(sql) or elements.period
    elif at_key(sql):
        key = read_key(sql)
        elements.keys.extend([key] if key else [])
    else:
        column = read_column(sql)
        elements.columns.append(column)
        elements.keys.extend(inline_keys(column))


def _read_tail(sql: SqlReader, tail: _Tail) -> None:
    while not sql.ended:
        changed = read_charset_option(sql, tail.charset)
        if changed is not None:
            tail.charset = changed
        elif sql.accept("WITH", "SYSTEM", "VERSIONING"):
            tail.versioned = True
        elif sql.accept("ENGINE"):
            sql.accept_sign("=")
            tail.engine = sql.word_or_text()
        elif sql.at_any(*_QUERY_WORDS) or (sql.is_sign("(") and _begins_query(sql)):
            tail.from_query = True
            return
        else:
            _skip_option(sql)


def _skip_option(sql: SqlReader) -> None:
    """Skip an option with its value, which may be a keyword in other contexts."""
    sql.skip_one()
    if sql.accept_sign("="):
        sql.skip_one()
