"""Fixtures of tests that follow servers."""

from __future__ import annotations

import pytest

from binspark.testing.servers import Family, Server
from tests.support.replicas import replicate
from tests.support.replication.following import make_table
from tests.support.servers import StartServer, database, shared

__all__ = ["database", "pair", "shared"]


@pytest.fixture
def pair(family: Family, start_server: StartServer) -> tuple[Server, Server]:
    """A source and its replica, whose logs differ."""
    source = start_server(family, {"server-id": 1})
    replica = start_server(family, {"server-id": 2, "log-bin": "other", "log-slave-updates": 1})
    replicate(replica, source)
    make_table(source, "d")
    return source, replica
