"""What there is to know of a server before its logs are read: values only. `binspark.doctor.ask` asks for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from binspark.frames.format import Family, version_numbers

_ON_EVERYTHING = re.compile(r"GRANT (.+?) ON \*\.\* TO ")
_ROLES = re.compile(r"GRANT ((?:`[^`]*`(?:@`[^`]*`)?,?)+) TO ")
_EVERYTHING = "ALL PRIVILEGES"


@dataclass(frozen=True, slots=True)
class Grants:
    """What a session may do.

    privileges  those on *.*, those of its active roles with them
    roles       roles that its user was granted, active or not, as the server writes them
    """

    privileges: frozenset[str]
    roles: tuple[str, ...] = ()

    def any_of(self, *names: str) -> bool:
        """Return whether one of these privileges is there."""
        return _EVERYTHING in self.privileges or not self.privileges.isdisjoint(names)


def read_grants(lines: Iterable[str]) -> Grants:
    """Read the lines of SHOW GRANTS. MariaDB writes the hash of the password there too: nothing of it is kept."""
    privileges: set[str] = set()
    roles: list[str] = []
    for line in lines:
        if found := _ON_EVERYTHING.match(line):
            privileges |= {name.strip().upper() for name in found[1].split(",")}
        elif found := _ROLES.match(line):
            roles += found[1].split(",")
    return Grants(frozenset(privileges), tuple(roles))


def quoted_account(account: str) -> str:
    """Return what CURRENT_USER() says as a statement has to write it: `user`@`host`."""
    user, _, host = account.rpartition("@")
    return f"{quoted(user)}@{quoted(host)}"


def quoted(name: str) -> str:
    """Return a name as a statement has to write it."""
    return "`" + name.replace("`", "``") + "`"


_PERSISTS_SINCE = (8, 0, 0)
_SECONDS_A_DAY = 86400


class TableName(NamedTuple):
    """A table and its database."""

    schema: str
    table: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.table}"

    @property
    def quoted(self) -> str:
        """The name as a statement has to write it."""
        return f"{quoted(self.schema)}.{quoted(self.table)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    """Tables that are worth a word.

    keyless     have neither a primary key nor a unique one that could be it
    cascading   have a foreign key that changes or deletes their rows
    old_times   MariaDB: have times with fractions in the format from before MySQL 5.6
    hidden_types  MariaDB: have INET4, INET6 or UUID columns, whose types no log tells
    """

    keyless: tuple[TableName, ...] = ()
    cascading: tuple[TableName, ...] = ()
    old_times: tuple[TableName, ...] = ()
    hidden_types: tuple[TableName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a server says of itself.

    account      whom the server takes the user for, as a statement has to write it
    variables    every global variable as text, by name
    active_role  whether any of the user's roles is active
    is_replica   whether it takes changes from another server
    do_db        the databases that alone are logged, with commas; ignore_db: those that are not
    tables       None if nobody looked at them
    """

    version: str
    family: Family
    account: str
    variables: Mapping[str, str] = field(repr=False)
    grants: Grants
    active_role: bool = False
    is_replica: bool = False
    do_db: str = ""
    ignore_db: str = ""
    tables: TableFacts | None = None

    @property
    def persists(self) -> bool:
        """Whether the server knows SET PERSIST."""
        return self.family is Family.MYSQL and version_numbers(self.version) >= _PERSISTS_SINCE

    @property
    def retention_seconds(self) -> float:
        """How long logs are kept; 0 for ever."""
        if self.variables.get("binlog_expire_logs_auto_purge") == "OFF":
            return 0
        seconds = float(self.variables.get("binlog_expire_logs_seconds", 0))
        return seconds or float(self.variables.get("expire_logs_days", 0)) * _SECONDS_A_DAY

    def setting(self, names: Iterable[str]) -> str | None:
        """Return the first of these variables that the server has."""
        return next((name for name in names if name in self.variables), None)
