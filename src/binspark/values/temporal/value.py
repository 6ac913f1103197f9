"""Dates and times as values: their text as the server prints it, and their numbers for Arrow columns.

Zero dates, partial dates and dates that are not in the calendar are values, too; only their number is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECONDS = 1_000_000
_DAY_MICROSECONDS = 86_400 * MICROSECONDS


@dataclass(frozen=True, slots=True)
class Date:
    """DATE. Each part may be 0, and the day may be one that does not exist in its month."""

    year: int
    month: int
    day: int

    def text(self) -> str:
        """Return the date as SQL writes it: `YYYY-MM-DD`."""
        return f"{self.year:04d}-{self.month:02d}-{self.day:02d}"

    @property
    def days(self) -> int | None:
        """Days since 1970-01-01 in the proleptic Gregorian calendar; None for a date that is not in it."""
        try:
            return date(self.year, self.month, self.day).toordinal() - _EPOCH_ORDINAL
        except ValueError:
            return None


@dataclass(frozen=True, slots=True)
class Time:
    """TIME: a signed duration; `digits` is the number of fractional digits that are shown."""

    microseconds: int
    digits: int = 0

    def text(self) -> str:
        """Return the time as SQL writes it, with as many fractional digits as its column has."""
        seconds, fraction = divmod(abs(self.microseconds), MICROSECONDS)
        minutes, second = divmod(seconds, 60)
        hour, minute = divmod(minutes, 60)
        sign = "-" if self.microseconds < 0 else ""
        return f"{sign}{hour:02d}:{minute:02d}:{second:02d}{_fraction(fraction, self.digits)}"


@dataclass(frozen=True, slots=True)
class DateTime:
    """DATETIME: a date and a time of day, in no time zone."""

    date: Date
    hour: int = 0
    minute: int = 0
    second: int = 0
    microsecond: int = 0
    digits: int = 0

    def text(self) -> str:
        """Return date and time as SQL writes them, with as many fractional digits as the column has."""
        clock = f"{self.hour:02d}:{self.minute:02d}:{self.second:02d}"
        return f"{self.date.text()} {clock}{_fraction(self.microsecond, self.digits)}"

    @property
    def microseconds(self) -> int | None:
        """Microseconds since 1970-01-01 00:00:00; None if the date is not in the calendar."""
        days = self.date.days
        if days is None:
            return None
        seconds = (self.hour * 60 + self.minute) * 60 + self.second
        return days * _DAY_MICROSECONDS + seconds * MICROSECONDS + self.microsecond


@dataclass(frozen=True, slots=True)
class Timestamp:
    """TIMESTAMP: a point in time, as seconds since 1970 in UTC. 0 is the server's zero date."""

    seconds: int
    microsecond: int = 0
    digits: int = 0

    def text(self) -> str:
        """Return what a server prints in the time zone +00:00, and that zone; the zero date has none."""
        if self.microseconds is None:
            return "0000-00-00 00:00:00" + _fraction(0, self.digits)
        moment = _EPOCH + timedelta(seconds=self.seconds)
        return f"{moment:%Y-%m-%d %H:%M:%S}" + _fraction(self.microsecond, self.digits) + "+00:00"

    @property
    def microseconds(self) -> int | None:
        """Microseconds since 1970-01-01 00:00:00 UTC; None for the zero date."""
        return self.seconds * MICROSECONDS + self.microsecond or None


def _fraction(microsecond: int, digits: int) -> str:
    return f".{microsecond:06d}"[: digits + 1] if digits else ""
