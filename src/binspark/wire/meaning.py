"""What `explain` prints beside a value: times spelled out, flags and codes by name.

A decoder passes one of these functions to the cursor with the field's name. Only a recording cursor calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import IntEnum, IntFlag
from typing import Any

MeaningFunction = Callable[[Any], str]
Meaning = MeaningFunction | None

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def seconds(value: int) -> str:
    """Spell out seconds since 1970."""
    if value == 0:
        return "no time"
    return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M:%S} UTC"


def microseconds(value: int) -> str:
    """Spell out microseconds since 1970."""
    if value == 0:
        return "no time"
    try:
        return f"{_EPOCH + timedelta(microseconds=value):%Y-%m-%d %H:%M:%S.%f} UTC"
    except OverflowError:
        return "beyond the year 9999"


def server_version(value: int) -> str:
    """Spell out a server version that is packed into a number: 80040 is 8.0.40."""
    return f"{value // 10000}.{value % 10000 // 100}.{value % 100}"


def quantity(unit: str, detail: str = "") -> MeaningFunction:
    """Return a meaning that adds a unit to a number: `1 byte`, `7 bytes`."""

    def meaning(value: int) -> str:
        words = f"{value} {unit}" if value == 1 else f"{value} {unit}s"
        return f"{words}, {detail}" if detail else words

    return meaning


def flags(names: type[IntFlag]) -> MeaningFunction:
    """Return a meaning that names the bits that are set; bits without a name are shown in hex."""

    def meaning(value: int) -> str:
        if value == 0:
            return "no flags"
        known = [flag for flag in names if value & flag]
        unnamed = value & ~sum(known)
        words = [flag.name or hex(flag) for flag in known]
        return f"0x{value:x} = " + " | ".join([*words, hex(unnamed)] if unnamed else words)

    return meaning


def code(names: type[IntEnum]) -> MeaningFunction:
    """Return a meaning that shows the name of a code."""

    def meaning(value: int) -> str:
        return names(value).name if value in names._value2member_map_ else f"unknown code {value}"

    return meaning


def as_text(value: bytes) -> str:
    """Show bytes as text whose character set is not known here; what is not UTF-8 is escaped."""
    return value.decode(errors="backslashreplace")


def as_padded_text(value: bytes) -> str:
    """Show bytes as text that is padded with zero bytes."""
    return as_text(value.partition(b"\0")[0])


def bits_high_first(value: bytes) -> str:
    """Name the bits that are set, the highest bit of each byte first, counted from 1."""
    bits = [byte >> shift & 1 for byte in value for shift in range(7, -1, -1)]
    numbers = [str(index + 1) for index, bit in enumerate(bits) if bit]
    return f"bits that are set: {', '.join(numbers)}" if numbers else "no bit is set"


def note(text: str) -> MeaningFunction:
    """Return a meaning that is the same for every value."""
    return lambda _value: text
