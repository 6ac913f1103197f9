"""Times as the servers' own tools print them, in one time zone."""

from __future__ import annotations

from datetime import datetime, tzinfo
from functools import lru_cache

_MICROSECONDS = 1_000_000
_LATEST = 253402214400
"""Seconds since 1970 up to which Python knows the calendar in every time zone."""


class Clock:
    """Prints times in a time zone. Events of the same second are printed once."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self.short = lru_cache(maxsize=64)(self._short)
        self.long = lru_cache(maxsize=64)(self._long)

    def microseconds(self, timestamp: int) -> bytes:
        """Return a time in microseconds as `2026-11-15 09:30:00.123456 UTC`."""
        day, name = self.long(timestamp // _MICROSECONDS)
        return b"%b.%06d %b" % (day, timestamp % _MICROSECONDS, name)

    def _short(self, timestamp: int) -> bytes:
        """Return a time in seconds as `261115  9:30:00`."""
        moment = self._moment(timestamp)
        day = b"%02d%02d%02d" % (moment.year % 100, moment.month, moment.day)
        return b"%b %2d:%02d:%02d" % (day, moment.hour, moment.minute, moment.second)

    def _long(self, timestamp: int) -> tuple[bytes, bytes]:
        """Return a time in seconds as `2026-11-15 09:30:00`, and the name of its time zone."""
        moment = self._moment(timestamp)
        return moment.strftime("%Y-%m-%d %H:%M:%S").encode(), (moment.tzname() or "").encode()

    def _moment(self, timestamp: int) -> datetime:
        return datetime.fromtimestamp(min(timestamp, _LATEST), self._zone)
