"""The two families of servers: what differs between MySQL and MariaDB before a server runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from binspark.testing.servers.debian import PackageSet

OptionValue = str | int | None
"""The value of a server option; None for an option without a value (`{"skip-name-resolve": None}`)."""

COMMON_OPTIONS: Mapping[str, OptionValue] = {
    "bind-address": "127.0.0.1",
    "skip-name-resolve": None,
    "server-id": 1,
    "log-bin": "binlog",
    "local-infile": 1,
    "secure-file-priv": "",
    "sync-binlog": 0,
    "performance-schema": "OFF",
    "innodb-buffer-pool-size": "32M",
    "innodb-doublewrite": "OFF",
    "innodb-flush-log-at-trx-commit": 2,
}
"""Loopback only, and fast to start: data outlives a killed server, but need not outlive the machine."""


@dataclass(frozen=True)
class Family:
    """One family of servers: the names of its programs, its packages, its options."""

    name: str
    title: str
    server_names: tuple[str, ...]
    client: str
    log_reader: str
    packages: PackageSet
    own_options: Mapping[str, OptionValue] = field(hash=False)

    @property
    def options(self) -> dict[str, OptionValue]:
        """The options every server of this family starts with, unless its user says otherwise."""
        return {**COMMON_OPTIONS, **self.own_options}

    def recognises(self, announced_version: str) -> bool:
        """Say whether `mysqld --version` printed this family's name: MariaDB also installs a `mysqld`."""
        is_mariadb = "MariaDB" in announced_version
        return bool(announced_version) and is_mariadb == (self.name == "mariadb")


MySQL = Family(
    name="mysql",
    title="MySQL",
    server_names=("mysqld",),
    client="mysql",
    log_reader="mysqlbinlog",
    packages=PackageSet(whole=("mysql-server-core", "mysql-client-core"), suite="sid"),
    own_options=MappingProxyType(
        {
            "mysqlx": 0,
            "gtid-mode": "ON",
            "enforce-gtid-consistency": "ON",
            "innodb-redo-log-capacity": "16M",
        }
    ),
)

MariaDB = Family(
    name="mariadb",
    title="MariaDB",
    server_names=("mariadbd", "mysqld"),
    client="mariadb",
    log_reader="mariadb-binlog",
    packages=PackageSet(
        whole=("mariadb-server-core", "mariadb-client-core"),
        alone=("mariadb-client", "mariadb-server"),  # mariadb-binlog; the plugins
    ),
    own_options=MappingProxyType({"binlog-format": "ROW", "innodb-log-file-size": "8M"}),
)
