"""Where to start: earliest, latest, a position, a time. Values, and their text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from binspark.errors import OptionError
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.options import values
from binspark.replication.gtids import parse_gtids
from binspark.replication.position import BinlogPosition

_FILE = re.compile(r"([^:/\\\s]+\.\d+)(?::(\d+))?")
_TIME_PREFIX = "timestamp:"
_GTID_PREFIX = "gtid:"
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d", re.IGNORECASE)  # 2026-11-15 alone is a GTID of MariaDB


@dataclass(frozen=True, slots=True)
class Earliest:
    """The oldest log that the server still has."""

    def __str__(self) -> str:
        return "earliest"


@dataclass(frozen=True, slots=True)
class Latest:
    """Where the server writes now."""

    def __str__(self) -> str:
        return "latest"


@dataclass(frozen=True, slots=True)
class AtTime:
    """The first transaction that began at this time or later."""

    time: datetime

    def __post_init__(self) -> None:
        if self.time.tzinfo is None:
            raise OptionError(f"must have a time zone, got {self.time.isoformat()}; append Z for UTC", option="start")

    @property
    def seconds(self) -> int:
        """Whole seconds since 1970, as logs have them, rounded up."""
        return -int(-self.time.timestamp() // 1)

    def __str__(self) -> str:
        return _TIME_PREFIX + self.time.astimezone(UTC).isoformat().replace("+00:00", "Z")


Start = Earliest | Latest | AtTime | BinlogPosition
"""Where to start. A position without a server is one in the logs of whichever server is reached."""


def parse_start(text: str, zone: tzinfo = UTC) -> Start:
    """Parse the text of a start; a time without a time zone is in `zone`.

    earliest                        the oldest log
    latest                          what is written from now on
    binlog.000003:154               a file and offset; without offset, its beginning
    3e11fa47-…:1-5, 0-1-270         a GTID set of MySQL, a GTID position of MariaDB; `gtid:` alone is the empty set
    timestamp:2026-11-15T09:30:00Z  a time; `timestamp:` may be omitted
    {"v": 1, "file": …}             what `str` of a position returned
    """
    stripped = text.strip()
    if stripped.lower() in ("earliest", "latest"):
        return Earliest() if stripped.lower() == "earliest" else Latest()
    if stripped.startswith("{"):
        return BinlogPosition.parse(stripped)
    if stripped.startswith(_TIME_PREFIX):
        return AtTime(_time(stripped.removeprefix(_TIME_PREFIX), zone))
    if _TIME.match(stripped):
        return AtTime(_time(stripped, zone))
    in_file = _FILE.fullmatch(stripped)
    if in_file:
        return _in_file(in_file[1], int(in_file[2] or FIRST_EVENT_OFFSET))
    try:
        return BinlogPosition.after_gtids(parse_gtids(stripped.removeprefix(_GTID_PREFIX)))
    except OptionError:
        problem = f"must be earliest, latest, file:position, GTIDs or timestamp:…, got {text!r}"
        raise OptionError(problem, option="start") from None


def _in_file(file: str, offset: int) -> BinlogPosition:
    if offset < FIRST_EVENT_OFFSET:
        raise OptionError(
            f"must be at an event, the first of which is at {FIRST_EVENT_OFFSET}, got {offset}", option="start"
        )
    return BinlogPosition(file, offset)


def _time(text: str, zone: tzinfo) -> datetime:
    try:
        return values.time(text, zone)
    except values.InvalidValue:
        raise OptionError(f"must be a time such as 2026-11-15T09:30:00Z, got {text!r}", option="start") from None
