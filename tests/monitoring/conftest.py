"""Fixtures of the tests of monitoring."""

from __future__ import annotations

from tests.support.servers import database

__all__ = ["database"]
