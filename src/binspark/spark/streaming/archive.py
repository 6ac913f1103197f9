"""An archive to which logs are added: how far it is complete, where batches end, and the splits of a range."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from binspark.errors import OptionError, Purged
from binspark.files.active_log import complete_end
from binspark.files.log_head import fingerprint, read_head
from binspark.files.schema_file import log_statement
from binspark.files.schema_scan import read_history
from binspark.files.sources import LogSource, find_logs, log_order
from binspark.files.splits import PlannedLog, Split, plan_logs, split_logs
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.replication.activity import Activity
from binspark.replication.position import BinlogPosition
from binspark.schema.catalog import Catalog
from binspark.schema.history import Entry, SchemaHistory
from binspark.schema.notices import SchemaNotice
from binspark.spark.options import SourceOptions
from binspark.spark.plan import SchemaVersion, history_over, reads_ddl
from binspark.spark.streaming.limit import Limit, transaction_after
from binspark.spark.streaming.reported import Reported
from binspark.spark.streaming.statements import EndsBatch, Statement, ends_at_changes_of

_TIME_BYTES = 4


@dataclass
class ArchiveSource:
    """Logs in a directory, to which an archiver adds. Complete transactions are read, in the order of the logs.

    `ends_batch` says after which statements a batch must end; the default are those about the table of a typed stream.
    `activity` is that of a server: there is none.
    """

    options: SourceOptions
    ends_batch: EndsBatch | None = None
    activity: Activity | None = None
    _known: tuple[BinlogPosition, SchemaHistory] | None = field(default=None, repr=False)
    _noticed: set[type[SchemaNotice]] = field(default_factory=set, repr=False)

    def start(self, text: str) -> BinlogPosition:
        """Return the position that `startingOffsets` means."""
        sources = self._sources()
        text = text.strip()
        if text.lower() == "earliest":
            return BinlogPosition(_base(sources[0]), FIRST_EVENT_OFFSET)
        if text.lower() == "latest":
            return self.head()
        file, colon, offset = text.rpartition(":")
        if not colon or not offset.isdecimal():
            problem = f"must be earliest, latest or file:position for an archive, got {text!r}"
            raise OptionError(f"{problem}; use excludeGtids and committedFrom to skip rows", option="startingOffsets")
        self._number(sources, file)
        return BinlogPosition(file, int(offset))

    def head(self) -> BinlogPosition:
        """Return where the archive ends now: the position after its last complete transaction."""
        sources = self._sources()
        return BinlogPosition(_base(sources[-1]), _end(sources[-1], FIRST_EVENT_OFFSET, last=True))

    def latest(self, start: BinlogPosition, limit: Limit, target: BinlogPosition | None = None) -> BinlogPosition:
        """Return where the next batch ends: as far as the limit allows, always where a transaction begins."""
        sources = self._sources()
        first = self._first(sources, start)
        position = start
        if _base(sources[first]) != start.file:
            position = BinlogPosition(_base(sources[first]), FIRST_EVENT_OFFSET)
        for number in range(first, len(sources)):
            begin = position.offset if number == first else FIRST_EVENT_OFFSET
            end = _end(sources[number], begin, last=number == len(sources) - 1)
            if target is not None and _base(sources[number]) == target.file:
                end = min(end, target.offset)
            stop = limit.take(sources[number], begin, end)
            position = BinlogPosition(_base(sources[number]), stop)
            if stop < end or limit.used_up or (target is not None and position.file == target.file):
                break
        return self._end_at_change(sources, start, position)

    def version(self, version: SchemaVersion | None) -> SchemaVersion | None:
        """Return the schema version of the query as it is known when it is planned: the archive has all statements."""
        return version

    def reported(self, ended: BinlogPosition | None) -> Reported:
        """Return where the archive ends, and how much of it comes after a position."""
        head, sources = self.head(), self._sources()
        if ended is None or ended.file not in map(_base, sources):
            return Reported(head)
        if ended.order >= head.order:
            return Reported(head, 0, 0.0)
        unread = [source for source in sources if log_order(_base(source)) >= log_order(ended.file)]
        size = sum(_size(source) for source in unread[:-1]) + head.offset - ended.offset
        began = _time_at(unread, ended.offset)
        return Reported(head, size, None if began is None else max(0.0, time.time() - began))

    def stop(self) -> None:
        """Do nothing: no thread follows an archive."""

    def statements(self, start: BinlogPosition, end: BinlogPosition) -> list[Statement]:
        """Return the statements of a range."""
        sources = self._sources()
        logs = self._logs(sources, start, end) if start.order < end.order else []
        return [_statement(entry, logs) for entry in self._changes(logs)]

    def parts(
        self, start: BinlogPosition, end: BinlogPosition, catalog: Catalog | None = None
    ) -> list[tuple[Split, SchemaHistory]]:
        """Return the splits of a range, each with what is known of tables where it begins.

        `catalog` are the tables at the start, for a caller who knows them; otherwise the archive is searched for them.
        """
        sources = self._sources()
        logs = self._logs(sources, start, end)
        if catalog is None:
            history = self._history(sources, start, end, logs)
        else:
            history = read_history(logs, SchemaHistory(catalog))
        return [(split, history) for split in split_logs(logs, self.options.max_split_bytes)]

    def bytes_between(self, start: BinlogPosition, end: BinlogPosition) -> int:
        """Return how many bytes of the logs are in a range, over all their files."""
        return sum(log.size - log.start for log in self._logs(self._sources(), start, end))

    def _logs(self, sources: Sequence[LogSource], start: BinlogPosition, end: BinlogPosition) -> list[PlannedLog]:
        """Return the logs of a range, narrowed to it."""
        first, last = self._first(sources, start), self._number(sources, end.file)
        logs: list[PlannedLog] = []
        for number in range(first, last + 1):
            begin = start.offset if _base(sources[number]) == start.file else 0
            log = _planned(sources[number], end.offset if number == last else None)
            if log.size > max(begin, FIRST_EVENT_OFFSET):
                logs.append(log.narrowed(0 if begin <= FIRST_EVENT_OFFSET else begin, None))
        return logs

    def _changes(self, logs: Sequence[PlannedLog]) -> list[Entry]:
        """Return what statements of logs change; a mirror, which gives `ends_batch`, needs those of rows, too."""
        return read_history(logs, SchemaHistory(), with_logged_statements=self.ends_batch is not None).entries

    def _end_at_change(
        self, sources: Sequence[LogSource], start: BinlogPosition, end: BinlogPosition
    ) -> BinlogPosition:
        """Return where a batch ends: after the first statement about the table of a typed stream, if there is one."""
        ends_batch = self.ends_batch or ends_at_changes_of(self.options.table)
        if ends_batch is None or not reads_ddl(self.options) or start == end:
            return end
        logs = self._logs(sources, start, end)
        for entry in self._changes(logs):
            if ends_batch(entry.change):
                return _transaction_end(entry, logs)
        return end

    def _sources(self) -> Sequence[LogSource]:
        return find_logs(self.options.paths, self.options.file_storage)

    def _number(self, sources: Sequence[LogSource], file: str) -> int:
        for number, source in enumerate(sources):
            if _base(source) == file:
                return number
        raise Purged(f"{file} is no longer in the archive, and the stream has not read all of it. {_ADVICE}")

    def _first(self, sources: Sequence[LogSource], start: BinlogPosition) -> int:
        """Return the log to continue with; a missing one is data loss, which may be allowed."""
        try:
            return self._number(sources, start.file)
        except Purged:
            if self.options.fail_on_data_loss:
                raise
            return 0

    def _history(
        self, sources: Sequence[LogSource], start: BinlogPosition, end: BinlogPosition, logs: Sequence[PlannedLog]
    ) -> SchemaHistory:
        """Return the schemas at the start and the statements of the range; a reader uses those before its split."""
        history = SchemaHistory(self._known_at(sources, start).catalog, self._warn)
        if reads_ddl(self.options):
            read_history(logs, history)
        self._known = (end, history)
        return history

    def _warn(self, notice: SchemaNotice) -> None:
        """Log the first of each kind of warning: each range has a history of its own, which would repeat them."""
        if type(notice) not in self._noticed:
            self._noticed.add(type(notice))
            log_statement(notice)

    def _known_at(self, sources: Sequence[LogSource], start: BinlogPosition) -> SchemaHistory:
        """Return the history at the start of a range: kept from the range before, or read from the complete archive."""
        if self._known is not None and self._known[0] == start:
            return self._known[1]
        source = sources[self._first(sources, start)]
        offset = start.offset if _base(source) == start.file else FIRST_EVENT_OFFSET
        return history_over(self.options, plan_logs(sources)).at(source.name, offset)


def _transaction_end(entry: Entry, logs: Sequence[PlannedLog]) -> BinlogPosition:
    """Return the position after the transaction of a statement."""
    log = next(log for log in logs if log.name == entry.position.file)
    return BinlogPosition(_base(log.source), transaction_after(log, entry.end_offset))


def _statement(entry: Entry, logs: Sequence[PlannedLog]) -> Statement:
    position = _transaction_end(entry, logs)
    rows_follow = position.offset != entry.end_offset
    return Statement(entry.change, entry.position, position, rows_follow, entry.foreign_keys)


_ADVICE = "failOnDataLoss=false continues with the oldest log that exists"


def _base(source: LogSource) -> str:
    return source.name.rpartition("/")[2]


def _size(source: LogSource) -> int:
    with source.open() as file:
        return file.size


def _time_at(sources: Sequence[LogSource], offset: int) -> int | None:
    """Return the time of the event at an offset of the first log; of the first event of the next, if it ends there."""
    for source, begin in ((sources[0], offset), *((later, FIRST_EVENT_OFFSET) for later in sources[1:])):
        with source.open() as file:
            time_bytes = file.read_at(begin, _TIME_BYTES) if begin + _TIME_BYTES <= file.size else b""
        if len(time_bytes) == _TIME_BYTES:
            return int.from_bytes(time_bytes, "little")
    return None


def _end(source: LogSource, begin: int, *, last: bool) -> int:
    """Return where the complete transactions of a log end; only the last log is still written to."""
    with source.open() as file:
        if not last:
            return file.size
        return max(begin, complete_end(file, file.size, read_head(file, source.name), source.name, begin))


def _planned(source: LogSource, size: int | None) -> PlannedLog:
    with source.open() as file:
        if size is not None and size > file.size:
            raise Purged(f"{source.name} had {size} bytes when it was read, now it has {file.size}")
        head = read_head(file, source.name)
        planned = file.size if size is None else size
        return PlannedLog(source, planned, fingerprint(file), head.relay, head.can_split)
