"""Parsers of option values. Each accepts text, from the command line and Spark, or a value in Python."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from enum import StrEnum
from typing import NamedTuple, TypeVar

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SIZE = re.compile(r"(\d+)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_SHIFTS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}
_OFFSET = re.compile(r"([+-])(\d{1,2}):?(\d{2})?")
_MAX_OFFSET_MINUTES = 14 * 60
_PATTERN = frozenset("*?[")
_QUOTED = re.compile(r"`((?:[^`]|``)*)`")
_TABLE_NAME = re.compile(r"(?:`(?:[^`]|``)*`|[^`,])+")
_TABLES = "schema.table, or a pattern such as 'shop.*'"
_DOT = re.compile(r"`\s*\.\s*`")
_SPACE_BEFORE_OFFSET = re.compile(r"\s+(?=[+-]\d\d(?::?\d\d)?$)")
_IN_UTC = re.compile(r"(?<=\d)\s*(?:UTC|GMT|Z)$", re.IGNORECASE)
_Chosen = TypeVar("_Chosen", bound=StrEnum)


class FilePosition(NamedTuple):
    """A position as people type it: the offset of an event in a file. Without a file it is in the first or last log."""

    file: str
    offset: int

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}" if self.file else str(self.offset)


class InvalidValue(ValueError):
    """A value is not valid: `must be positive, got -1`. The caller puts the name of the option before it."""

    def __init__(self, expected: str, found: object, reason: str = "") -> None:
        super().__init__(f"must be {expected}, got {found!r}" + (f": {reason}" if reason else ""))


def text(value: object) -> str:
    """Return any text as it is."""
    return str(value)


def flag(value: bool | str) -> bool:
    """Parse `true` or `false`."""
    if isinstance(value, bool):
        return value
    known = {"true": True, "false": False}
    if value.lower() not in known:
        raise InvalidValue("true or false", value)
    return known[value.lower()]


def integer(value: int | str) -> int:
    """Parse an integer."""
    try:
        return int(value)
    except (TypeError, ValueError):
        raise InvalidValue("an integer", value) from None


def integer_in(low: int, high: int | None = None) -> Callable[[int | str], int]:
    """Return the parser of an integer in a range, both ends included."""
    expected = f"{low} or more" if high is None else f"from {low} to {high}"

    def parse(value: int | str) -> int:
        number = integer(value)
        if number < low or (high is not None and number > high):
            raise InvalidValue(expected, value)
        return number

    return parse


positive = integer_in(1)


def position_from(low: int) -> Callable[[int | str | FilePosition], FilePosition]:
    """Return the parser of a position: an offset of at least `low`, or FILE:OFFSET."""
    offset_in = integer_in(low)

    def parse(value: int | str | FilePosition) -> FilePosition:
        if isinstance(value, FilePosition):
            return value
        if isinstance(value, int):
            return FilePosition("", offset_in(value))
        file, colon, offset = str(value).rpartition(":")
        if colon and not (file and offset.isdecimal()):
            raise InvalidValue("an offset, or FILE:OFFSET", value)
        try:
            return FilePosition(file, offset_in(offset))
        except InvalidValue:
            if offset.lstrip("-").isdecimal():
                raise
            raise InvalidValue("an offset, or FILE:OFFSET", value) from None

    return parse


port = integer_in(1, 65535)


def _seconds(value: float | str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidValue("a number of seconds", value) from None


def seconds(value: float | str) -> float:
    """Parse a time span in seconds, which may have a fraction."""
    number = _seconds(value)
    if not 0 < number < math.inf:
        raise InvalidValue("positive", value)
    return number


def seconds_or_zero(value: float | str) -> float:
    """Parse a time span in seconds, which may be 0."""
    number = _seconds(value)
    if not 0 <= number < math.inf:
        raise InvalidValue("0 or more", value)
    return number


def days(value: float | str) -> float:
    """Parse a time span in days, which may have a fraction."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InvalidValue("a number of days", value) from None
    if not 0 < number < math.inf:
        raise InvalidValue("positive", value)
    return number


_SPAN = re.compile(r"(\d+(?:\.\d*)?)\s*(ms|s|m|h|d)?", re.IGNORECASE)
_UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def time_span(value: float | str) -> float:
    """Parse a time span, in seconds or with a unit: 30, 500ms, 30s, 5m, 1h, 7d. It may be 0."""
    match = _SPAN.fullmatch(str(value).strip())
    if match is None:
        raise InvalidValue("a time span such as 30s, 5m, 1h or 7d", value)
    return float(match[1]) * _UNITS[(match[2] or "").lower()]


def size(value: int | str) -> int:
    """Parse a size in bytes: 500000, 500k, 64 MB, 2 GiB, 1T. Units are powers of 1024."""
    match = _SIZE.fullmatch(str(value).strip())
    if match is None:
        raise InvalidValue("a size such as 500000, 64m or 2 GB", value)
    number = int(match[1]) << _SHIFTS[match[2].lower()]
    if number < 1:
        raise InvalidValue("positive", value)
    return number


