"""Fixtures of tests that talk to servers."""

from __future__ import annotations

import itertools

import pytest

from binspark.testing.servers import Family, Server
from tests.support.client.client_help import StartServer, make_table
from tests.support.replicas import replicate

_numbers = itertools.count(1)


@pytest.fixture
def shared(family: Family, request: pytest.FixtureRequest) -> Server:
    """The server of a family that all tests of this process share: use a database of your own."""
    server: Server = request.getfixturevalue(family.name)
    return server


@pytest.fixture
def database() -> str:
    """The name of a database that no other test uses."""
    return f"client_{next(_numbers)}"


@pytest.fixture
def pair(family: Family, start_server: StartServer) -> tuple[Server, Server]:
    """A source and its replica, whose logs differ."""
    source = start_server(family, {"server-id": 1})
    replica = start_server(family, {"server-id": 2, "log-bin": "other", "log-slave-updates": 1})
    replicate(replica, source)
    make_table(source, "d")
    return source, replica
