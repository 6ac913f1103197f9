"""One split of a log: its rows in batches, or its events. It finds its own first transaction, and stops by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from binspark.columns.arena import ReadInto
from binspark.columns.reader import BatchReader, Span, TableBatch
from binspark.columns.starts import LogBytes
from binspark.errors import DecodeError, SourceError
from binspark.event import Event, EventDecoder
from binspark.files.hops import Hopper
from binspark.files.log_head import LogHead, has_fingerprint, read_head
from binspark.files.splits import PlannedLog, Split
from binspark.files.storage.file import LogFile
from binspark.frames import EventCode, Frame, Framer
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.position import Position
from binspark.schema.history import SchemaHistory
from binspark.transactions.byte_tables import IDENTIFYING_CODES

_CHUNK = 1 << 18
_MAY_BEGIN = frozenset({*IDENTIFYING_CODES, EventCode.QUERY})
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Damage:
    """A part of a log that could not be read, and why: from `start` on, up to the transaction at `end`.

    The transaction that `start` is in is read up to there. Where a log has no checksums, the error may be noticed
    later than where the damage begins.
    """

    error: DecodeError
    file: str
    start: int
    end: int


OnDamage = Callable[[Damage], None]
"""Is told of each part of a log that is stepped over because it is damaged."""

MakeReader = Callable[[SchemaHistory], BatchReader]


@dataclass(frozen=True, slots=True)
class SplitReader:
    """Reads splits.

    history     what is known of tables: from all the logs, so that a split knows what came before it
    on_damage   reads what is sound and tells of the rest; without it, damage is an error
    """

    history: SchemaHistory
    on_damage: OnDamage | None = None

    def batches(self, split: Split, make_reader: MakeReader) -> Iterator[TableBatch]:
        """Yield the rows of the transactions that a split owns."""
        reader: BatchReader | None = None
        for log in split.logs:
            for part in self._parts(log, split):
                if reader is None or part.begins_anew:
                    reader = make_reader(self.history.at(log.name, part.start))
                yield from part.run(reader.read(part.read_into(), log.name, part.span))

    def events(self, split: Split, *, expand: bool = True) -> Iterator[Event]:
        """Yield the events of the transactions that a split owns, and those around them."""
        for log in split.logs:
            for part in self._parts(log, split):
                yield from part.run(_events(part, expand=expand))

    def _parts(self, log: PlannedLog, split: Split) -> Iterator[_Part]:
        """Yield the parts of a log to read: one, unless damage is stepped over."""
        with _opened(log) as file:
            try:
                head = read_head(file, log.name)
            except DecodeError as error:
                self._report(error, log, 0, log.size)
                return
            bytes_ = LogBytes(file.read_at, log.size, head.format)
            begin = bytes_.find_start(split.start, split.end) if split.start else FIRST_EVENT_OFFSET
            begins_anew = split.is_part
            while begin is not None:
                part = _Part(log, file, bytes_, head, begin, split.end, begins_anew)
                yield part
                if part.error is None:
                    return
                begin = self._behind(part, bytes_, split.end)
                begins_anew = True

    def _behind(self, part: _Part, log: LogBytes, end: int | None) -> int | None:
        """Return where reading goes on behind damage."""
        assert part.error is not None
        if self.on_damage is None:
            raise part.error
        start = part.damage_start(part.error)
        found = log.find_start(start + 1) if part.head.can_split else None
        self._report(part.error, part.log, start, log.size if found is None else found)
        return None if found is None or (end is not None and found >= end) else found

    def _report(self, error: DecodeError, log: PlannedLog, start: int, end: int) -> None:
        if self.on_damage is None:
            raise error
        self.on_damage(Damage(error, log.name, start, end))


@dataclass(slots=True)
class _Part:
    """A part of a log that is read in one go."""

    log: PlannedLog
    file: LogFile
    bytes: LogBytes
    head: LogHead
    start: int
    end: int | None
    begins_anew: bool
    error: DecodeError | None = None

    @property
    def span(self) -> Span | None:
        """The span for the reader of batches; a log that cannot be split is read from its first byte on."""
        if not self.head.can_split:
            return None
        return Span(self.head.format, self.start, self.end, self.bytes.is_start)

    def read_into(self) -> ReadInto:
        """Return what reads the part, no further than the log went when the read was planned."""
        offset = self.start if self.head.can_split else 0
        self.file.seek(offset)

        def read(buffer: memoryview) -> int:
            nonlocal offset
            count = int(self.file.readinto(buffer[: self.log.size - offset]) or 0)
            offset += count
            return count

        return read

    def ends_before(self, frame: Frame) -> bool:
        """Tell whether the transaction that an event begins is another split's."""
        if self.end is None or frame.offset < self.end or frame.type_code not in _MAY_BEGIN:
            return False
        return self.bytes.is_start(frame.offset)

    def run(self, items: Iterator[_Item]) -> Iterator[_Item]:
        """Yield what is read, and keep the error that ends it."""
        try:
            yield from items
        except DecodeError as error:
            self.error = error
        except OSError as error:
            raise SourceError(error.strerror or str(error), Position(file=self.log.name)) from None

    def damage_start(self, error: DecodeError) -> int:
        """Return from where on the log is damaged."""
        noticed = max(self.start, error.position.offset or self.start)
        if not self.head.can_split or self.head.format.checksum_length:
            return noticed
        return Hopper(self.log, self.file, self.head).sound_end(self.start, noticed)


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
    """Open a log that was planned, if it is still that one."""
    try:
        with log.source.open() as file:
            _check_identity(log, file)
            yield file
    except OSError as error:
        raise SourceError(error.strerror or str(error), Position(file=log.name)) from None


def _check_identity(log: PlannedLog, file: LogFile) -> None:
    """Refuse a log that is not the one that was planned. One that was copied over, or has grown, begins alike."""
    if file.size >= log.size and has_fingerprint(file, log.fingerprint):
        return
    message = "another log took this name since the read was planned"
    if file.size < log.size:
        message = f"the log had {log.size} bytes when the read was planned, now it has {file.size}"
    raise SourceError(message, Position(file=log.name))
