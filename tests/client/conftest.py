"""Fixtures of tests that talk to servers."""

from __future__ import annotations

import itertools

import pytest

from binspark.testing.servers import Family, Server

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
