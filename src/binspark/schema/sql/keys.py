"""Keys and constraints of a table, as CREATE TABLE and ALTER TABLE list them."""

from __future__ import annotations

from dataclasses import replace

from binspark.schema.changes import PRIMARY, ColumnSpec, Key, KeyPart
from binspark.schema.sql.reader import SqlReader

_INDEX = ("INDEX", "KEY")
_SPECIAL = ("FULLTEXT", "SPATIAL", "VECTOR")
_CONSTRAINTS = ("CONSTRAINT", "PRIMARY", "UNIQUE", "FOREIGN", "CHECK", *_INDEX)


def at_key(sql: SqlReader) -> bool:
    """Return whether a key or a constraint comes next, and not a column."""
    if sql.at_any(*_SPECIAL):
        return sql.peek(1).word in _INDEX or sql.at_any("FULLTEXT", "SPATIAL")
    return sql.at_any(*_CONSTRAINTS)


def inline_keys(column: ColumnSpec) -> list[Key]:
    """Return the keys that the attributes of a column define."""
    part = (KeyPart(column.name),)
    return [Key(PRIMARY, part)] * column.primary + [Key("", part)] * column.unique


def read_key(sql: SqlReader) -> Key | None:
    """Read a key; None for a constraint that is not a key."""
    symbol = ""
    if sql.accept("CONSTRAINT") and not sql.at_any("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
        symbol = sql.name()
    return _read_kind(sql, symbol)


def _read_kind(sql: SqlReader, symbol: str) -> Key | None:
    if sql.accept("PRIMARY", "KEY"):
        return replace(_named_key(sql), name=PRIMARY)
    if sql.accept("UNIQUE"):
        sql.accept_any(*_INDEX)
        key = _named_key(sql)
        return replace(key, name=key.name or symbol)
    if sql.accept_any(*_SPECIAL):
        sql.accept_any(*_INDEX)
        return replace(_named_key(sql), unique=False)
    if sql.accept_any(*_INDEX):
        return replace(_named_key(sql), unique=False)
    if sql.at_any("FOREIGN", "CHECK"):
        sql.skip_element()
        return None
    raise sql.refused("a key")


def _named_key(sql: SqlReader) -> Key:
    """Read what follows the kind of a key: IF NOT EXISTS, a name, and what `read_key_parts` reads."""
    sql.accept("IF", "NOT", "EXISTS")
    name = ""
    if not (sql.is_sign("(") or sql.at_any("USING", "TYPE")):
        name = sql.name()
    return replace(read_key_parts(sql), name=name)


def read_key_parts(sql: SqlReader) -> Key:
    """Read the columns of a key and its options: USING is before or after the columns, or both, and the last counts.

    CREATE INDEX has the name of the table after the first USING.
    """
    algorithm = _algorithm(sql)
    if sql.accept("ON"):
        sql.table_name()
    sql.expect_sign("(")
    parts = [_read_part(sql)]
    while sql.accept_sign(","):
        parts.append(_read_part(sql))
    sql.expect_sign(")")
    while not (sql.ended or sql.is_sign(",") or sql.is_sign(")")):
        algorithm = _algorithm(sql) or algorithm
        if not (sql.ended or sql.is_sign(",") or sql.is_sign(")") or sql.at_any("USING", "TYPE")):
            sql.skip_one()
    listed = tuple(part for part in parts if part is not None)
    by_hash = algorithm == "HASH"
    return Key("", listed, hashed=by_hash, by_hash=by_hash, overlaps=len(listed) < len(parts))


def _algorithm(sql: SqlReader) -> str:
    return sql.next().word if sql.accept_any("USING", "TYPE") else ""


def _read_part(sql: SqlReader) -> KeyPart | None:
    """Read a column of a key, or an expression; None for a period."""
    if sql.is_sign("("):
        sql.skip_parentheses()
        part = KeyPart(None)
    else:
        column = sql.name()
        part = KeyPart(column, _prefix(sql))
    sql.accept_any("ASC", "DESC")
    return None if sql.accept("WITHOUT", "OVERLAPS") else part


def _prefix(sql: SqlReader) -> int:
    if not sql.accept_sign("("):
        return 0
    prefix = sql.number()
    sql.expect_sign(")")
    return prefix


def read_period(sql: SqlReader) -> tuple[str, str] | None:
    """Read PERIOD FOR with its columns; None for SYSTEM_TIME, whose columns say so themselves."""
    sql.expect("PERIOD", "FOR")
    sql.accept("IF", "NOT", "EXISTS")
    is_system_time = sql.accept("SYSTEM_TIME")
    if not is_system_time:
        sql.name()
    sql.expect_sign("(")
    first = sql.name()
    sql.expect_sign(",")
    columns = first, sql.name()
    sql.expect_sign(")")
    return None if is_system_time else columns
