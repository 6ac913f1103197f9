"""Read one split of a log, as batches of rows or as events: find its first transaction, and stop after its last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from binspark.columns.arena import ReadInto
from binspark.columns.log_scan import LogScan, Span
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.starts import LogBytes
from binspark.errors import DecodeError, SourceError
from binspark.event import Event, EventDecoder
from binspark.files.header_scan import HeaderScanner
from binspark.files.log_head import LogHead, has_fingerprint, read_head
from binspark.files.splits import PlannedLog, Split
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode, Frame, Framer
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.os_errors import source_errors
from binspark.position import Position
from binspark.schema.history import SchemaHistory
from binspark.transactions.byte_tables import IDENTIFYING_CODES

_CHUNK = 1 << 18
_MAY_BEGIN = frozenset({*IDENTIFYING_CODES, EventCode.QUERY})
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Damage:
    """A part of a log that could not be read, and why: from `start` up to the transaction that begins at `end`.

    The transaction around `start` was read up to there. In a log without checksums, the position of the error may be
    after `start`: damage is noticed later there.
    """

    error: DecodeError
    file: str
    start: int
    end: int


OnDamage = Callable[[Damage], None]
"""Called for each part of a log that is skipped because of damage."""

MakeReader = Callable[[SchemaHistory], BatchReader]


@dataclass(frozen=True, slots=True)
class SplitReader:
    """Reads splits.

    history     the schemas in all logs, from which a split takes those at its start
    on_damage   called for damage, after which reading continues; None makes damage an error
    """

    history: SchemaHistory
    on_damage: OnDamage | None = None

    def batches(self, split: Split, make_reader: MakeReader) -> Iterator[TableBatch]:
        """Yield the rows of the transactions that a split owns."""
        reader: BatchReader | None = None
        for log in split.logs:
            for part in self._parts(log, split):
                if reader is None or part.needs_new_reader:
                    reader = make_reader(self.history.at(log.name, part.start))
                yield from part.until_error(reader.read(part.read_into(), log.name, part.span))

    def scan(self, split: Split, scan: LogScan[_Item]) -> Iterator[_Item]:
        """Yield what a scan finds in the transactions that a split owns, and in the events between them."""
        for log in split.logs:
            for part in self._parts(log, split):
                yield from part.until_error(scan.read(part.read_into(), log.name, part.span))

    def events(self, split: Split, *, expand: bool = True) -> Iterator[Event]:
        """Yield the events of the transactions that a split owns, and the events between them."""
        for log in split.logs:
            for part in self._parts(log, split):
                yield from part.until_error(_events(part, expand=expand))

    def _parts(self, log: PlannedLog, split: Split) -> Iterator[_Part]:
        """Yield the parts of a log to read: one, and another one after each damage that is skipped."""
        with _opened(log) as file:
            try:
                head = read_head(file, log.name)
            except DecodeError as error:
                self._report(error, log, 0, log.size)
                return
            bytes_ = LogBytes(file.read_at, log.size, head.format)
            start = bytes_.find_start(split.start, split.end) if split.start else FIRST_EVENT_OFFSET
            needs_new_reader = split.is_part
            while start is not None:
                part = _Part(log, file, bytes_, head, start, split.end, needs_new_reader)
                yield part
                if part.error is None:
                    return
                start = self._after_damage(part, bytes_, split.end)
                needs_new_reader = True

    def _after_damage(self, part: _Part, log: LogBytes, end: int | None) -> int | None:
        """Return the offset at which reading continues after damage, None if nothing of the split is left."""
        assert part.error is not None
        if self.on_damage is None:
            raise part.error
        start = part.damage_start(part.error)
        if part.file.is_compressed:
            log = LogBytes(part.file.read_at, part.file.size, part.head.format)
        found = log.find_start(start + 1) if part.head.can_split else None
        self._report(part.error, part.log, start, log.size if found is None else found)
        return None if found is None or (end is not None and found >= end) else found

    def _report(self, error: DecodeError, log: PlannedLog, start: int, end: int) -> None:
        if self.on_damage is None:
            raise error
        self.on_damage(Damage(error, log.name, start, end))


@dataclass(slots=True)
class _Part:
    """A part of a log without damage before its end."""

    log: PlannedLog
    file: LogFile
    bytes: LogBytes
    head: LogHead
    start: int
    end: int | None
    needs_new_reader: bool
    error: DecodeError | None = None

    @property
    def span(self) -> Span | None:
        """The range for a `BatchReader`; None for a log that cannot be split, which is read from its first byte."""
        if not self.head.can_split:
            return None
        return Span(self.head.format, self.start, self.end, self.bytes.is_start)

    def read_into(self) -> ReadInto:
        """Return a function that reads the part, up to the size of the log when the read was planned."""
        offset = self.start if self.head.can_split else 0
        self.file.seek(offset)

        def read(buffer: memoryview) -> int:
            nonlocal offset
            count = int(self.file.readinto(buffer[: self.log.size - offset]) or 0)
            offset += count
            return count

        return read

    def ends_before(self, frame: Frame) -> bool:
        """Return whether an event begins a transaction of the next split."""
        if self.end is None or frame.offset < self.end or frame.type_code not in _MAY_BEGIN:
            return False
        return self.bytes.is_start(frame.offset)

    def until_error(self, items: Iterator[_Item]) -> Iterator[_Item]:
        """Yield items up to the first `DecodeError`, which is kept in `error`."""
        try:
            with source_errors(self.log.name):
                yield from items
        except DecodeError as error:
            self.error = error

    def damage_start(self, error: DecodeError) -> int:
        """Return the offset at which the damage begins."""
        noticed = max(self.start, error.position.offset or self.start)
        if not self.head.can_split or self.head.format.checksum_length:
            return noticed
        return HeaderScanner(self.log, self.file, self.head).sound_end(self.start, noticed)


def _events(part: _Part, *, expand: bool) -> Iterator[Event]:
    framer = Framer(part.head.format, part.start) if part.head.can_split else Framer()
    decoder = EventDecoder(part.log.name)
    read = part.read_into()
    chunk = memoryview(bytearray(_CHUNK))
    try:
        while count := read(chunk):
            for frame in framer.feed(bytes(chunk[:count])):
                if part.ends_before(frame):
                    return
                event = decoder.decode(frame)
                yield event
                if event.type_code == EventCode.TRANSACTION_PAYLOAD and expand:
                    yield from decoder.inner_events(event)
        framer.finish()
    except DecodeError as error:
        raise error.at(Position(file=part.log.name)) from None


@contextmanager
def _opened(log: PlannedLog) -> Iterator[LogFile]:
    """Open a planned log, and check that it is still the same one."""
    with source_errors(log.name), log.source.open() as file:
        _check_identity(log, file)
        yield file


def _check_identity(log: PlannedLog, file: LogFile) -> None:
    """Refuse another log than the one that was planned. A log that has grown or was copied again has the same start."""
    if (file.is_compressed or file.size >= log.size) and has_fingerprint(file, log.fingerprint):
        return
    message = "another log has taken this name since the read was planned; read again"
    if not file.is_compressed and file.size < log.size:
        message = f"the log has shrunk to {file.size} bytes: it had {log.size} when the read was planned; read again"
    raise SourceError(message, Position(file=log.name))
