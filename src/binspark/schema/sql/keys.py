"""Keys and constraints of a table, as CREATE TABLE and ALTER TABLE list them."""

from __future__ import annotations

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
    key = _read_kind(sql, symbol)
    sql.skip_element()
    return key


def _read_kind(sql: SqlReader, symbol: str) -> Key | None:
    if sql.accept("PRIMARY", "KEY"):
        return Key(PRIMARY, _name_and_parts(sql)[1])
    if sql.accept("UNIQUE"):
        sql.accept_any(*_INDEX)
        name, parts = _name_and_parts(sql)
        return Key(name or symbol, parts)
    if sql.accept_any(*_SPECIAL):
        sql.accept_any(*_INDEX)
        return Key(*_name_and_parts(sql), unique=False)
    if sql.accept_any(*_INDEX):
        return Key(*_name_and_parts(sql), unique=False)
    if sql.at_any("FOREIGN", "CHECK"):
        return None
    raise sql.refused("a key")


def _name_and_parts(sql: SqlReader) -> tuple[str, tuple[KeyPart, ...]]:
    """Read what follows the kind of a key: IF NOT EXISTS, a name, USING, and the columns."""
    sql.accept("IF", "NOT", "EXISTS")
    name = ""
    if not (sql.is_sign("(") or sql.at_any("USING", "TYPE")):
        name = sql.name()
    if sql.accept_any("USING", "TYPE"):
        sql.next()
    return name, read_parts(sql)


def read_parts(sql: SqlReader) -> tuple[KeyPart, ...]:
    """Read the columns of a key."""
    sql.expect_sign("(")
    parts = [_read_part(sql)]
    while sql.accept_sign(","):
        parts.append(_read_part(sql))
    sql.expect_sign(")")
    return tuple(parts)


def _read_part(sql: SqlReader) -> KeyPart:
    if sql.is_sign("("):
        sql.skip_parentheses()
        part = KeyPart(None)
    else:
        column = sql.name()
        part = KeyPart(column, _prefix(sql))
    sql.accept_any("ASC", "DESC")
    if sql.accept("WITHOUT", "OVERLAPS"):
        return KeyPart(None)
    return part


def _prefix(sql: SqlReader) -> int:
    if not sql.accept_sign("("):
        return 0
    prefix = sql.number()
    sql.expect_sign(")")
    return prefix
