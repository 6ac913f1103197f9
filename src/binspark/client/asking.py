"""Questions to a server, asked over a connection that is kept, and made again where it was lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from binspark.client.connect import Connection
from binspark.client.options import ConnectionOptions
from binspark.client.reconnect import Reconnector
from binspark.client.settings import Retry
from binspark.errors import ConnectionLost

Answer = TypeVar("Answer")


class Asking:
    """Asks the server that is there, or the next one. Used by one thread at a time."""

    def __init__(self, options: ConnectionOptions, retry: Retry | None = None) -> None:
        self._reconnector = Reconnector(options, retry or Retry())
        self._connection: Connection | None = None

    def ask(self, question: Callable[[Connection], Answer]) -> Answer:
        """Return the answer to a question, which may be asked several times until it comes."""
        while True:
            try:
                if self._connection is None:
                    self._connection = self._reconnector.connect()
                answer = question(self._connection)
            except ConnectionLost as error:
                self.close()
                self._reconnector.failed(error)
            else:
                self._reconnector.progressed()
                return answer

    def close(self) -> None:
        """End the connection; the next question makes another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
