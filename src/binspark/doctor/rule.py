"""What a rule consists of: a check that finds a problem, and the statements that fix it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from binspark.doctor.server_profile import ServerProfile, TableProfile
from binspark.schema.table import TableName

_LISTED_TABLES = 5
RESTART = "-- then restart the server"


class Severity(StrEnum):
    """How severe a problem is; the most severe first.

    ERROR    changes are missing, rows are incomplete, or the logs cannot be read at all
    WARNING  readers work until something usual happens: a failover, a crash, a schema change
    NOTE     worth knowing
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem of a server.

    code     the code of the rule, which never changes
    setting  a variable of the server, or what else the problem is about
    value    its current value
    reason   why it is a problem
    fix      statements that can be run as they are; what is not a statement is an SQL comment
    restart  whether the fix needs a restart of the server
    """

    code: str
    severity: Severity
    setting: str
    value: str
    reason: str
    fix: str
    restart: bool


class Problem(NamedTuple):
    """What a check finds: a setting, its value, and the first of the tables that it is about."""

    setting: str
    value: str
    table: TableName | None = None


Check = Callable[[ServerProfile, Sequence[str]], Problem | None]
"""Looks at a profile; the second argument has the names of the setting that the rule is about."""


def value_where(is_problem: Callable[[str, ServerProfile], bool]) -> Check:
    """Find a variable whose value is a problem. A server without the variable does not have the problem."""

    def check(profile: ServerProfile, names: Sequence[str]) -> Problem | None:
        name = profile.variable(names)
        if name is None or not is_problem(profile.variables[name], profile):
            return None
        return Problem(name, profile.variables[name] or "empty")

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


def is_missing(profile: ServerProfile, names: Sequence[str]) -> Problem | None:
    """Find a variable that the server does not have."""
    return None if profile.variable(names) else Problem(names[0], "this server does not have it")


def value_of(look: Callable[[ServerProfile], str]) -> Check:
    """Find the text that a function returns, unless it is empty."""

    def check(profile: ServerProfile, names: Sequence[str]) -> Problem | None:
        value = look(profile)
        return Problem(names[0], value) if value else None

    return check


def missing_privilege(*names: str) -> Check:
    """Find that the user has none of these privileges on *.*."""
    return value_of(lambda profile: "" if profile.grants.any_of(*names) else f"no {names[0]} on *.*")


def tables_with(what: str, choose: Callable[[TableProfile], Sequence[TableName]]) -> Check:
    """Find tables, if they were checked. `what` is what they have."""

    def check(profile: ServerProfile, names: Sequence[str]) -> Problem | None:
        tables = choose(profile.tables) if profile.tables is not None else ()
        return Problem(names[0], f"{what} in {_listed(tables)}", tables[0]) if tables else None

    return check


def unless(is_fine: Callable[[ServerProfile], bool], check: Check) -> Check:
    """Find the same, unless something else makes it harmless."""
    return lambda profile, names: None if is_fine(profile) else check(profile, names)


def _listed(tables: Sequence[TableName]) -> str:
    count = "1 table" if len(tables) == 1 else f"{len(tables):,} tables"
    return f"{count}: {first_names(tables)}"


def first_names(tables: Sequence[TableName]) -> str:
    """Return the first of some tables, and how many more there are."""
    listed = ", ".join(map(str, tables[:_LISTED_TABLES]))
    more = len(tables) - _LISTED_TABLES
    return listed + (f" and {more:,} more" if more > 0 else "")


class Fix(NamedTuple):
    """Statements that fix a problem, with the placeholders {setting}, {account}, {role}, {table}; empty if not needed.

    persisting  for servers with SET PERSIST: MySQL since 8.0
    plain       for all others: MariaDB, and MySQL 5.7
    """

    persisting: str
    plain: str


def assign(value: str, *also: str) -> Fix:
    """Set a variable, now and after a restart. `also` are more lines, for every server."""
    return Fix(_lines(_persist(value), *also), _lines(_set_global(value), *also))


def assign_and_restart(value: str) -> Fix:
    """Set a variable that is read only when the server starts."""
    return Fix(_lines(f"SET PERSIST_ONLY {{setting}} = {value};", RESTART), _in_option_file(value))


def assign_in_mysql(value: str) -> Fix:
    """Set a variable that can be changed at run time in MySQL, but not in MariaDB."""
    return Fix(_persist(value), _in_option_file(value))


def configure(what: str) -> Fix:
    """Change my.cnf: no statement can do it."""
    text = _lines(f"-- {what}", RESTART)
    return Fix(text, text)


def run(*lines: str) -> Fix:
    """Run the same lines on every server."""
    return Fix(_lines(*lines), _lines(*lines))


def mysql_only(fix: Fix) -> Fix:
    """Only servers with SET PERSIST need this fix."""
    return fix._replace(plain="")


def mariadb_only(fix: Fix) -> Fix:
    """Only MariaDB needs this fix."""
    return fix._replace(persisting="")


def _persist(value: str) -> str:
    return f"SET PERSIST {{setting}} = {value};"


def _set_global(value: str) -> str:
    return _lines(f"SET GLOBAL {{setting}} = {value};", f"-- and in my.cnf, section [mysqld]: {{setting}} = {value}")


def _in_option_file(value: str) -> str:
    return _lines(f"-- in my.cnf, section [mysqld]: {{setting}} = {value}", RESTART)


def _lines(*lines: str) -> str:
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Rule:
    """A problem that a server may have.

    code      its name, which never changes: scripts rely on it
    settings  the variable that it is about, MySQL's name first; or what else it is about
    when      when it is a problem, in words
    check     the same as a function
    reason    why it is a problem for readers of the logs
    fix       the statements that fix it
    """

    code: str
    severity: Severity
    settings: tuple[str, ...]
    when: str
    check: Check
    reason: str
    fix: Fix
