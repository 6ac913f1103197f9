"""Event types as people write them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import click

from binspark.frames import EventCode

# A name that stands for the same thing in both families.
_ALSO = {"GTID": (EventCode.GTID, EventCode.GTID_TAGGED, EventCode.MARIADB_GTID)}


def wanted_types(names: Iterable[str]) -> frozenset[int]:
    """Return the type codes that names mean; a misspelt name is refused with the nearest right one."""
    return frozenset(code for name in names for code in _codes(name))


def _codes(name: str) -> tuple[int, ...]:
    wanted = name.upper().removesuffix("_EVENT")
    if wanted in _ALSO:
        return _ALSO[wanted]
    if wanted in EventCode.__members__:
        return (EventCode[wanted],)
    near = difflib.get_close_matches(wanted, EventCode.__members__, n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise click.BadParameter(f"no event type is called {name}{hint}", param_hint="--type")
