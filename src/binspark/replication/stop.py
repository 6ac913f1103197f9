"""Where to stop following: at a position, at a time, at the end of the log."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, tzinfo

from binspark.errors import OptionError
from binspark.gtid import GtidSet
from binspark.replication.gtids import includes
from binspark.replication.position import BinlogPosition
from binspark.replication.start import AtTime, Latest, parse_start

_END = "end"


@dataclass(frozen=True, slots=True)
class StopCondition:
    """Where following stops; by default never.

    position     the transaction that ends there, or the first one after it, is the last. Without a file: the last one
                 is that with which all of its GTIDs have been delivered
    seconds      no transaction that begins at this time or later, in seconds since 1970 by the server's clock
    clock_ahead  by how many seconds the server's clock is ahead of this machine's
    end_of_log   stop where the log ends, instead of waiting for more
    is_written   whether the server had written the position already when it was found
    """

    position: BinlogPosition | None = None
    seconds: int = 0
    clock_ahead: float = 0.0
    end_of_log: bool = False
    is_written: bool = False

    @property
    def file(self) -> str:
        """The file of the position; empty if there is none."""
        return "" if self.position is None else self.position.file

    @property
    def needs_gtids(self) -> bool:
        """Whether only GTIDs say where to stop."""
        return self.position is not None and not self.position.file

    def offset_in(self, file: str) -> int:
        """Return the offset to stop at, if it is in this file; 0 if it is not."""
        return self.position.offset if self.position is not None and self.position.file == file else 0

    def is_reached(self, position: BinlogPosition) -> bool:
        """Return whether a position is the one to stop at, or after it: by GTIDs if both have them, else by file."""
        stop = self.position
        if stop is None:
            return False
        if stop.gtids is not None and position.gtids is not None:
            return includes(position.gtids, stop.gtids)
        if not stop.file or not position.file or _differ(stop.server, position.server):
            return False
        return position.order >= stop.order

    def is_time_over(self) -> bool:
        """Return whether the time has come: whatever the server has not written by now would be too late."""
        return bool(self.seconds) and time.time() + self.clock_ahead > self.seconds


NEVER = StopCondition()


Stop = Latest | AtTime | BinlogPosition
"""Where to stop, before a server has found it: where it writes now, at a time, at a position."""


def parse_stop(text: str, zone: tzinfo = UTC) -> Stop:
    """Parse the text of a stop; a time without a time zone is in `zone`.

    end                             what is there now
    binlog.000003:154               a file and offset
    3e11fa47-…:1-5, 0-1-270         GTIDs of MySQL, a GTID position of MariaDB
    timestamp:2026-11-15T09:30:00Z  a time; `timestamp:` may be omitted
    """
    if text.strip().lower() == _END:
        return Latest()
    try:
        parsed = parse_start(text, zone)
    except OptionError:
        raise _wrong(text) from None
    if not isinstance(parsed, BinlogPosition | AtTime) or parsed == BinlogPosition.after_gtids(GtidSet()):
        raise _wrong(text)
    return parsed


def _wrong(text: str) -> OptionError:
    expected = "must be end, file:position, GTIDs or a time such as 2026-11-15T09:30:00Z"
    return OptionError(f"{expected}, got {text!r}", option="until")


def _differ(server: str, other: str) -> bool:
    return bool(server) and bool(other) and server != other
