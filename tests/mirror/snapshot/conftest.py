"""Fixtures for the tests of snapshots."""

from tests.support.servers import database, shared

__all__ = ["database", "shared"]
