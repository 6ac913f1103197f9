"""What tests of several packages need of servers: which families there are, how to reach a server, shared fixtures."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from binspark.server.config import ConnectionConfig, connection_config
from binspark.testing.servers import Family, MariaDB, MySQL, Server

FAMILIES = [
    pytest.param(MySQL, marks=pytest.mark.mysql, id="mysql"),
    pytest.param(MariaDB, marks=pytest.mark.mariadb, id="mariadb"),
]
every_family = pytest.mark.parametrize("family", FAMILIES)
StartServer = Callable[..., Server]

_numbers = itertools.count(1)


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
