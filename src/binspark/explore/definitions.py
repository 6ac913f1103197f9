"""The definitions of tables in logs. They have the names of columns that a log with minimal metadata lacks."""

from __future__ import annotations

from contextlib import suppress
from threading import Lock

from binspark.errors import BinlogError
from binspark.event import EventDecoder
from binspark.explore.explored_log import ExploredLog
from binspark.explore.unit_frames import UnitFrames
from binspark.files.log_head import read_head
from binspark.frames import EventCode
from binspark.schema.history import SchemaHistory, may_define_tables

_STATEMENTS = frozenset({EventCode.QUERY, EventCode.QUERY_COMPRESSED})


class Definitions:
    """The schema history of all logs, in their order: that of a log is known when those before it were read."""

    def __init__(self) -> None:
        self._history = SchemaHistory()
        self._fed: list[int] = []
        self._lock = Lock()

    def at(self, log: ExploredLog, offset: int) -> SchemaHistory:
        """Return what is known of tables at an offset of a log."""
        with self._lock:
            if log.source.name not in self._history.files:
                return SchemaHistory()
            return self._history.until(log.source.name, offset)

    def update(self, logs: list[ExploredLog]) -> None:
        """Take the definitions of logs that were read, up to the first that was not."""
        for number, log in enumerate(logs):
            if not log.is_read:
                return
            if number == len(self._fed):
                self._fed.append(0)
                with suppress(BinlogError), log.opened() as file, self._lock:
                    head = read_head(file, log.source.name)
                    self._history.feed(EventDecoder(log.source.name).decode(head.frame))
            if number == len(self._fed) - 1:
                self._take(log, self._fed[number])
                self._fed[number] = len(log.definitions)

    def _take(self, log: ExploredLog, first: int) -> None:
        decoder = EventDecoder(log.source.name)
        found = log.definitions[first:]
        if not found:
            return
        with log.opened() as file:
            for start, end in found:
                with suppress(BinlogError):  # it is reported where the statement is shown
                    for frame in UnitFrames(file, log.source.name, log.index, start, end).expanded():
                        if frame.type_code not in _STATEMENTS:
                            continue
                        event = decoder.decode(frame)
                        if may_define_tables(event.body):
                            with self._lock:
                                self._history.feed(event)
