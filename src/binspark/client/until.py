"""Where to end: what is there now, a place in a log, GTIDs, a time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime

from binspark.client.bulk.runs import Stop
from binspark.client.connect import Connection
from binspark.client.facts import Gtids, log_end
from binspark.client.identity import identify
from binspark.client.resume import ResumePoint
from binspark.client.start import AtFile, AtGtids, AtTime, parse_start
from binspark.errors import OptionError
from binspark.files.sources import log_order
from binspark.gtid import GtidSet

END = "end"


@dataclass(frozen=True, slots=True)
class Until:
    """An end that is found: a place in a log, GTIDs, a time, or none of them.

    offset, file  the transaction that ends there, or the first one behind it, is the last
    gtids         the last is the one with which all of these are there
    seconds       no transaction that begins then or later, since 1970 by the server's clock
    clock_ahead   by how many seconds the server's clock is ahead of this machine's
    """

    file: str = ""
    offset: int = 0
    gtids: Gtids | None = None
    seconds: int = 0
    clock_ahead: float = 0.0

    @property
    def stop(self) -> Stop:
        """The same for runs, which know no GTIDs."""
        return Stop(self.file, self.offset, self.seconds)

    def is_behind(self, point: ResumePoint) -> bool:
        """Tell whether a place is at the end or behind it."""
        if self.gtids is not None and point.gtids is not None:
            return bool(self.gtids <= point.gtids)  # type: ignore[operator]
        if not self.file or not point.file:
            return False
        return (log_order(point.file), point.offset) >= (log_order(self.file), self.offset)

    def is_over(self) -> bool:
        """Tell whether the time to end at has come: what the server has nothing of now would be too late."""
        return bool(self.seconds) and time.time() + self.clock_ahead > self.seconds


def find_until(connection: Connection, text: str | None) -> Until:
    """Find an end on a server.

    end                             what is there now
    binlog.000003:154               a file and position
    3e11fa47-…:1-5, 0-1-270         GTIDs of MySQL, a GTID position of MariaDB
    timestamp:2026-11-15T09:30:00Z  a time, with its zone; `timestamp:` may be left out
    """
    if text is None:
        return Until()
    if text.strip() == END:
        end = log_end(connection)
        gtids = end.gtids if identify(connection).gtids_enabled else None
        return Until(end.file, end.offset, gtids)
    match parse_until(text):
        case AtFile(file, offset):
            return Until(file, offset)
        case AtGtids(gtids):
            return Until(gtids=gtids)
        case AtTime() as moment:
            now = float(connection.rows("SELECT UNIX_TIMESTAMP(NOW(6))")[0][0])
            return Until(seconds=moment.seconds, clock_ahead=now - time.time())


def parse_until(text: str) -> AtFile | AtGtids | AtTime:
    """Parse the text of an end other than what is there now."""
    try:
        parsed = parse_start(text)
    except OptionError:
        parsed = _bare_time(text)
    if not isinstance(parsed, AtFile | AtGtids | AtTime) or parsed == AtGtids(GtidSet()):
        raise _wrong(text)
    return parsed


def _bare_time(text: str) -> AtTime:
    try:
        return AtTime(datetime.fromisoformat(text.strip()))
    except (ValueError, OptionError):
        raise _wrong(text) from None


def _wrong(text: str) -> OptionError:
    return OptionError(f"until: {text!r} is neither end, file:position, GTIDs nor a time such as 2026-11-15T09:30:00Z")
