"""What the rules look at: a server's settings, its user's privileges, its tables. Values only; see `read_profile`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from binspark.frames.format import Family, version_numbers
from binspark.schema.table import TableName
from binspark.server.connection import quoted_name

_GLOBAL_GRANT = re.compile(r"GRANT (.+?) ON \*\.\* TO ")
_ROLE_GRANT = re.compile(r"GRANT ((?:`[^`]*`(?:@`[^`]*`)?,?)+) TO ")
_ALL_PRIVILEGES = "ALL PRIVILEGES"
_PERSISTS_SINCE = (8, 0, 0)
_SECONDS_PER_DAY = 86400


@dataclass(frozen=True, slots=True)
class Grants:
    """What a session may do.

    privileges  its privileges on *.*, including those of its active roles
    roles       the roles that its user was granted, active or not, as the server writes them
    """

    privileges: frozenset[str]
    roles: tuple[str, ...] = ()

    def any_of(self, *names: str) -> bool:
        """Return whether the session has one of these privileges."""
        return _ALL_PRIVILEGES in self.privileges or not self.privileges.isdisjoint(names)


def parse_grants(lines: Iterable[str]) -> Grants:
    """Parse the lines of SHOW GRANTS. In MariaDB they contain the hash of the password, which is not kept."""
    privileges: set[str] = set()
    roles: list[str] = []
    for line in lines:
        if found := _GLOBAL_GRANT.match(line):
            privileges |= {name.strip().upper() for name in found[1].split(",")}
        elif found := _ROLE_GRANT.match(line):
            roles += found[1].split(",")
    return Grants(frozenset(privileges), tuple(roles))


def quoted_table(table: TableName) -> str:
    """Return the full name of a table as it is written in a statement."""
    return f"{quoted_name(table.schema)}.{quoted_name(table.table)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableProfile:
    """Tables that rules are about.

    without_key   tables with neither a primary key nor a unique key that could replace it
    cascading     tables with a foreign key that changes or deletes their rows
    old_times     MariaDB: tables with fractional times in the format used before MySQL 5.6
    hidden_types  MariaDB: tables with INET4, INET6 or UUID columns, whose types are not in the log
    """

    without_key: tuple[TableName, ...] = ()
    cascading: tuple[TableName, ...] = ()
    old_times: tuple[TableName, ...] = ()
    hidden_types: tuple[TableName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProfile:
    """A server as the rules look at it.

    account      the account of the session, as it is written in a statement
    variables    every global variable as text, by name
    active_role  whether one of the user's roles is active
    is_replica   whether the server replicates from another one
    do_db        the only databases that are logged, comma-separated; ignore_db: those that are not
    tables       None if the tables were not checked
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
    tables: TableProfile | None = None

    @property
    def has_persist(self) -> bool:
        """Whether the server has SET PERSIST."""
        return self.family is Family.MYSQL and version_numbers(self.version) >= _PERSISTS_SINCE

    @property
    def retention_seconds(self) -> float:
        """How long logs are kept; 0 for ever."""
        if self.variables.get("binlog_expire_logs_auto_purge") == "OFF":
            return 0
        seconds = float(self.variables.get("binlog_expire_logs_seconds", 0))
        return seconds or float(self.variables.get("expire_logs_days", 0)) * _SECONDS_PER_DAY

    @property
    def may_cascade(self) -> bool:
        """Whether a foreign key changes rows of other tables; true if the tables were not checked."""
        return self.tables is None or bool(self.tables.cascading)

    def variable(self, names: Iterable[str]) -> str | None:
        """Return the first of these variables that the server has."""
        return next((name for name in names if name in self.variables), None)
