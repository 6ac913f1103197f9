"""The two families of servers, MySQL and MariaDB: their programs, packages and options."""

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
"""Loopback only, and fast to start: data survives a crash of the server, but not of the machine."""


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
        """The options with which every server of this family starts, unless they are overridden."""
        return {**COMMON_OPTIONS, **self.own_options}

    def recognizes(self, announced_version: str) -> bool:
        """Return whether the output of `mysqld --version` is of this family: MariaDB installs a `mysqld`, too."""
        is_mariadb = "MariaDB" in announced_version
        return bool(announced_version) and is_mariadb == (self.name == "mariadb")


MySQL = Family(
    name="mysql",
    title="MySQL",
    server_names=("mysqld",),
    client="mysql",
    log_reader="mysqlbinlog",
    packages=PackageSet(with_dependencies=("mysql-server-core", "mysql-client-core"), suite="sid"),
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
        with_dependencies=("mariadb-server-core", "mariadb-client-core"),
        without_dependencies=("mariadb-client", "mariadb-server"),  # mariadb-binlog; the plugins
    ),
    own_options=MappingProxyType({"binlog-format": "ROW", "innodb-log-file-size": "8M"}),
)
