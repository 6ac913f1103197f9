"""What a number means to a person: times spelled out, flags and codes by name.

A decoder hands one of these to the cursor beside the field's name. Only a recording cursor ever calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import IntEnum, IntFlag
from typing import Any

type_of_meaning = Callable[[Any], str]
Meaning = type_of_meaning | None

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


def flags(names: type[IntFlag]) -> type_of_meaning:
    """Return a meaning that names the bits which are set; bits without a name are shown in hex."""

    def meaning(value: int) -> str:
        if value == 0:
            return "no flags"
        known = [flag for flag in names if value & flag]
        unnamed = value & ~sum(known)
        words = [flag.name or hex(flag) for flag in known]
        return " | ".join([*words, hex(unnamed)] if unnamed else words)

    return meaning


def code(names: type[IntEnum]) -> type_of_meaning:
    """Return a meaning that gives a code its name."""

    def meaning(value: int) -> str:
        return names(value).name if value in names._value2member_map_ else f"unknown code {value}"

    return meaning


def says(text: str) -> type_of_meaning:
    """Return a meaning that is the same for every value."""
    return lambda _value: text
