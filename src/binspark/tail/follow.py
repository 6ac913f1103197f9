"""A server's changes as they happen, as lines."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from queue import Queue
from typing import NamedTuple, TypeVar

from binspark.changes import Change
from binspark.client.bulk.begun import begin_with
from binspark.client.bulk.follow_pieces import PieceFollower
from binspark.client.bulk.pieces import Piece
from binspark.client.connect import connect
from binspark.client.options import ConnectionOptions
from binspark.client.resolve import resolve_start
from binspark.client.resume import ResumePoint
from binspark.client.schema_at import history_at
from binspark.client.settings import FollowSettings, Retry, StreamSettings
from binspark.client.start import parse_start
from binspark.client.until import Until, find_until
from binspark.columns.selection import Selection
from binspark.errors import BinlogError
from binspark.schema.history import SchemaHistory, UnreadableDdl
from binspark.tail.printer import ChangePrinter, Text

Item = TypeVar("Item")


class _End(NamedTuple):
    """Comes behind the last item."""

    error: BaseException | None


def read_ahead(items: Iterable[Item], stop: Callable[[], None]) -> Generator[Item, None, None]:
    """Yield items that another thread iterates over, and raise what it raises.

    Whoever does not want the rest closes the iterator: `stop` makes the thread end, and it is waited for.
    """
    read: Queue[Item | _End] = Queue(maxsize=1)
    thread = threading.Thread(target=_read, args=(items, read), name="binspark-read", daemon=True)
    thread.start()
    item: Item | _End | None = None
    try:
        while not isinstance(item := read.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        if not isinstance(item, _End):
            stop()
            while not isinstance(read.get(), _End):
                pass
        thread.join()


def _read(items: Iterable[Item], read: Queue[Item | _End]) -> None:
    try:
        for item in items:
            read.put(item)
    except BaseException as error:  # the other thread raises it
        read.put(_End(error))
    else:
        read.put(_End(None))


@dataclass(frozen=True, slots=True)
class TailSettings:
    """What is followed, and how.

    start    where to begin: latest, earliest, a file and position, GTIDs, timestamp:…
    until    where to end: end, a file and position, GTIDs, a time; None for never
    stream   how the stream is asked for
    retry    how often to connect again once a connection was lost
    """

    start: str = "latest"
    until: str | None = None
    stream: StreamSettings = field(default_factory=StreamSettings)
    retry: Retry = field(default_factory=lambda: Retry(limit=None))


class Tail:
    """Follows a server from one place to another. What it reads is given out in whole transactions."""

    def __init__(
        self,
        connection: ConnectionOptions,
        settings: TailSettings,
        history: SchemaHistory | None = None,
        on_unreadable: Callable[[UnreadableDdl], None] | None = None,
    ) -> None:
        """Find both places. Without a history, the server is asked for its tables."""
        self._connection = connection
        self._settings = settings
        start = parse_start(settings.start)
        with ExitStack() as failing:
            self._first = failing.enter_context(connect(connection))
            self._point: ResumePoint = resolve_start(self._first, start)
            self._until: Until = find_until(self._first, settings.until)
            self.history = history or history_at(self._first, self._point, on_unreadable)
            failing.pop_all()
        self._follower: PieceFollower | None = None
        self._is_stopped = False

    @property
    def tables(self) -> list[str]:
        """The tables that are known to begin with."""
        return sorted(f"{name.schema}.{name.table}" for name in self.history.catalog.tables)

    def lines(self, selection: Selection, form: Callable[[Change], str], *, is_json: bool) -> Iterator[list[Text]]:
        """Yield the changes of one piece of the log after the other as lines; see `ChangePrinter`."""
        printer = ChangePrinter(selection, self.history, form, is_json=is_json)
        with closing(read_ahead(self._pieces(), self.stop)) as pieces:
            for piece in pieces:
                yield from _whole(printer.lines(piece))

    def stop(self) -> None:
        """End in order, from a signal or any thread."""
        self._is_stopped = True
        if self._follower is not None:
            self._follower.stop()

    def _pieces(self) -> Iterator[Piece]:
        """Yield what is whole."""
        settings = FollowSettings(stream=self._settings.stream, retry=self._settings.retry)
        self._follower = PieceFollower(self._connection, self._point, settings, self._until)
        begin_with(self._follower, self._first)
        with self._first, closing(self._follower):
            if not self._is_stopped:
                yield from self._follower


def _whole(texts: Iterator[Text]) -> Iterator[list[Text]]:
    """Yield texts together; what came before an error comes before it is raised."""
    came: list[Text] = []
    try:
        came.extend(texts)
    except BinlogError:
        yield came
        raise
    yield came