def names(value: str | Iterable[str]) -> tuple[str, ...]:
    """Parse several names: a text with commas, or an iterable of such texts."""
    return tuple(part.strip() for one in _texts(value, "names") for part in one.split(",") if part.strip())


def _texts(value: object, expected: str) -> list[str]:
    """Return one or several texts as a list."""
    found = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [value]
    texts = [one for one in found if isinstance(one, str)]
    if len(texts) < len(found):
        raise InvalidValue(expected, value)
    return texts


def is_pattern(table: str) -> bool:
    """Return whether a table name is a pattern, which may match several tables."""
    return not _PATTERN.isdisjoint(table)


def tables(value: str | Iterable[str]) -> frozenset[str]:
    """Parse names of tables and patterns, which may be written in backticks, as in SQL."""
    texts = _texts(value, _TABLES)
    parts = [part for one in texts for part in _TABLE_NAME.findall(_with_pairs(one)) if part.strip()]
    found = frozenset(map(_without_backticks, parts))
    for name in found:
        if "." not in name and not is_pattern(name):
            raise InvalidValue(_TABLES, name)
    return found


def table(value: str) -> str:
    """Parse the name of one table, which may be written in backticks, as in SQL."""
    if not isinstance(value, str):
        raise InvalidValue("the name of one table, schema.table", value)
    found = _without_backticks(_with_pairs(value))
    schema, dot, name = found.partition(".")
    if not dot or not schema or not name or is_pattern(found):
        reason = "use tables for patterns" if is_pattern(found) else ""
        raise InvalidValue("the name of one table, schema.table", value, reason)
    return found


def _with_pairs(text: str) -> str:
    """Refuse a backtick that is not closed."""
    if text.count("`") % 2:
        raise InvalidValue("schema.table, with backticks in pairs", text)
    return text


def _without_backticks(name: str) -> str:
    """Return a name as logs have it: `` `shop`.`orders` `` is shop.orders."""
    return _QUOTED.sub(lambda quoted: quoted[1].replace("``", "`"), _DOT.sub("`.`", name.strip()))


def one_of(kind: type[_Chosen]) -> Callable[[str], _Chosen]:
    """Return the parser of one of the values of an enumeration, in any case."""
    known = {member.value.lower(): member for member in kind}

    def parse(value: str) -> _Chosen:
        if str(value).lower() not in known:
            raise InvalidValue(listed(kind), value)
        return known[str(value).lower()]

    return parse


def listed(choices: Iterable[str]) -> str:
    """Return choices as `a, b or c`."""
    *most, last = choices
    return f"{', '.join(most)} or {last}" if most else last


def zone(value: str | tzinfo) -> tzinfo:
    """Parse a time zone: `UTC`, `local`, `Europe/Berlin`, `+02:00`."""
    if isinstance(value, tzinfo):
        return value
    if value.upper() in ("UTC", "Z"):
        return UTC
    if value.lower() in ("local", "system"):
        return _LocalZone()
    if match := _OFFSET.fullmatch(value):
        minutes = int(match[2]) * 60 + int(match[3] or 0)
        if minutes <= _MAX_OFFSET_MINUTES:
            return timezone(timedelta(minutes=-minutes if match[1] == "-" else minutes))
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # few need it

    try:
        return ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidValue("a time zone: UTC, local, a name such as Europe/Berlin, or +02:00", value) from None


class _LocalZone(tzinfo):
    """The time zone of this machine."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """Return the offset of the machine's zone at a local time."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, _moment: datetime | None) -> timedelta | None:
        """Return None: whether it is summer there is not needed."""
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        """Return the name of the machine's zone at a local time."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, moment: datetime) -> datetime:
        """Return the local time of a time in UTC."""
        return moment.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)


def in_zone(value: datetime | str | int, zone: tzinfo) -> datetime | str | int:
    """Return a time with this time zone if it has none; a text that is not a time as it is."""
    if isinstance(value, int):
        return value
    try:
        return time(value, zone)
    except InvalidValue:
        return value


def time_seconds(value: datetime | str | int) -> int:
    """Parse a time into seconds since 1970, as events have them; a fraction is rounded up."""
    return value if isinstance(value, int) else max(0, math.ceil(time(value).timestamp()))


def time_microseconds(value: datetime | str | int) -> int:
    """Parse a time into microseconds since 1970, as commits have them."""
    if isinstance(value, int):
        return value * 1_000_000
    return max(0, (time(value) - _EPOCH) // timedelta(microseconds=1))


def time(value: datetime | str, zone: tzinfo = UTC) -> datetime:
    """Parse a time; without a time zone it is in `zone`."""
    try:
        found = datetime.fromisoformat(_iso(value)) if isinstance(value, str) else value
    except ValueError:
        raise InvalidValue("a time such as 2026-11-15 09:30:00", value) from None
    return found if found.tzinfo else found.replace(tzinfo=zone)


def _iso(text: str) -> str:
    """Return a time with its zone as ISO 8601 writes it: without a space before it, and as a number."""
    return _SPACE_BEFORE_OFFSET.sub("", _IN_UTC.sub("+00:00", text.strip()))
