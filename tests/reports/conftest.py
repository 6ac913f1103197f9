"""Fixtures of tests that report on the logs of servers."""

from __future__ import annotations

from tests.support.servers import database, shared

__all__ = ["database", "shared"]
