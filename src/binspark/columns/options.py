"""How values become columns where there is a choice. This module does not load Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from binspark.values.options import Undecodable


class ZeroDates(StrEnum):
    """What becomes of a date that is not in the calendar: `0000-00-00`, `2024-00-15`."""

    NULL = "null"
    ERROR = "error"
    STRING = "string"


class TimeFormat(StrEnum):
    """What TIME becomes: it can be negative and longer than a day, and not every system has a type for that."""

    INTERVAL = "interval"
    STRING = "string"
    MICROSECONDS = "microseconds"


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """Policies for what does not fit a column's type, or not every system's types.

    exact   values are those of `binspark.values.exact`: text, geometries and documents are bytes, members are numbers
    """

    zero_dates: ZeroDates = ZeroDates.NULL
    undecodable: Undecodable = Undecodable.ERROR
    time: TimeFormat = TimeFormat.INTERVAL
    exact: bool = False
