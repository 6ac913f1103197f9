"""How a server is mended: statements that can be run as they are, and comments for what no statement does."""

from __future__ import annotations

from typing import NamedTuple

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
