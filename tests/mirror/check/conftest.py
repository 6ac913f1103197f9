"""Fixtures for tests of checks."""

from tests.support.servers import database, shared

__all__ = ["database", "shared"]
