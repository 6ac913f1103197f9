"""Definitions of columns: a name, a type, and attributes in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from binspark.schema.changes import ColumnSpec
from binspark.schema.session import CharsetRequest
from binspark.schema.sql.reader import SqlReader
from binspark.schema.sql.tokens import Kind
from binspark.schema.sql.types import read_type


@dataclass(slots=True)
class _Draft:
    """The attributes of a column that were read so far."""

    fields: dict[str, Any] = field(default_factory=dict)
    charset: str | None = None
    collate: str | None = None
    binary: bool = False


def read_column(sql: SqlReader) -> ColumnSpec:
    """Read the name and the definition of a column, up to FIRST, AFTER, a comma or the end of the list."""
    return read_definition(sql, sql.column_name())


def read_definition(sql: SqlReader, name: str) -> ColumnSpec:
    """Read the definition of a column after its name."""
    is_serial = sql.at("SERIAL")
    kind = read_type(sql)
    draft = _Draft()
    if is_serial:
        draft.fields.update(nullable=False, unique=True, computed=True, numbered=True)
    while not (sql.ended or sql.is_sign(",") or sql.is_sign(")") or sql.at_any("FIRST", "AFTER")):
        _read_attribute(sql, draft)
    request = CharsetRequest(draft.charset, draft.collate, draft.binary)
    return ColumnSpec(name, kind, request, **draft.fields)


def _read_attribute(sql: SqlReader, draft: _Draft) -> None:
    reader = _ATTRIBUTES.get(sql.word)
    if reader is not None:
        sql.next()
        reader(sql, draft)
    elif sql.peek().kind in (Kind.WORD, Kind.NAME) and sql.is_sign("=", ahead=1):
        _skip(3)(sql, draft)  # an option of a storage engine (MariaDB)
    else:
        raise sql.refused("an attribute of a column")


def _set(**fields: Any) -> Callable[[SqlReader, _Draft], None]:
    return lambda _sql, draft: draft.fields.update(fields)


def _skip(count: int) -> Callable[[SqlReader, _Draft], None]:
    def skip(sql: SqlReader, _draft: _Draft) -> None:
        for _ in range(count):
            sql.skip_one()

    return skip


def _value(sql: SqlReader, _draft: _Draft) -> None:
    """Skip the value of an attribute, with or without an equals sign."""
    sql.accept_sign("=")
    sql.skip_one()


def _charset(sql: SqlReader, draft: _Draft) -> None:
    sql.accept_sign("=")
    draft.charset = sql.word_or_text()


def _character(sql: SqlReader, draft: _Draft) -> None:
    sql.expect("SET")
    _charset(sql, draft)


def _collate(sql: SqlReader, draft: _Draft) -> None:
    sql.accept_sign("=")
    draft.collate = sql.word_or_text()


def _binary(_sql: SqlReader, draft: _Draft) -> None:
    draft.binary = True


def _named_charset(charset: str) -> Callable[[SqlReader, _Draft], None]:
    def set_charset(_sql: SqlReader, draft: _Draft) -> None:
        draft.charset = charset

    return set_charset


def _not(sql: SqlReader, draft: _Draft) -> None:
    """Read NOT NULL, NOT ENFORCED, NOT SECONDARY."""
    if sql.accept("NULL"):
        draft.fields["nullable"] = False
    elif not sql.accept_any("ENFORCED", "SECONDARY"):
        raise sql.refused("NULL")


def _primary(sql: SqlReader, draft: _Draft) -> None:
    sql.accept("KEY")
    draft.fields["primary"] = True


def _unique(sql: SqlReader, draft: _Draft) -> None:
    sql.accept("KEY")
    draft.fields["unique"] = True


def _generated(sql: SqlReader, draft: _Draft) -> None:
    sql.accept("ALWAYS")
    sql.expect("AS")
    _as(sql, draft)


def _as(sql: SqlReader, draft: _Draft) -> None:
    """Read AS (expression), AS ROW START, AS ROW END."""
    if sql.accept("ROW"):
        is_end = sql.accept("END")
        if not is_end and not sql.accept("START"):
            raise sql.refused("START or END")
        draft.fields.update(row_period=True, row_end=is_end, generated=True, nullable=False)
    else:
        draft.fields["computed"] = True
        if sql.accept("IDENTITY"):
            draft.fields["numbered"] = True
        else:
            draft.fields.update(generated=True, virtual=True)
            sql.skip_parentheses()


_CONSTANTS = {"TRUE": "1", "FALSE": "0", "NULL": None}


def _default(sql: SqlReader, draft: _Draft) -> None:
    """Read the value of DEFAULT: a constant, or an expression, for which MariaDB needs no parentheses.

    Literals with a character set of their own, and those of bytes, count as expressions, too.
    """
    value, length = _constant(sql)
    at = sql.offset
    sql.skip_operand()
    if length and sql.offset == at + length:
        draft.fields.update(computed=False, default=value)
    else:
        draft.fields.update(computed=True, default=None)


def _constant(sql: SqlReader) -> tuple[str | None, int]:
    """Return the constant that comes next, without taking it, and the number of its tokens, 0 if none comes next."""
    signs = 0
    while sql.is_sign("-", signs) or sql.is_sign("+", signs):
        signs += 1
    is_typed = sql.peek(signs).word in ("DATE", "TIME", "TIMESTAMP") and sql.peek(signs + 1).kind is Kind.TEXT
    length = signs + 1 + is_typed
    token = sql.peek(length - 1)
    value = sql.session.stored_text(token.value) if token.kind is Kind.TEXT else token.value
    is_constant = token.kind in (Kind.TEXT, Kind.NUMBER) or token.word in _CONSTANTS
    if not is_constant or isinstance(value, bytes):
        return None, 0
    negative = sum(sql.is_sign("-", ahead) for ahead in range(signs)) % 2
    known = _CONSTANTS.get(token.word, value)
    return f"-{known}" if negative else known, length


def _on(sql: SqlReader, _draft: _Draft) -> None:
    """Skip ON UPDATE with a function."""
    sql.expect("UPDATE")
    sql.skip_operand()


def _serial(sql: SqlReader, draft: _Draft) -> None:
    sql.expect("DEFAULT", "VALUE")
    draft.fields.update(nullable=False, unique=True, computed=True, numbered=True)


def _references(sql: SqlReader, _draft: _Draft) -> None:
    sql.other_table_name()
    if sql.is_sign("("):
        sql.skip_parentheses()
    while True:
        if sql.accept("MATCH"):
            sql.next()
        elif sql.at("ON", "DELETE") or sql.at("ON", "UPDATE"):
            sql.next()
            sql.next()
            if sql.accept_any("SET", "NO"):
                sql.next()
            else:
                sql.next()
        else:
            return


def _check(sql: SqlReader, _draft: _Draft) -> None:
    sql.skip_parentheses()


def _constraint(sql: SqlReader, _draft: _Draft) -> None:
    if not sql.at("CHECK"):
        sql.next()


def _compressed(sql: SqlReader, draft: _Draft) -> None:
    draft.fields["compressed"] = True
    if sql.accept_sign("="):
        sql.next()


def _versioning(is_versioned: bool) -> Callable[[SqlReader, _Draft], None]:
    def read(sql: SqlReader, draft: _Draft) -> None:
        sql.expect("SYSTEM", "VERSIONING")
        draft.fields["versioned"] = is_versioned

    return read


_ATTRIBUTES: dict[str, Callable[[SqlReader, _Draft], None]] = {
    "UNSIGNED": _set(unsigned=True),
    "ZEROFILL": _set(unsigned=True),
    "SIGNED": _skip(0),
    "BINARY": _binary,
    "ASCII": _named_charset("latin1"),
    "UNICODE": _named_charset("ucs2"),
    "BYTE": _named_charset("binary"),
    "CHARSET": _charset,
    "CHARACTER": _character,
    "CHAR": _character,
    "COLLATE": _collate,
    "NOT": _not,
    "NULL": _set(nullable=True),
    "PRIMARY": _primary,
    "KEY": _set(primary=True),
    "UNIQUE": _unique,
    "AUTO_INCREMENT": _set(nullable=False, computed=True, numbered=True),
    "DEFAULT": _default,
    "ON": _on,
    "SERIAL": _serial,
    "COMMENT": _value,
    "GENERATED": _generated,
    "AS": _as,
    "VIRTUAL": _skip(0),
    "STORED": _set(virtual=False),
    "PERSISTENT": _set(virtual=False),
    "VISIBLE": _set(visible=True),
    "INVISIBLE": _set(visible=False),
    "COMPRESSED": _compressed,
    "COLUMN_FORMAT": _value,
    "STORAGE": _value,
    "ENGINE_ATTRIBUTE": _value,
    "SECONDARY_ENGINE_ATTRIBUTE": _value,
    "SRID": _value,
    "REF_SYSTEM_ID": _value,
    "REFERENCES": _references,
    "CHECK": _check,
    "CONSTRAINT": _constraint,
    "ENFORCED": _skip(0),
    "WITH": _versioning(True),
    "WITHOUT": _versioning(False),
}
