"""Noticing that a server's logs were reset: the dump that is under way does not."""

from __future__ import annotations

import time

from binspark.client.connect import Connection, connect
from binspark.client.facts import write_place
from binspark.client.stream import BinlogStream
from binspark.errors import Authentication, ConnectionLost, Purged
from binspark.files.sources import log_order


class ResetWatch:
    """Compares, now and then while nothing comes, where the server writes with where its dump is.

    After RESET a server begins its logs anew, but a dump goes on waiting at the end of a file that is no longer there,
    with heartbeats. Only a second connection sees it.
    """

    def __init__(self, connection: Connection, every_seconds: float) -> None:
        self._options = connection.options
        self._every_seconds = every_seconds
        self._last_check = time.monotonic()
        self._behind_at: tuple[str, int] | None = None

    def heartbeat(self, stream: BinlogStream) -> None:
        """Look, if it is time to: `Purged` if the logs were reset, `ConnectionLost` if the dump has come to a stop."""
        now = time.monotonic()
        if now - self._last_check < self._every_seconds:
            return
        self._last_check = now
        try:
            with connect(self._options) as connection:
                file, offset = write_place(connection)
        except (ConnectionLost, Authentication):
            return  # the stream's own connection tells; and who may not ask reads all the same
        self._compare(file, offset, stream)

    def _compare(self, file: str, offset: int, stream: BinlogStream) -> None:
        here = (stream.file, stream.offset)
        if _order(file, offset) < _order(*here):
            message = (
                f"the server writes {file}:{offset}, which is before this place: its logs were reset. What was "
                "delivered is no longer its history; start anew, from earliest"
            )
            raise Purged(message, stream.position)
        if (file, offset) == here:
            self._behind_at = None
        elif self._behind_at == here:
            message = f"the server has written up to {file}:{offset}, and its dump does not go on"
            raise ConnectionLost(message, stream.position)
        else:
            self._behind_at = here


def _order(file: str, offset: int) -> tuple[tuple[str, int], int]:
    return log_order(file), offset
