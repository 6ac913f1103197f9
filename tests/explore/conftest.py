"""Fixtures of tests that explore the logs of servers."""

from __future__ import annotations

from tests.support.servers import database, shared

__all__ = ["database", "shared"]
