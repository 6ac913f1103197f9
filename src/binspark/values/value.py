"""What a value of a column can be."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import NamedTuple, TypeAlias

from binspark.values.temporal.value import Date, DateTime, Time, Timestamp


class Absent(Enum):
    """Stands where a row image leaves a column out; None is NULL."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Geometry:
    """GEOMETRY: a spatial reference system and a shape in well-known binary."""

    srid: int
    wkb: bytes


class DocumentDiff(NamedTuple):
    """One change inside a JSON document: `replace`, `insert` or `remove` (which has no value) at a path."""

    operation: str
    path: str
    value: str | None


@dataclass(frozen=True, slots=True)
class JsonDiffs:
    """A partial update of a JSON document that is not in the row's before image: what changed, in order."""

    diffs: tuple[DocumentDiff, ...]


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
    | tuple[str, ...]
    | tuple[float, ...]
    | None
)
"""int: integers, YEAR, BIT, and ENUM or SET without known members. str: text, ENUM, JSON. tuples: SET, VECTOR."""

Row: TypeAlias = tuple[Value | Absent, ...]
"""One row image: a value for each column of the table, or ABSENT."""
