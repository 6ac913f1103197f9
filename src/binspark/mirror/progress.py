"""How far a mirror is: for each table the phase, rows and rate; for all of them the lag behind the source."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from binspark.mirror.apply import AppliedRange
from binspark.mirror.state import Phase
from binspark.mirror.tables import MirroredTables
from binspark.schema.table import TableName
from binspark.spark.streaming.reported import Reported

_RATE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class TableReport:
    """The progress of a table.

    rows       how many rows were copied, or changes applied, in this run
    expected   about how many rows it has, while it is copied
    rate       rows a second, of late
    """

    name: TableName
    phase: Phase
    rows: int
    expected: int | None
    rate: float
    version: int
    position: str

    def to_json(self) -> dict[str, Any]:
        """Return the progress as JSON."""
        return {
            "table": str(self.name),
            "phase": str(self.phase),
            "rows": self.rows,
            "expected_rows": self.expected,
            "rows_per_second": round(self.rate),
            "version": self.version,
            "position": self.position,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The progress of a mirror.

    position, gtids   all changes before it are in all tables
    lag_bytes         how much of the log comes after it; None if the source does not answer
    lag_seconds       how old the first change of that is
    error             the last error after which the mirror continued
    """

    tables: tuple[TableReport, ...]
    position: str
    gtids: str
    lag_bytes: int | None
    lag_seconds: float | None
    error: str | None = None

    @property
    def changes(self) -> int:
        """How many rows were copied and changes applied in this run."""
        return sum(table.rows for table in self.tables)

    def to_json(self) -> dict[str, Any]:
        """Return the progress as JSON."""
        return {
            "position": self.position,
            "gtids": self.gtids,
            "lag_bytes": self.lag_bytes,
            "lag_seconds": None if self.lag_seconds is None else round(self.lag_seconds, 3),
            "error": self.error,
            "tables": [table.to_json() for table in self.tables],
        }


@dataclass(slots=True)
class _Counter:
    """Counts rows of one table."""

    rows: int = 0
    expected: int | None = None
    history: list[tuple[float, int]] = field(default_factory=list)

    def reach(self, rows: int) -> None:
        now = time.monotonic()
        self.rows = rows
        self.history = [(at, count) for at, count in self.history if now - at <= _RATE_SECONDS] + [(now, rows)]

    @property
    def rate(self) -> float:
        if len(self.history) < 2:  # noqa: PLR2004 (a rate is between two moments)
            return 0.0
        (first, before), (last, after) = self.history[0], self.history[-1]
        return max(0, after - before) / max(last - first, 1e-3)


class MirrorProgress:
    """Counts what a mirror does.

    lag     what the source reported last
    error   the last error after which the mirror continued
    """

    def __init__(self) -> None:
        self._counters: dict[TableName, _Counter] = {}
        self.lag: Reported | None = None
        self.error: str | None = None

    def copied(self, name: TableName, rows: int, expected: int) -> None:
        """Count rows of a table that were copied."""
        counter = self._counter(name)
        counter.expected = expected
        counter.reach(rows)

    def applied(self, applied: AppliedRange) -> None:
        """Count the changes of a range."""
        self.error = None
        for name, changes in applied.changes.items():
            counter = self._counter(name)
            counter.reach(counter.rows + changes)

    def report(self, tables: MirroredTables) -> Report:
        """Return the progress."""
        position, lag = tables.position, self.lag
        return Report(
            tuple(
                TableReport(
                    table.name,
                    table.state.phase,
                    self._counter(table.name).rows,
                    self._counter(table.name).expected if table.state.phase is Phase.SNAPSHOT else None,
                    self._counter(table.name).rate,
                    table.version.version,
                    table.position.describe(),
                )
                for table in sorted(tables, key=lambda table: table.name)
            ),
            "" if position is None else position.describe(),
            "" if position is None or position.gtids is None else str(position.gtids),
            None if lag is None else lag.lag_bytes,
            None if lag is None else lag.lag_seconds,
            self.error,
        )

    def _counter(self, name: TableName) -> _Counter:
        return self._counters.setdefault(name, _Counter())
