"""Literals as values of a column's type, and columns in the form in which they are compared with them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from binspark.columns.where.condition import Literal

_MICROSECONDS = 1_000_000
_MOMENT = re.compile(
    r"\s*(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:[ T]+(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6})\d*)?)?)?"
    r"\s*(Z|[+-]\d{1,2}:\d{2})?\s*",
    re.IGNORECASE,
)
_TIME = re.compile(r"\s*(-?)(\d{1,3}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6})\d*)?)?\s*")
_EXPONENT = re.compile(r"[eE][+-]?(\d+)")
MAX_EXPONENT = 400
"""Numbers with a larger exponent are those of no column, and take long to calculate with."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UTC_SUFFIX = "+00:00"


class Mismatch(ValueError):
    """A literal is not a value of the type that it is compared with."""


def number(literal: Literal) -> Fraction:
    """Return a literal as a number; one in hexadecimal is a big-endian integer."""
    if isinstance(literal, bytes):
        return Fraction(int.from_bytes(literal, "big"))
    if isinstance(literal, str):
        exponent = _EXPONENT.search(literal)
        if exponent is not None and (len(exponent[1]) > len(str(MAX_EXPONENT)) or int(exponent[1]) > MAX_EXPONENT):
            raise Mismatch("a number")
        try:
            return Fraction(literal.strip())
        except (ValueError, ZeroDivisionError):
            raise Mismatch("a number") from None
    return literal


def string(literal: Literal) -> str:
    """Return a literal as text."""
    if isinstance(literal, Fraction):
        raise Mismatch("text, in quotes")
    try:
        return literal.decode() if isinstance(literal, bytes) else literal
    except UnicodeDecodeError:
        raise Mismatch("text") from None


def binary(literal: Literal) -> bytes:
    """Return a literal as bytes."""
    if isinstance(literal, Fraction):
        raise Mismatch("bytes, as text in quotes or in hexadecimal (0x…)")
    return literal.encode() if isinstance(literal, str) else literal


def span(literal: Literal) -> int:
    """Return a TIME in microseconds."""
    match = _TIME.fullmatch(literal) if isinstance(literal, str) else None
    if match is None:
        raise Mismatch("a time such as '12:30:00'")
    sign, hours, minutes, seconds, fraction = match.groups()
    total = (int(hours) * 60 + int(minutes)) * 60 + int(seconds or 0)
    return (-1 if sign else 1) * (total * _MICROSECONDS + int((fraction or "").ljust(6, "0")))


def moment_text(literal: Literal, *, with_time: bool, in_utc: bool, digits: int = 0) -> str:
    """Return a date or time as columns have it that keep zero dates: as text, which orders as the times do.

    A fraction has at least as many digits as those of the column; more, if it has more than they can.
    """
    match = _MOMENT.fullmatch(literal) if isinstance(literal, str) else None
    if match is None or (match[8] and not in_utc):
        raise Mismatch("a date or time such as '2026-11-15 09:30:00'" if with_time or not match else "a local time")
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    fraction = (match[7] or "").rstrip("0").ljust(digits, "0")
    if match[8] and match[8].upper() != "Z":
        year, month, day, hour, minute, second = _moved(match[8], year, month, day, hour, minute, second)
    date = f"{year:04d}-{month:02d}-{day:02d}"
    clock = f"{hour:02d}:{minute:02d}:{second:02d}" + (f".{fraction}" if fraction else "")
    if not with_time and match[4] is None:
        return date
    is_zero = (year, month, day) == (0, 0, 0)
    return f"{date} {clock}" + (UTC_SUFFIX if in_utc and with_time and not is_zero else "")


def moment_microseconds(literal: Literal, *, in_utc: bool) -> int:
    """Return a date or time in microseconds since 1970."""
    text = moment_text(literal, with_time=True, in_utc=in_utc).removesuffix(UTC_SUFFIX)
    try:
        moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        raise Mismatch("a date in the calendar") from None
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _moved(zone: str, *parts: int) -> tuple[int, ...]:
    hours, minutes = zone[1:].split(":")
    shift = timedelta(hours=int(hours), minutes=int(minutes))
    try:
        moment = datetime(*parts) + (shift if zone[0] == "-" else -shift)  # type: ignore[arg-type]
    except (ValueError, OverflowError):
        raise Mismatch("a date in the calendar") from None
    return moment.timetuple()[:6]
