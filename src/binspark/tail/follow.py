"""Following a server's changes from a start to a stop, as lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

from binspark.background import read_ahead
from binspark.columns.selection import Selection
from binspark.documents.line_style import LineStyle
from binspark.errors import BinlogError
from binspark.files.lines import Text
from binspark.monitoring.lag import LagMeter
from binspark.monitoring.status import Status, status_of
from binspark.replication.server_input import ServerInput, ServerInputSettings
from binspark.schema.history import SchemaHistory
from binspark.schema.notices import SchemaNotice
from binspark.server.config import ConnectionConfig
from binspark.tail.printer import ChunkPrinter


class Tail:
    """Follows a server from a start to a stop. What it reads is delivered in complete transactions."""

    def __init__(
        self,
        config: ConnectionConfig,
        settings: ServerInputSettings,
        history: SchemaHistory | None = None,
        on_notice: Callable[[SchemaNotice], None] | None = None,
    ) -> None:
        """Find both positions. Without a history, the tables are read from the server."""
        self._log = ServerInput(config, settings)
        self.history = history or self._log.history(on_notice)
        self._position = self._log.position
        self._lag = LagMeter(config, self._log.activity)
        self._printer: ChunkPrinter | None = None

    @property
    def tables(self) -> list[str]:
        """The tables that are known to begin with."""
        return sorted(f"{name.schema}.{name.table}" for name in self.history.catalog.tables)

    def lines(self, selection: Selection, style: LineStyle) -> Iterator[list[Text]]:
        """Yield the changes of one chunk of the log after the other as lines."""
        printer = self._printer = ChunkPrinter(selection, self.history, style)
        with closing(read_ahead(self._log.chunks(), self.stop)) as chunks:
            for chunk in chunks:
                yield from _collected(printer.lines(chunk))
                self._position = chunk.end_position

    def status(self) -> Status:
        """Return how far it is, from any thread. This queries the server for its logs, at most once a second."""
        activity, position = self._log.activity, self._position
        lag = self._lag.measure(position, activity.event_time)
        rows = 0 if self._printer is None else self._printer.rows
        return status_of("tail", activity, position, rows=rows, lag_bytes=lag.bytes, lag_seconds=lag.seconds)

    def stop(self) -> None:
        """End in order, from a signal or any thread."""
        self._log.stop()


def _collected(texts: Iterator[Text]) -> Iterator[list[Text]]:
    """Yield texts together; what came before an error is yielded before it is raised."""
    collected: list[Text] = []
    try:
        collected.extend(texts)
    except BinlogError:
        yield collected
        raise
    yield collected
