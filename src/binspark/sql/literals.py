"""Exact values (see `binspark.values.exact`) as literals, and as conditions that only the same value meets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from binspark.errors import SchemaError
from binspark.event.column_types import ColumnType as T
from binspark.sql.documents import document_sql
from binspark.sql.quoting import bytes_of_text, hexadecimal, quoted_name, quoted_text, text_literal
from binspark.values.column import BINARY_COLLATION, Column
from binspark.values.strings import notation_of
from binspark.values.value import Value

Literal: TypeAlias = Callable[[Any], str]
"""Writes a value that is not NULL."""

_TEXTS = frozenset(
    {T.STRING, T.VARCHAR, T.VAR_STRING, T.TINY_BLOB, T.BLOB, T.MEDIUM_BLOB, T.LONG_BLOB}
    | {T.VARCHAR_COMPRESSED, T.BLOB_COMPRESSED}
)
_ZONE = "+00:00"


@dataclass(frozen=True, slots=True)
class ColumnSql:
    """How the values of a column are written.

    name       the name, quoted
    settable   whether statements may set the column: not if the server computes its values
    literal    writes a value that is not NULL
    comparable the expression that is compared with `compared`, where the column itself would be equal to others, too
    compared   writes a value to compare with
    lenient    the value that only a server that is not strict accepts: the empty text for invalid values of an ENUM
    """

    name: str
    settable: bool
    literal: Literal
    comparable: str
    compared: Literal
    lenient: int | None = None
    keeps_time: bool = False

    @property
    def is_inexact(self) -> bool:
        """Whether the column is equal to values that it does not have: text in another case, or with other spaces."""
        return self.comparable != self.name

    def value(self, value: Value) -> str:
        """Return the literal of a value."""
        return "NULL" if value is None else self.literal(value)

    def equals(self, value: Value) -> str:
        """Return the condition that the column has exactly this value."""
        if value is None:
            return f"{self.name} IS NULL"
        return f"{self.comparable} <=> {self.compared(value)}"

    def is_key(self, value: Value) -> str:
        """Return the condition for a column of a key: values that are equal for the column are one value there."""
        return f"{self.name} IS NULL" if value is None else f"{self.name} = {self.literal(value)}"


_AUTOMATIC = frozenset({T.TIMESTAMP, T.TIMESTAMP2, T.DATETIME, T.DATETIME2})
"""Types of columns that a server may set to the current time if an UPDATE does not set them."""


def column_sql(column: Column) -> ColumnSql:
    """Return how the values of a column with a name are written."""
    name = quoted_name(column.name or "")
    literal = _literal(column)
    comparable, compared = name, literal
    if column.type in _TEXTS and column.collation != BINARY_COLLATION:
        comparable, compared = f"CAST({name} AS BINARY)", lambda raw: bytes_of_text(raw, column.collation)
    elif column.type is T.VECTOR:
        comparable = f"CAST({name} AS BINARY)"
    lenient = 0 if column.type is T.ENUM else None
    keeps_time = column.type in _AUTOMATIC and not column.generated
    return ColumnSql(name, not column.generated, literal, comparable, compared, lenient, keeps_time)


def _literal(column: Column) -> Literal:
    if column.type in _TEXTS:
        return _text(column)
    if column.type is T.ENUM and column.members is not None:
        return _member(column.members)
    if column.type is T.SET and column.members is not None:
        return _members(column.members)
    return _LITERALS.get(column.type, str)


def _text(column: Column) -> Literal:
    collation, notation = column.collation, column.notation
    if notation is not None:
        return lambda raw: f"'{notation_of(raw.ljust(column.length, bytes(1)), notation)}'"
    if collation is None or collation == BINARY_COLLATION:
        return hexadecimal
    return lambda raw: text_literal(raw, collation)


def _member(members: tuple[str, ...]) -> Literal:
    """Write an ENUM by name; 0 and numbers of no member as a number, and names that would be read as a number."""
    texts = [quoted_text(member) for member in members]
    return lambda number: texts[number - 1] if 0 < number <= len(texts) else str(number)


def _members(members: tuple[str, ...]) -> Literal:
    names = [(1 << bit, member) for bit, member in enumerate(members)]

    def literal(number: int) -> str:
        if number >> len(names):
            return str(number)
        return quoted_text(",".join(member for bit, member in names if number & bit))

    return literal


def _floating(number: float) -> str:
    """Write the exact value: a FLOAT as the DOUBLE that it equals, so that comparing it with its column works."""
    if not math.isfinite(number):
        raise SchemaError(f"{number} has no literal in SQL")
    text = repr(number).removesuffix(".0")
    return text if "e" in text else f"{text}E0"


def _decimal(value: Decimal) -> str:
    return f"{value:f}"


def _moment(value: Any) -> str:
    """Write a date or time; of a TIMESTAMP without its zone, which is that of the session."""
    return f"'{value.text().removesuffix(_ZONE)}'"


_LITERALS: dict[T, Literal] = {
    T.FLOAT: _floating,
    T.DOUBLE: _floating,
    T.NEWDECIMAL: _decimal,
    T.DECIMAL: _decimal,
    **dict.fromkeys((T.DATE, T.NEWDATE, T.TIME, T.TIME2, T.DATETIME, T.DATETIME2, T.TIMESTAMP, T.TIMESTAMP2), _moment),
    T.JSON: document_sql,
    T.TYPED_ARRAY: document_sql,
    T.GEOMETRY: hexadecimal,  # the bytes that the server stores do not depend on the order of axes
    T.VECTOR: hexadecimal,
}
