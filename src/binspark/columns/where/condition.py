"""What a condition on the values of rows is made of. Light: it needs neither Arrow nor kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TypeAlias

Literal: TypeAlias = Fraction | str | bytes
"""A number, a string, or bytes that were written in hexadecimal."""


class Image(StrEnum):
    """Which row of a change a column is of."""

    NEWEST = ""
    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class ColumnName:
    """A column of the old row, of the new row, or of the newest that the log has: the new one, if there is one."""

    name: str
    image: Image = Image.NEWEST

    def __str__(self) -> str:
        return f"{self.image}.{self.name}" if self.image else self.name


class Comparator(StrEnum):
    """How two values are compared."""

    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


@dataclass(frozen=True, slots=True)
class Comparison:
    """A column compared with a literal, or with another column."""

    column: ColumnName
    comparator: Comparator
    value: Literal | ColumnName


@dataclass(frozen=True, slots=True)
class IsNull:
    """A column that is NULL."""

    column: ColumnName


@dataclass(frozen=True, slots=True)
class Like:
    """Text that matches a pattern: `%` is any text, `_` any character."""

    column: ColumnName
    pattern: str


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class And:
    """All of several conditions."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of several conditions."""

    conditions: tuple[Condition, ...]


Condition: TypeAlias = Comparison | IsNull | Like | Not | And | Or


def columns_of(condition: Condition) -> Iterator[ColumnName]:
    """Yield the columns that a condition names."""
    match condition:
        case And(conditions) | Or(conditions):
            for part in conditions:
                yield from columns_of(part)
        case Not(part):
            yield from columns_of(part)
        case Comparison(column, _, value):
            yield column
            if isinstance(value, ColumnName):
                yield value
        case IsNull(column) | Like(column):
            yield column
