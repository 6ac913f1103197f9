"""The logs that are explored: their indexes, which grow in the background, and questions about all of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from threading import Event as Signal
from threading import Lock, Thread
from typing import Any

import pyarrow as pa

from binspark.columns.selection import Selection
from binspark.columns.table_counts import TableCounts
from binspark.columns.transaction_batch import ClosedTransactions, transaction_contents, transaction_numbers
from binspark.errors import BinlogError, DecodeError, OptionError, SourceError
from binspark.explore.log_index import LogIndex, LogRange
from binspark.explore.scan import opened, read_transactions
from binspark.explore.units import Unit, UnitKind, read_units
from binspark.files.log_head import read_head
from binspark.files.sources import LogSource
from binspark.files.storage.store import LogFile
from binspark.kernels.list_layout import ChangeNumber
from binspark.position import COMPRESSED_SUFFIXES, log_name
from binspark.reports.timeline import Timeline

MAX_UNITS = 500
MAX_TABLES = 2000
MAX_TIMELINE = 1200
_LOOK_SECONDS = 1.0
_SECOND = 1_000_000
log = logging.getLogger("binspark.explore")
FindSources = Callable[[], list[LogSource]]


@dataclass
class ExploredLog:
    """A log, and its index.

    is_read   whether the index has all that the log had when it was last looked at
    """

    source: LogSource
    index: LogIndex = field(default_factory=LogIndex)
    is_read: bool = False

    @property
    def name(self) -> str:
        """The name of the log, without its folder."""
        return log_name(self.source.name)


class Explorer:
    """All logs, in order. A thread reads them, and looks for more every second.

    find_sources   returns the logs that there are now
    """

    def __init__(self, find_sources: FindSources) -> None:
        self._find_sources = find_sources
        self.logs = [ExploredLog(source) for source in find_sources()]
        self.tables = TableCounts(Selection())
        self.timeline: Timeline[str] = Timeline(MAX_TIMELINE)
        self.version = 0
        self._lock = Lock()
        self._stop = Signal()
        self._thread = Thread(target=self._watch, name="binspark-explore", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """End reading, and wait for that."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(5)

    def read_all(self) -> None:
        """Read all that there is now."""
        for explored in list(self.logs):
            if self._stop.is_set():
                return
            try:
                self._read(explored)
            except BinlogError as error:
                self._note_damage(explored, error)

    def log(self, number: int) -> ExploredLog:
        """Return a log by its number."""
        if not 0 <= number < len(self.logs):
            raise OptionError(f"there is no log number {number}: there are {len(self.logs)}")
        return self.logs[number]

    def log_number(self, name: str) -> int:
        """Return the number of the log with a name."""
        for number, explored in enumerate(self.logs):
            if name in (explored.name, explored.source.name):
                return number
        raise OptionError(f"there is no log {name}")

    def overview(self) -> dict[str, Any]:
        """Return which logs there are, and how far they were read."""
        with self._lock:
            logs = [
                {
                    "name": each.name,
                    "units": each.index.units,
                    "bytes": each.index.size,
                    "read": each.is_read,
                    "damage": each.index.damage,
                    "server": each.index.format.server_version if each.index.format else None,
                }
                for each in self.logs
            ]
            return {"version": self.version, "logs": logs}

    def units(self, first: int, count: int) -> Iterator[tuple[int, Unit]]:
        """Yield units of all logs, with the number of their log. They are counted over all logs."""
        left = min(count, MAX_UNITS)
        for number, explored in enumerate(self.logs):
            known = explored.index.units
            if first >= known:
                first -= known
                continue
            found = list(islice(self.log_units(explored, first, left), left))
            yield from ((number, unit) for unit in found)
            left -= len(found)
            first = 0
            if left <= 0 or len(found) == 0:
                return

    def log_units(self, explored: ExploredLog, first: int, count: int) -> Iterator[Unit]:
        """Yield units of one log."""
        with opened(explored.source) as file:
            part = explored.index.range_of(first, count)
            for unit in read_units(file, explored.source.name, explored.index, part):
                if unit.number >= first + count:
                    return
                if unit.number >= first:
                    yield unit

    def unit_at(self, number: int, offset: int) -> Unit:
        """Return the unit of a log that an offset is in."""
        explored = self.log(number)
        if not 0 <= offset < explored.index.size:
            raise OptionError(
                f"position {offset} is past the end of {explored.name}, which has {explored.index.size} bytes"
            )
        with opened(explored.source) as file:
            part = explored.index.range_at(offset)
            for unit in read_units(file, explored.source.name, explored.index, part):
                if unit.end > offset:
                    return unit
        raise OptionError(f"position {offset} of {explored.name} cannot be read")

    def number_of(self, log_number: int, unit: int) -> int:
        """Return the number of a unit, counted over all logs."""
        return sum(each.index.units for each in self.logs[:log_number]) + unit

    def unit_at_time(self, microseconds: int) -> tuple[int, Unit] | None:
        """Return the first transaction that was committed at a time or later, and its log; None if there is none."""
        for number, explored in enumerate(self.logs):
            part: LogRange | None = explored.index.range_at_time(microseconds)
            with opened(explored.source) as file:
                while part is not None:
                    for unit in read_units(file, explored.source.name, explored.index, part):
                        time = unit.about.get("time")
                        if unit.kind is UnitKind.TRANSACTION and time is not None and time * _SECOND >= microseconds:
                            return number, unit
                    part = explored.index.next_range(part)
        return None

    def timeline_record(self) -> dict[str, Any]:
        """Return what was written over time: when each interval begins, in seconds, and the sums of each."""
        with self._lock:
            times = [time / _SECOND for time in self.timeline.times]
            sums = {key: self.timeline.sums(key) for key in ("transactions", "bytes", "rows")}
            return {"width": self.timeline.width / _SECOND, "times": times, **sums}

    def tables_record(self) -> dict[str, Any]:
        """Return how each table is changed, those with the most bytes first."""
        with self._lock:
            counts = dict(self.tables.counts)
        tables: dict[str, dict[str, Any]] = {}
        for (schema, table, operation), count in counts.items():
            record = tables.setdefault(f"{schema}.{table}", {"table": f"{schema}.{table}", "bytes": 0, "rows": 0})
            record["bytes"] += count.bytes
            record["rows"] += count.rows
            record[operation.value] = {"rows": count.rows, "bytes": count.bytes, "uncounted": count.uncounted}
        ordered = sorted(tables.values(), key=lambda each: (-each["bytes"], each["table"]))
        return {"tables": ordered[:MAX_TABLES], "count": len(ordered)}

    def _watch(self) -> None:
        while not self._stop.is_set():
            try:
                self.look_for_logs()
            except SourceError as error:
                log.warning("%s", error)
            self.read_all()
            self._stop.wait(_LOOK_SECONDS)

    def look_for_logs(self) -> None:
        """Add the logs that there are now, and were not before."""
        known = {each.source.name for each in self.logs}
        for source in self._find_sources():
            if source.name not in known:
                with self._lock:
                    self.logs.append(ExploredLog(source))
                    self.version += 1

    def _read(self, explored: ExploredLog) -> None:
        """Read what was appended to a log since it was read."""
        index = explored.index
        if explored.is_read and not self._has_grown(explored):
            return
        with opened(explored.source) as file:
            if index.format is None:
                head = read_head(file, explored.source.name)
                index.format, index.can_split = head.format, head.can_split
            self._read_from(explored, file, file.size)

    def _has_grown(self, explored: ExploredLog) -> bool:
        if explored.source.name.lower().endswith(COMPRESSED_SUFFIXES):
            return False
        return explored.source.size() > explored.index.size

    def _read_from(self, explored: ExploredLog, file: LogFile, size: int) -> None:
        index = explored.index
        index.damage = index.damage_offset = None
        start = index.end if index.can_split else 0
        target = _IndexTarget(self, index, index.end)
        damage: DecodeError | None = None
        try:
            for _ in read_transactions(file, explored.source.name, index, (start, size), target, with_tail=False):
                pass
        except DecodeError as error:
            damage = error
        with self._lock:
            if damage is not None:
                offset = damage.position.offset
                index.damage, index.damage_offset = damage.message, max(index.end, offset or 0)
            index.add_tail(1, size)
        tail = index.range_at(size)
        count = sum(1 for _ in read_units(file, explored.source.name, index, tail))
        with self._lock:
            index.add_tail(tail.start.unit + count - (index.units - 1), size)
            explored.is_read = True
            self.version += 1

    def _note_damage(self, explored: ExploredLog, error: BinlogError) -> None:
        with self._lock:
            if explored.index.damage != error.message:
                explored.index.damage = error.message
                self.version += 1
            explored.is_read = True

    def count(self, index: LogIndex, closed: ClosedTransactions, skip: int) -> None:
        """Count transactions, and add them to an index; those before an offset are in it already."""
        numbers, contents, times = transaction_numbers(closed), transaction_contents(closed), closed.commit_times
        new = numbers["start"] >= skip
        with self._lock:
            index.add(numbers["start"][new], numbers["end"][new], times[new])
            self.timeline.add("transactions", times[new], contents["rows"][new] * 0 + 1)
            self.timeline.add("bytes", times[new], contents["length"][new])
            self.timeline.add("rows", times[new], contents["rows"][new])
            owners = closed.changes[ChangeNumber.TRANSACTION]
            list(self.tables.batches(replace(closed, changes=closed.changes[:, new[owners]])))
            self.version += 1


class _IndexTarget:
    """Adds transactions to an index."""

    def __init__(self, explorer: Explorer, index: LogIndex, skip: int) -> None:
        self._explorer = explorer
        self._index = index
        self._skip = skip

    def batches(self, closed: ClosedTransactions) -> Iterator[pa.RecordBatch]:
        """Take transactions, and yield nothing."""
        self._explorer.count(self._index, closed, self._skip)
        return iter(())
