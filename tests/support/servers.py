"""Servers in tests of several packages: the families, how to start and reach a server, shared fixtures."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Protocol

import pytest

from binspark.server.config import ConnectionConfig, connection_config
from binspark.testing.servers import Family, MariaDB, MySQL, Server

FAMILIES = [
    pytest.param(MySQL, marks=pytest.mark.mysql, id="mysql"),
    pytest.param(MariaDB, marks=pytest.mark.mariadb, id="mariadb"),
]
every_family = pytest.mark.parametrize("family", FAMILIES)
each_family = pytest.mark.parametrize(
    "family",
    [
        pytest.param(MySQL, marks=pytest.mark.mysql, id="mysql"),
        pytest.param(MariaDB, marks=[pytest.mark.mariadb, pytest.mark.slow], id="mariadb"),
    ],
)
"""Both families, for tests in which they hardly differ: one of them in the quick tests."""

each_stopped_family = pytest.mark.parametrize(
    "family",
    [
        pytest.param(MySQL, marks=[pytest.mark.mysql, pytest.mark.slow], id="mysql"),
        pytest.param(MariaDB, marks=pytest.mark.mariadb, id="mariadb"),
    ],
)
"""The same for tests that stop a server while its log is read: MySQL then waits for nine seconds, MariaDB does not."""

ServerOptions = Mapping[str, str | int | None]

_numbers = itertools.count(1)


class StartServer(Protocol):
    """The fixture `start_server`: starts a server that stops when the test ends."""

    def __call__(self, family: Family, options: ServerOptions | None = None) -> Server: ...


def config_of(*ports: int, **arguments: Any) -> ConnectionConfig:
    """Return how to reach servers on loopback, as root."""
    hosts = [f"127.0.0.1:{port}" for port in ports]
    return connection_config(**{"host": hosts, "user": "root", "environ": {}, **arguments})


@pytest.fixture
def shared(family: Family, request: pytest.FixtureRequest) -> Server:
    """The server of a family that all tests of this process share: use a database of your own."""
    server: Server = request.getfixturevalue(family.name)
    return server


@pytest.fixture
def database() -> str:
    """The name of a database that no other test uses."""
    return f"database_{next(_numbers)}"
