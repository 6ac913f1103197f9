"""The text of a statement into what it changes.

The grammar is binspark's own and covers the statements about tables that servers accept; all others are ignored. A
statement about tables that it does not support becomes an `Unreadable`, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from binspark.schema.changes import (
    AddKey,
    AlterDatabase,
    AlterTable,
    Change,
    CreateDatabase,
    DropDatabase,
    DropKey,
    DropTables,
    NotUnderstood,
    OtherClause,
    RenameTables,
    TemporaryTables,
    TruncateTable,
    Unreadable,
)
from binspark.schema.session import Session
from binspark.schema.sql.alter import read_alter_table
from binspark.schema.sql.create import read_create_sequence, read_create_table, read_create_temporary
from binspark.schema.sql.keys import read_key_parts
from binspark.schema.sql.options import read_database_options
from binspark.schema.sql.reader import SqlReader
from binspark.schema.sql.tokens import Token
from binspark.schema.text import may_define, shown_text

_DATABASE = ("DATABASE", "SCHEMA")


def read_ddl(sql: str, schema: str, session: Session) -> Change | None:
    """Return how a statement changes tables and databases; None if it does not.

    `schema` is that of names without a schema.
    """
    if not may_define(sql):
        return None
    return read_statement(SqlReader(sql, schema, session), sql)


def read_tokens(statement: list[Token], schema: str, session: Session, sql: str) -> Change | None:
    """Return the same for a statement that is given as tokens."""
    return read_statement(SqlReader(statement, schema, session), sql)


def read_statement(reader: SqlReader, sql: str) -> Change | None:
    """Return how the statement of a reader changes tables and databases."""
    while reader.accept("SET", "STATEMENT"):  # MariaDB: variables for one statement, which comes after FOR
        while not (reader.ended or reader.accept("FOR")):
            reader.skip_one()
    verb = _VERBS.get(reader.next().word)
    if verb is None:
        return None
    try:
        return verb(reader)
    except NotUnderstood as error:
        return Unreadable(tuple(reader.tables), shown_text(sql), shown_text(error.message))


def _create(sql: SqlReader) -> Change | None:
    replaces = sql.accept("OR", "REPLACE")
    if sql.accept("TABLE"):
        return replace(read_create_table(sql), replaces=replaces)
    if sql.accept("TEMPORARY", "TABLE"):
        return read_create_temporary(sql)
    if sql.accept("SEQUENCE"):
        return replace(read_create_sequence(sql), replaces=replaces)
    if sql.accept_any(*_DATABASE):
        if_not_exists = sql.accept("IF", "NOT", "EXISTS")
        return CreateDatabase(sql.stored_name(), read_database_options(sql), sql.session, if_not_exists)
    return _create_index(sql)


def _create_index(sql: SqlReader) -> Change | None:
    sql.accept_any("ONLINE", "OFFLINE")
    kind = sql.accept_any("UNIQUE", "FULLTEXT", "SPATIAL", "VECTOR")
    if not sql.accept("INDEX"):
        return None
    if_not_exists = sql.accept("IF", "NOT", "EXISTS")
    name = sql.name()
    key = replace(read_key_parts(sql), name=name, unique=kind == "UNIQUE")
    return AlterTable(sql.tables[0], (AddKey(key, if_not_exists),), sql.session)


def _alter(sql: SqlReader) -> Change | None:
    ignores = False
    while word := sql.accept_any("ONLINE", "OFFLINE", "IGNORE"):
        ignores |= word == "IGNORE"
    if sql.accept("TABLE"):
        change = read_alter_table(sql)
        return replace(change, steps=(OtherClause("IGNORE"), *change.steps)) if ignores else change
    if sql.accept("SEQUENCE"):
        sql.accept("IF", "EXISTS")
        return AlterTable(sql.table_name(), (OtherClause("ALTER SEQUENCE"),), sql.session)
    if sql.accept_any(*_DATABASE):
        is_named = not sql.at_any("DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "READ", "ENCRYPTION", "COMMENT")
        name = sql.stored_name() if is_named else sql.schema
        return AlterDatabase(name, read_database_options(sql), sql.session)
    return None


def _drop(sql: SqlReader) -> Change | None:
    if sql.accept_any(*_DATABASE):
        sql.accept("IF", "EXISTS")
        return DropDatabase(sql.stored_name())
    if sql.accept("INDEX"):
        return _drop_index(sql)
    temporary = sql.accept("TEMPORARY")
    if not sql.accept_any("TABLE", "TABLES", "SEQUENCE"):
        return None
    sql.accept("IF", "EXISTS")
    take = sql.other_table_name if temporary else sql.table_name
    names = [take()]
    while sql.accept_sign(","):
        names.append(take())
    return TemporaryTables(tuple(names), created=False) if temporary else DropTables(tuple(names))


def _drop_index(sql: SqlReader) -> Change:
    sql.accept("IF", "EXISTS")
    name = sql.name()
    sql.expect("ON")
    return AlterTable(sql.table_name(), (DropKey(name),), sql.session)


def _truncate(sql: SqlReader) -> Change:
    sql.accept("TABLE")
    return TruncateTable(sql.table_name())


def _rename(sql: SqlReader) -> Change | None:
    if not sql.accept_any("TABLE", "TABLES"):
        return None
    sql.accept("IF", "EXISTS")
    pairs = []
    while True:
        old = sql.table_name()
        if sql.accept("WAIT"):
            sql.next()
        sql.accept("NOWAIT")
        sql.expect("TO")
        pairs.append((old, sql.table_name()))
        if not sql.accept_sign(","):
            return RenameTables(tuple(pairs))


_VERBS: dict[str, Callable[[SqlReader], Change | None]] = {
    "CREATE": _create,
    "ALTER": _alter,
    "DROP": _drop,
    "RENAME": _rename,
    "TRUNCATE": _truncate,
}
