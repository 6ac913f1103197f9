"""Read one split of a log, as batches of rows or as events: find its first transaction, and stop after its last."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from binspark.columns.log_scan import LogScan
from binspark.columns.reader import BatchReader, TableBatch
from binspark.errors import DecodeError, SourceError
from binspark.event import Event, EventDecoder
from binspark.files.damage import Damage, OnDamage
from binspark.files.log_head import has_fingerprint
from binspark.files.parts import LogParts, Part
from binspark.files.splits import PlannedLog, Split
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode, Framer
from binspark.os_errors import source_errors
from binspark.position import Position
from binspark.schema.history import SchemaHistory

__all__ = ["Damage", "MakeReader", "OnDamage", "SplitReader"]

_CHUNK = 1 << 18
_Item = TypeVar("_Item")

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
            for part, is_new in self._parts(log, split):
                if reader is None or is_new or split.is_part:
                    reader = make_reader(self.history.at(log.name, part.start))
                yield from part.until_error(reader.read(part.read_into(), log.name, part.span))

    def scan(self, split: Split, scan: LogScan[_Item]) -> Iterator[_Item]:
        """Yield what a scan finds in the transactions that a split owns, and in the events between them."""
        for log in split.logs:
            for part, _ in self._parts(log, split):
                yield from part.until_error(scan.read(part.read_into(), log.name, part.span))

    def events(self, split: Split, *, expand: bool = True) -> Iterator[Event]:
        """Yield the events of the transactions that a split owns, and the events between them."""
        for log in split.logs:
            for part, _ in self._parts(log, split):
                yield from part.until_error(_events(part, expand=expand))

    def _parts(self, log: PlannedLog, split: Split) -> Iterator[tuple[Part, bool]]:
        """Yield the parts of a log to read, and whether each comes after damage."""
        with _opened(log) as file:
            after_damage = False
            for part in LogParts(log, file, self.on_damage).between(split.start, split.end):
                yield part, after_damage
                after_damage = True


def _events(part: Part, *, expand: bool) -> Iterator[Event]:
    framer = Framer() if part.is_first else Framer(part.format, part.start)
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
