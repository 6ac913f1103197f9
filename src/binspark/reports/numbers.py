"""The numbers of a report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from binspark.doctor.rule import Finding as Hint
from binspark.hidden_secrets import hide_secrets
from binspark.reports.hot_rows import HotRow
from binspark.transactions.contents import Contents
from binspark.verify.report import Report as Verification


class SchemaChange(NamedTuple):
    """A statement that defines something: when (microseconds since 1970), where, and its text, shortened."""

    time: int
    file: str
    offset: int
    gtid: str | None
    statement: str


class LongTransaction(NamedTuple):
    """One of the transactions that were open longest; `time` is that of its commit, in microseconds since 1970."""

    seconds: int
    length: int
    time: int
    file: str
    offset: int
    gtid: str | None
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers over time: one for each interval, by name.

    width   the length of an interval in microseconds
    times   when each begins, in microseconds since 1970
    """

    width: int
    times: list[int]
    values: dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Histogram:
    """How many there are from each lower bound up to the next."""

    bounds: list[int]
    counts: list[int]


@dataclass(frozen=True, slots=True)
class GtidGap:
    """GTIDs between those in the logs that are in none of them."""

    source: str
    missing: str
    count: int


@dataclass(frozen=True, slots=True)
class ReportNumbers:
    """What logs contain and what is wrong with them.

    rows            rows over time, by table
    operations      rows over time, by operation
    writes          transactions and bytes over time
    parallelism     transactions that a replica could apply at the same time, over time
    schema_change_count   all of them; `schema_changes` has the first ones
    is_part         whether only a part of the logs was counted, which options select
    """

    files: tuple[str, ...]
    contents: Contents
    writes: Series
    rows: Series
    operations: Series
    sizes: Histogram
    durations: Histogram
    longest: tuple[LongTransaction, ...]
    hot_rows: tuple[HotRow, ...]
    parallelism: Series
    gtids: str
    gtid_gaps: tuple[GtidGap, ...]
    schema_changes: tuple[SchemaChange, ...]
    schema_change_count: int
    verification: Verification
    hints: tuple[Hint, ...]
    is_part: bool = False

    def without_secrets(self) -> ReportNumbers:
        """Return the same numbers; passwords in statements are hidden."""
        changes = (each._replace(statement=hide_secrets(each.statement)) for each in self.schema_changes)
        return replace(self, contents=self.contents.without_secrets(), schema_changes=tuple(changes))
