"""Following a server's changes from a start to a stop, as lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

from binspark.background import read_ahead
from binspark.changes import Change
from binspark.columns.selection import Selection
from binspark.errors import BinlogError
from binspark.replication.chunk import LogChunk
from binspark.replication.find import find_start, find_stop
from binspark.replication.follow import Follower
from binspark.replication.schema_at import history_at
from binspark.replication.settings import FollowSettings, StreamSettings
from binspark.replication.start import parse_start
from binspark.replication.stop import NEVER, parse_stop
from binspark.schema.history import SchemaHistory, SchemaNotice
from binspark.server.config import ConnectionConfig
from binspark.server.connection import connect
from binspark.server.retry import Retry
from binspark.tail.printer import ChangePrinter, Text


@dataclass(frozen=True, slots=True)
class TailSettings:
    """What is followed, and how.

    start    where to start: latest, earliest, a file and offset, GTIDs, timestamp:…
    until    where to stop: end, a file and offset, GTIDs, a time; None for never
    stream   how the stream is requested
    retry    how often to connect again once a connection was lost
    """

    start: str = "latest"
    until: str | None = None
    stream: StreamSettings = field(default_factory=StreamSettings)
    retry: Retry = field(default_factory=lambda: Retry(limit=None))


class Tail:
    """Follows a server from a start to a stop. What it reads is delivered in complete transactions."""

    def __init__(
        self,
        config: ConnectionConfig,
        settings: TailSettings,
        history: SchemaHistory | None = None,
        on_notice: Callable[[SchemaNotice], None] | None = None,
    ) -> None:
        """Find both positions. Without a history, the tables are read from the server."""
        start = parse_start(settings.start)
        until = None if settings.until is None else parse_stop(settings.until)
        with ExitStack() as on_failure:
            self._connection = on_failure.enter_context(connect(config))
            position = find_start(self._connection, start)
            stop = NEVER if until is None else find_stop(self._connection, until)
            self.history = history or history_at(self._connection, position, on_notice)
            on_failure.pop_all()
        follow_settings = FollowSettings(stream=settings.stream, retry=settings.retry)
        self._follower = Follower(config, position, follow_settings, stop=stop, connection=self._connection)

    @property
    def tables(self) -> list[str]:
        """The tables that are known to begin with."""
        return sorted(f"{name.schema}.{name.table}" for name in self.history.catalog.tables)

    def lines(self, selection: Selection, form: Callable[[Change], str], *, is_json: bool) -> Iterator[list[Text]]:
        """Yield the changes of one chunk of the log after the other as lines; see `ChangePrinter`."""
        printer = ChangePrinter(selection, self.history, form, is_json=is_json)
        with closing(read_ahead(self._chunks(), self.stop)) as chunks:
            for chunk in chunks:
                yield from _collected(printer.lines(chunk))

    def stop(self) -> None:
        """End in order, from a signal or any thread."""
        self._follower.stop()

    def _chunks(self) -> Iterator[LogChunk]:
        with self._connection, self._follower:
            for chunk in self._follower:
                if chunk.data:
                    yield chunk


def _collected(texts: Iterator[Text]) -> Iterator[list[Text]]:
    """Yield texts together; what came before an error is yielded before it is raised."""
    collected: list[Text] = []
    try:
        collected.extend(texts)
    except BinlogError:
        yield collected
        raise
    yield collected
