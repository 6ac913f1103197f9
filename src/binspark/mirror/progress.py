"""How far a mirror is: for each table the phase, rows and rate; for all of them the lag behind the source."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from binspark.errors import BinlogError
from binspark.mirror.apply import AppliedRange
from binspark.mirror.state import Phase
from binspark.mirror.tables.mirrored_tables import MirroredTables
from binspark.mirror.tables.open_table import OpenTable
from binspark.monitoring.lag import LagClock
from binspark.monitoring.status import Status, TableStatus, activity_fields, status_of
from binspark.replication.activity import Activity
from binspark.replication.position import BinlogPosition
from binspark.schema.table import TableName
from binspark.spark.streaming.reported import Reported

_COMMAND = "mirror"
_RATE_SECONDS = 30.0
_MAX_POSITIONS = 16

LagOf = Callable[[BinlogPosition], Reported | None]


@dataclass(slots=True)
class RowCounter:
    """Counts rows of one table."""

    rows: int = 0
    expected: int | None = None
    history: list[tuple[float, int]] = field(default_factory=list)

    def reach(self, rows: int) -> None:
        """Note how many rows there are now."""
        now = time.monotonic()
        self.rows = rows
        self.history = [(at, count) for at, count in self.history if now - at <= _RATE_SECONDS] + [(now, rows)]

    @property
    def rate(self) -> float:
        """How many rows there were in a second, over the last half minute; 0 if none was counted meanwhile."""
        now = time.monotonic()
        recent = [(at, count) for at, count in self.history if now - at <= _RATE_SECONDS]
        if len(recent) < 2:  # noqa: PLR2004 (a rate is between two moments)
            return 0.0
        (first, before), (last, after) = recent[0], recent[-1]
        return max(0, after - before) / max(last - first, 1e-3)


class MirrorProgress:
    """Counts what a mirror does. One thread reports at a time, others may ask for the status.

    lag     what the source reported last
    error   the last error after which the mirror continued
    """

    def __init__(self, activity: Activity | None) -> None:
        """`activity` counts what is read of a server; None for logs."""
        self._activity = activity
        self._counters: dict[TableName, RowCounter] = {}
        self._errors: Counter[str] = Counter()
        self._clock = LagClock()
        self._last = Status(command=_COMMAND)
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

    def failed(self, error: BinlogError) -> None:
        """Count an error after which the mirror continues."""
        self.error = str(error)
        self._errors[type(error).__name__] += 1

    def observe(self, lag: Reported | None) -> None:
        """Note what the source has reported."""
        self.lag = lag
        self._clock.observe(None if lag is None else lag.lag_seconds)

    def status(self) -> Status:
        """Return the status: what was reported last, and what the activity has counted since."""
        return self._with_activity(replace(self._last, lag_seconds=self._clock.seconds))

    def report(self, tables: MirroredTables, lag_of: LagOf) -> Status:
        """Return the progress; `lag_of` says how much of the log comes after a position."""
        position, lags = tables.position, _Lags(lag_of)
        found = tuple(self._table(table, lags) for table in sorted(tables, key=lambda table: table.name))
        lag = self.lag
        self._last = status_of(
            _COMMAND,
            None,
            position,
            tables=found,
            rows=sum(table.rows for table in found),
            lag_bytes=None if lag is None else lag.lag_bytes,
            lag_seconds=None if lag is None else lag.lag_seconds,
        )
        return self._with_activity(self._last)

    def _with_activity(self, status: Status) -> Status:
        fields = activity_fields(self._activity)
        errors = Counter(fields.pop("errors", {})) + self._errors
        error = self.error or fields.pop("error", None)
        return replace(status, **{**fields, "errors": errors, "error": error})

    def _table(self, table: OpenTable, lags: _Lags) -> TableStatus:
        counter, phase = self._counter(table.name), table.state.phase
        lag = None if phase is Phase.SNAPSHOT else lags.after(table.position)
        return TableStatus(
            name=table.name,
            phase=phase,
            rows=counter.rows,
            expected=counter.expected if phase is Phase.SNAPSHOT else None,
            rate=counter.rate,
            version=table.version.version,
            position=table.position.describe(),
            lag_bytes=None if lag is None else lag.lag_bytes,
            lag_seconds=None if lag is None else lag.lag_seconds,
        )

    def _counter(self, name: TableName) -> RowCounter:
        return self._counters.setdefault(name, RowCounter())


class _Lags:
    """The lags of tables: most have one of a few positions, and only a few are asked for."""

    def __init__(self, lag_of: LagOf) -> None:
        self._lag_of = lag_of
        self._found: dict[tuple[str, str, int], Reported | None] = {}

    def after(self, position: BinlogPosition) -> Reported | None:
        key = position.coordinates
        if key not in self._found and len(self._found) < _MAX_POSITIONS:
            self._found[key] = self._lag_of(position)
        return self._found.get(key)
