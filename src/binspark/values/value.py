"""The types of values."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import NamedTuple, TypeAlias

from binspark.values.json.diff import JsonDiff
from binspark.values.temporal.value import Date, DateTime, Time, Timestamp


class Absent(Enum):
    """The value of a column that is not in a row image; NULL is None."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Geometry:
    """GEOMETRY: the id of a spatial reference system, and a geometry in well-known binary (WKB)."""

    srid: int
    wkb: bytes


class DocumentDiff(NamedTuple):
    """One change of a JSON document: `replace`, `insert` or `remove` (without a value) at a path."""

    operation: str
    path: str
    value: str | None


@dataclass(frozen=True, slots=True)
class JsonDiffs:
    """A partial update of a JSON document that is not in the before image: its diffs, in order."""

    diffs: tuple[DocumentDiff, ...]


@dataclass(frozen=True, slots=True)
class BinaryDiffs:
    """A partial update of a JSON document where documents are raw: its diffs, in order."""

    diffs: tuple[JsonDiff, ...]


Value: TypeAlias = (
    int
    | float
    | str
    | bytes
    | Decimal
    | Date
    | Time
    | DateTime
    | Timestamp
    | Geometry
    | JsonDiffs
    | BinaryDiffs
    | tuple[str, ...]
    | tuple[float, ...]
    | None
)
"""int: integers, YEAR, BIT, and ENUM or SET without known members. str: text, ENUM, JSON. tuples: SET, VECTOR."""

Row: TypeAlias = tuple[Value | Absent, ...]
"""One row image: a value for each column of the table, or ABSENT, which only a `PartialRow` has."""


class PartialRow(tuple[Value | Absent, ...]):
    """A row image that lacks some of the columns: they are ABSENT in it. An image with all columns is a plain tuple."""

    __slots__ = ()
