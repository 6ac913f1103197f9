"""The logs that are explored: their indexes, which grow in the background, and questions about all of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from itertools import islice
from threading import Condition, Thread
from typing import Any

from binspark.errors import BinlogError, OptionError, SourceError
from binspark.explore.clear_copies import ClearCopies
from binspark.explore.definitions import Definitions
from binspark.explore.explored_log import ExploredLog
from binspark.explore.index_reader import IndexReader
from binspark.explore.log_index import LogRange
from binspark.explore.totals import Totals
from binspark.explore.units import Unit, UnitKind
from binspark.files.log_head import read_head
from binspark.files.sources import LogSource
from binspark.kernels import cache

MAX_UNITS = 500
MAX_WAIT_SECONDS = 20.0
_MAX_PROBLEMS = 20
_LOOK_SECONDS = 1.0
_SECOND = 1_000_000
log = logging.getLogger("binspark.explore")
FindSources = Callable[[], list[LogSource]]


class Explorer:
    """All logs, in order. A thread reads them, first those that somebody asks for, and looks for more every second.

    find_sources   returns the logs that there are now
    show_secrets   whether passwords in statements are shown
    """

    def __init__(self, find_sources: FindSources, *, show_secrets: bool = False) -> None:
        cache.enable()
        self.show_secrets = show_secrets
        self._find_sources = find_sources
        self._copies = ClearCopies()
        self.logs = [ExploredLog(source, self._copies, show_secrets=show_secrets) for source in find_sources()]
        self.totals = Totals()
        self.definitions = Definitions()
        self.version = 0
        self._changed = Condition()
        self._wanted: ExploredLog | None = None
        self._is_stopped = False
        self._thread = Thread(target=self._watch, name="binspark-explore", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """End reading, and wait for that."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(5)
        self._copies.close()

    def read_all(self) -> None:
        """Read all that there is now, first what somebody waits for."""
        unseen = list(self.logs)
        while unseen and not self._is_stopped:
            following = self._wanted if self._wanted in unseen else unseen[0]
            unseen.remove(following)
            self._read_new(following)
        self.definitions.update(self.logs)

    def read_next(self) -> None:
        """Read the log that somebody waits for, or else the first that was not read."""
        unread = [each for each in self.logs if not each.is_read]
        if unread:
            self._read_new(self._wanted if self._wanted in unread else unread[0])

    def ensure_read(self, number: int, seconds: float = MAX_WAIT_SECONDS) -> bool:
        """Wait until a log was read, which is read next; return whether it was."""
        explored = self.log(number)
        with self._changed:
            self._wanted = explored
            return self._changed.wait_for(lambda: explored.is_read or self._is_stopped, seconds)

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
        with self._changed:
            logs = [
                {
                    "name": each.name,
                    "units": each.index.units,
                    "bytes": each.index.size,
                    "read": each.is_read,
                    "problems": [{"pos": pos, "text": text} for pos, text in each.problems[:_MAX_PROBLEMS]],
                    "problem_count": len(each.problems),
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
        part: LogRange | None = explored.index.range_of(first, count)
        while part is not None and part.start.unit < first + count:
            for unit in explored.units(part):
                if unit.number >= first + count:
                    return
                if unit.number >= first:
                    yield unit
            part = explored.index.next_range(part)

    def unit_at(self, number: int, offset: int) -> Unit:
        """Return the unit of a log that an offset is in."""
        explored = self.log(number)
        if offset >= explored.index.size:
            self._expect(number)
        if not 0 <= offset < explored.index.size:
            raise OptionError(
                f"position {offset} is past the end of {explored.name}, which has {explored.index.size} bytes"
            )
        for unit in explored.units(explored.index.range_at(offset)):
            if unit.end > offset:
                return unit
        raise OptionError(f"position {offset} of {explored.name} cannot be read")

    def number_of(self, log_number: int, unit: int) -> int:
        """Return the number of a unit, counted over all logs."""
        return sum(each.index.units for each in self.logs[:log_number]) + unit

    def unit_at_time(self, microseconds: int) -> tuple[int, Unit] | None:
        """Return the first transaction that was committed at a time or later, and its log; None if there is none."""
        for number, explored in enumerate(self.logs):
            if not explored.is_read:
                if self._begins_before(number + 1, microseconds):
                    continue
                self._expect(number)
            part: LogRange | None = explored.index.range_at_time(microseconds)
            while part is not None:
                for unit in explored.units(part):
                    time = unit.about.get("time")
                    if unit.kind is UnitKind.TRANSACTION and time is not None and time * _SECOND >= microseconds:
                        return number, unit
                part = explored.index.next_range(part)
        return None

    def timeline_record(self) -> dict[str, Any]:
        """Return what was written over time."""
        with self._changed:
            return self.totals.timeline()

    def tables_record(self) -> dict[str, Any]:
        """Return how each table is changed."""
        with self._changed:
            return self.totals.tables()

    def look_for_logs(self) -> None:
        """Add the logs that there are now, and were not before."""
        known = {each.source.name for each in self.logs}
        for source in self._find_sources():
            if source.name not in known:
                with self._changed:
                    self.logs.append(ExploredLog(source, self._copies, show_secrets=self.show_secrets))
                    self.version += 1

    def _begins_before(self, number: int, microseconds: int) -> bool:
        """Return whether there is a log with a number, and it begins before a time."""
        if number >= len(self.logs):
            return False
        explored = self.logs[number]
        if not explored.created:
            with explored.opened() as file:
                explored.created = read_head(file, explored.source.name).frame.header.timestamp * _SECOND
        return 0 < explored.created < microseconds

    def _expect(self, number: int) -> None:
        if not self.ensure_read(number):
            raise OptionError(f"{self.log(number).name} is still being read; try again in a moment")

    def _watch(self) -> None:
        while not self._is_stopped:
            try:
                self.look_for_logs()
            except SourceError as error:
                log.warning("%s", error)
            self.read_all()
            with self._changed:
                self._changed.wait_for(lambda: self._is_stopped, _LOOK_SECONDS)

    def _read_new(self, explored: ExploredLog) -> None:
        """Read what is new in a log."""
        try:
            if not explored.is_read or explored.has_grown():
                self._read(explored)
        except BinlogError as error:
            self._note_problem(explored, error)

    def _read(self, explored: ExploredLog) -> None:
        IndexReader(explored, self.totals, self._changed, self._note_change, lambda: self._is_stopped).read()
        with self._changed:
            explored.is_read, explored.problem = True, None
            self._note_change()

    def _note_change(self) -> None:
        self.version += 1
        self._changed.notify_all()

    def _note_problem(self, explored: ExploredLog, error: BinlogError) -> None:
        with self._changed:
            if explored.problem != error.message or not explored.is_read:
                explored.is_read, explored.problem = True, error.message
                self._note_change()
