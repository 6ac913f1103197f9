"""Times as people read them: in a time zone, which is shown with each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

_COLON = 3
"""Where the colon of an offset such as `+0100` belongs."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Writes times in a time zone: `2026-11-15 09:30:00Z` in UTC, `2026-11-15 10:30:00+01:00` elsewhere.

    What is written can be given as an option again, with the same meaning.
    """

    zone: tzinfo = UTC

    def text(self, seconds: int) -> str:
        """Return seconds since 1970 as a time."""
        moment = datetime.fromtimestamp(seconds, self.zone)
        return f"{moment:%Y-%m-%d %H:%M:%S}{self._label(moment)}"

    @property
    def width(self) -> int:
        """How many characters a time has."""
        return len(self.text(0))

    def minute(self, seconds: int) -> str:
        """Return a time without its seconds."""
        moment = datetime.fromtimestamp(seconds, self.zone)
        return f"{moment:%Y-%m-%d %H:%M}{self._label(moment)}"

    def start_of(self, unit: str, seconds: int) -> int:
        """Return when the minute, hour or day began that a time is in."""
        moment = datetime.fromtimestamp(seconds, self.zone).replace(second=0)
        if unit != "minute":
            moment = moment.replace(minute=0)
        if unit == "day":
            moment = moment.replace(hour=0)
        return int(moment.timestamp())

    def _label(self, moment: datetime) -> str:
        if self.zone is UTC:
            return "Z"
        offset = f"{moment:%z}"
        return f"{offset[:_COLON]}:{offset[_COLON:]}"


UTC_CLOCK = Clock()
