"""What a rule is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from binspark.doctor.facts import Facts, TableFacts, TableName


class Severity(StrEnum):
    """How grave a finding is.

    ERROR    changes are missing or rows are not whole, or the logs cannot be read at all
    WARNING  it works, until something happens that servers and tables do
    NOTE     worth knowing
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that will hurt.

    code     a name that scripts may rely on
    setting  what it is about: a variable of the server, or what else there is
    value    what it is now
    mend     statements to run as they are; what is not a statement is a comment in SQL
    restart  whether the server has to be started anew
    """

    code: str
    severity: Severity
    setting: str
    value: str
    reason: str
    mend: str
    restart: bool


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


RESTART = "-- then start the server anew"


class Mend(NamedTuple):
    """What mends a server; empty where none needs it. {setting}, {account}, {role}, {table} stand for what was found.

    persisting  for servers that know SET PERSIST: MySQL since 8.0
    plain       for all others: MariaDB, and MySQL 5.7
    """

    persisting: str
    plain: str


def assign(value: str, *also: str) -> Mend:
    """Set a variable of the running server, for good. `also` are more lines, for every server."""
    return Mend(_lines(_persist(value), *also), _lines(_set_global(value), *also))


def assign_and_restart(value: str) -> Mend:
    """Set a variable that only counts when the server starts."""
    return Mend(_lines(f"SET PERSIST_ONLY {{setting}} = {value};", RESTART), _in_option_file(value))


def assign_in_mysql(value: str) -> Mend:
    """Set a variable that a running MySQL server lets itself be set, and MariaDB does not."""
    return Mend(_persist(value), _in_option_file(value))


def configure(what: str) -> Mend:
    """Change my.cnf, where no statement does."""
    text = _lines(f"-- {what}", RESTART)
    return Mend(text, text)


def run(*lines: str) -> Mend:
    """Run the same lines on every server."""
    return Mend(_lines(*lines), _lines(*lines))


def mysql_only(mend: Mend) -> Mend:
    """Only servers that know SET PERSIST need this."""
    return mend._replace(plain="")


def mariadb_only(mend: Mend) -> Mend:
    """Only MariaDB needs this."""
    return mend._replace(persisting="")


def _persist(value: str) -> str:
    return f"SET PERSIST {{setting}} = {value};"


def _set_global(value: str) -> str:
    return _lines(f"SET GLOBAL {{setting}} = {value};", f"-- and in my.cnf, below [mysqld]: {{setting}} = {value}")


def _in_option_file(value: str) -> str:
    return _lines(f"-- in my.cnf, below [mysqld]: {{setting}} = {value}", RESTART)


def _lines(*lines: str) -> str:
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that hurts.

    code      its name, which scripts rely on: it is never changed
    settings  the variable that it is about, MySQL's name first; or what else it is about
    when      when it hurts, in words
    check     the same, to be computed
    reason    why it hurts whoever reads the logs
    """

    code: str
    severity: Severity
    settings: tuple[str, ...]
    when: str
    check: Check
    reason: str
    mend: Mend
