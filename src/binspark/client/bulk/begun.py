"""Followers that begin with a connection that is there: making one costs a handshake, and TLS costs more."""

from __future__ import annotations

from typing import Any

from binspark.client.connect import Connection
from binspark.client.following import Following
from binspark.client.reconnect import Reconnector


def begin_with(follower: Following[Any], first: Connection) -> None:
    """Let a follower that has not begun use a connection up before it makes others."""
    follower._reconnector = _Begun(follower._reconnector, first)


class _Begun(Reconnector):
    """Connects as another one would, but for the first time."""

    def __init__(self, other: Reconnector, first: Connection) -> None:
        super().__init__(other._options, other._retry)
        self._first: Connection | None = first

    def connect(self) -> Connection:
        """Return the connection that is there, once."""
        first, self._first = self._first, None
        return super().connect() if first is None else first
