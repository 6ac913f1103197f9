"""How a rule looks at facts: what is found, if anything is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from binspark.doctor.facts import Facts, TableFacts, TableName

_SHOWN_TABLES = 5


class Found(NamedTuple):
    """What hurts: a setting and its value. Of tables, one that stands for all."""

    setting: str
    value: str
    table: TableName | None = None


Check = Callable[[Facts, Sequence[str]], Found | None]
"""Looks at facts; is given the names of the setting that the rule is about."""


def value_where(hurts: Callable[[str, Facts], bool]) -> Check:
    """Find a variable whose value hurts. A server that does not have the variable is not hurt by it."""

    def check(facts: Facts, names: Sequence[str]) -> Found | None:
        name = facts.setting(names)
        if name is None or not hurts(facts.variables[name], facts):
            return None
        return Found(name, facts.variables[name] or "empty")

    return check


def value_is(*bad: str) -> Check:
    """Find a variable with one of these values."""
    return value_where(lambda value, _: value in bad)


def value_is_not(*good: str) -> Check:
    """Find a variable with none of these values."""
    return value_where(lambda value, _: value not in good)


def value_between(low: float, high: float) -> Check:
    """Find a variable that is a number above `low` and below `high`."""
    return value_where(lambda value, _: low < float(value) < high)


def is_missing(facts: Facts, names: Sequence[str]) -> Found | None:
    """Find that a server does not have a variable."""
    return None if facts.setting(names) else Found(names[0], "not known to this server")


def said(look: Callable[[Facts], str]) -> Check:
    """Find what a function says; nothing if that is empty."""

    def check(facts: Facts, names: Sequence[str]) -> Found | None:
        value = look(facts)
        return Found(names[0], value) if value else None

    return check


def missing_privilege(*names: str) -> Check:
    """Find that the user has none of these privileges on everything."""
    return said(lambda facts: "" if facts.grants.any_of(*names) else f"no {names[0]} on *.*")


def tables_with(what: str, choose: Callable[[TableFacts], Sequence[TableName]]) -> Check:
    """Find tables, if anybody looked at them. `what` is what they have."""

    def check(facts: Facts, names: Sequence[str]) -> Found | None:
        tables = choose(facts.tables) if facts.tables is not None else ()
        return Found(names[0], f"{what} in {_listed(tables)}", tables[0]) if tables else None

    return check


def unless(is_fine: Callable[[Facts], bool], check: Check) -> Check:
    """Find the same, except where something makes up for it."""
    return lambda facts, names: None if is_fine(facts) else check(facts, names)


def _listed(tables: Sequence[TableName]) -> str:
    shown = ", ".join(map(str, tables[:_SHOWN_TABLES]))
    more = len(tables) - _SHOWN_TABLES
    count = "1 table" if len(tables) == 1 else f"{len(tables):,} tables"
    return f"{count}: {shown}" + (f" and {more:,} more" if more > 0 else "")
