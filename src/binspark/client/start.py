"""Where to start: earliest, latest, a file and position, GTIDs, a time. Values, and their text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from binspark.errors import BinlogError, OptionError
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.gtid import GtidSet, MariadbPosition

_FILE = re.compile(r"([^:/\\\s]+\.\d+)(?::(\d+))?")
_TIME_PREFIX = "timestamp:"
_GTID_PREFIX = "gtid:"


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
class AtFile:
    """A place in one of the server's logs, where an event begins."""

    file: str
    offset: int = FIRST_EVENT_OFFSET

    def __post_init__(self) -> None:
        if self.offset < FIRST_EVENT_OFFSET:
            raise OptionError(f"start: no event begins at {self.offset}; the first one is at {FIRST_EVENT_OFFSET}")

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


@dataclass(frozen=True, slots=True)
class AtGtids:
    """Everything but these transactions, which the reader has."""

    gtids: GtidSet | MariadbPosition

    def __str__(self) -> str:
        text = str(self.gtids)
        return text or _GTID_PREFIX


@dataclass(frozen=True, slots=True)
class AtTime:
    """The first transaction that began at this time or later."""

    time: datetime

    def __post_init__(self) -> None:
        if self.time.tzinfo is None:
            raise OptionError(f"start: {self.time.isoformat()} lacks its time zone; Z is UTC")

    @property
    def seconds(self) -> int:
        """Whole seconds since 1970, as logs have them, rounded up."""
        return -int(-self.time.timestamp() // 1)

    def __str__(self) -> str:
        return _TIME_PREFIX + self.time.astimezone(UTC).isoformat().replace("+00:00", "Z")


StartFrom = Earliest | Latest | AtFile | AtGtids | AtTime


def parse_start(text: str) -> StartFrom:
    """Parse the text of a start.

    earliest                        the oldest log
    latest                          what comes from now on
    binlog.000003:154               a file and position; without position, its beginning
    3e11fa47-…:1-5, 0-1-270         a GTID set of MySQL, a GTID position of MariaDB; `gtid:` alone is the empty set
    timestamp:2026-11-15T09:30:00Z  a time, with its zone
    """
    stripped = text.strip()
    if stripped in ("earliest", "latest"):
        return Earliest() if stripped == "earliest" else Latest()
    if stripped.startswith(_TIME_PREFIX):
        return AtTime(_time(stripped.removeprefix(_TIME_PREFIX)))
    place = _FILE.fullmatch(stripped)
    if place:
        return AtFile(place[1], int(place[2] or FIRST_EVENT_OFFSET))
    try:
        return AtGtids(parse_gtids(stripped.removeprefix(_GTID_PREFIX)))
    except OptionError:
        message = f"start: {text!r} is neither earliest, latest, file:position, GTIDs nor timestamp:…"
        raise OptionError(message) from None


def parse_gtids(text: str) -> GtidSet | MariadbPosition:
    """Parse a GTID set of MySQL or a GTID position of MariaDB; an empty text is the empty set."""
    for kind in (GtidSet, MariadbPosition):
        try:
            return kind(text)
        except BinlogError:
            continue
    raise OptionError(f"{text!r} is neither a GTID set of MySQL nor a GTID position of MariaDB")


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise OptionError(f"start: {text!r} is not a time such as 2026-11-15T09:30:00Z") from None
