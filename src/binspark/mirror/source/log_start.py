"""Where the changes after a position begin in log files, which may be those of another server.

Names of files say nothing: all servers number theirs from 1. A file is that of a position if it was created at the same
time; otherwise GTIDs say which transactions come after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from binspark.files.read import source_events
from binspark.files.sources import LogSource
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.gtid import GtidSet, MariadbState
from binspark.mirror.source.identity import logs_continue
from binspark.position import log_name
from binspark.replication.gtids import Gtids
from binspark.replication.position import BinlogPosition
from binspark.transactions.gtids_before import FileGtids, find_gtids_before


class LogStart(NamedTuple):
    """Where reading begins, and which transactions after it do not count; None if all do."""

    position: str
    excluded: str | None = None


class GtidRange(NamedTuple):
    """Consecutive GTIDs of a source of MySQL, or some of a domain of MariaDB."""

    origin: str
    first: int
    last: int


class LogFiles:
    """Log files in their order."""

    def __init__(self, logs: Sequence[LogSource]) -> None:
        self._logs = logs

    def start_at(self, position: BinlogPosition) -> LogStart | None:
        """Return where reading begins after a position; None if the logs are not known to have all that follows it."""
        if logs_continue(self._logs, position):
            return LogStart(position.describe())
        gtids = position.gtids
        if not gtids:
            return None
        for log, before in reversed(self._gtids_before):
            if _has_all(gtids, before):
                return LogStart(f"{log_name(log.name)}:{FIRST_EVENT_OFFSET}", _excluded(gtids))
        return None

    def has_before(self, file: str, found: Sequence[GtidRange], gtids: Gtids) -> bool:
        """Return whether all of some transactions are before a file, or among those that were found in it."""
        before = next((known for log, known in self._gtids_before if log_name(log.name) == log_name(file)), None)
        if isinstance(gtids, GtidSet):
            in_file = GtidSet(",".join(f"{each.origin}:{each.first}-{each.last}" for each in found))
            return isinstance(before, GtidSet) and gtids <= before | in_file
        reached: dict[int, int] = {}
        for domain, number in (
            *((gtid.domain, gtid.sequence) for gtid in (before.gtids if isinstance(before, MariadbState) else ())),
            *((int(each.origin), each.last) for each in found),
        ):
            reached[domain] = max(number, reached.get(domain, number))
        return all(gtid.sequence <= reached.get(gtid.domain, -1) for gtid in gtids)

    @cached_property
    def _gtids_before(self) -> list[tuple[LogSource, FileGtids]]:
        found = ((log, find_gtids_before(source_events(log))) for log in self._logs)
        return [(log, before) for log, before in found if before is not None]


def _has_all(gtids: Gtids, before: FileGtids) -> bool:
    """Return whether all transactions before a log are among some."""
    if isinstance(gtids, GtidSet):
        return isinstance(before, GtidSet) and before <= gtids
    return isinstance(before, MariadbState) and all(gtid in gtids for gtid in before.gtids)


def _excluded(gtids: Gtids) -> str:
    """Return the value of `excludeGtids` for all transactions before a position."""
    return str(gtids) if isinstance(gtids, GtidSet) else ",".join(f"..{gtid}" for gtid in gtids)
