"""The parts of a log between damage: each is read up to an error, the next one begins with a transaction after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from binspark.columns.arena import ReadInto
from binspark.columns.log_scan import Span
from binspark.columns.starts import LogBytes
from binspark.errors import BinlogError, DecodeError
from binspark.event import EventDecoder
from binspark.files.damage import Damage, OnDamage
from binspark.files.frame_scan import FrameScanner, Hole
from binspark.files.header_scan import HeaderScanner
from binspark.files.log_head import LogHead, read_head
from binspark.files.read import StartRule
from binspark.files.splits import PlannedLog
from binspark.files.storage.store import LogFile
from binspark.frames import ChecksumState, EventCode, Frame, LogFormat
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.os_errors import source_errors
from binspark.transactions.byte_tables import IDENTIFYING_CODES

_MAY_BEGIN = frozenset({*IDENTIFYING_CODES, EventCode.QUERY})
_Item = TypeVar("_Item")


@dataclass(slots=True)
class Part:
    """A part of a log without damage before its end.

    format      the format of its first event
    is_first    whether it begins with the first byte of the log, because events cannot be found from any offset
    error       what ended it, set by `until_error`
    """

    log: PlannedLog
    file: LogFile
    bytes: LogBytes
    head: LogHead
    format: LogFormat
    start: int
    end: int | None
    is_first: bool = False
    error: BinlogError | None = None

    @property
    def span(self) -> Span | None:
        """The range for a `BatchReader`; None for a log that must be read from its first byte."""
        return None if self.is_first else Span(self.format, self.start, self.end, self.bytes.is_start)

    def read_into(self) -> ReadInto:
        """Return a function that reads the part, up to the size of the log when the read was planned."""
        offset = 0 if self.is_first else self.start
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

    def until_error(
        self, items: Iterator[_Item], errors: tuple[type[BinlogError], ...] = (DecodeError,)
    ) -> Iterator[_Item]:
        """Yield items up to the first error of one of these classes, which is kept in `error`."""
        try:
            with source_errors(self.log.name):
                yield from items
        except errors as error:
            self.error = error


@dataclass(frozen=True, slots=True)
class LogParts:
    """The parts of an open log.

    on_damage   called for damage, after which reading continues; None makes damage an error
    """

    log: PlannedLog
    file: LogFile
    on_damage: OnDamage | None

    def between(self, start: int = 0, end: int | None = None) -> Iterator[Part]:
        """Yield the parts to read in a range of offsets: one, and another one after each damage that is skipped."""
        try:
            head = read_head(self.file, self.log.name)
        except DecodeError as error:
            part = self._without_head(error, end)
        else:
            part = self._first(head, start, end)
        yield from self._from(part)

    def from_event(self, start: int) -> Iterator[Part]:
        """Yield the parts from an event on, which begins at an offset: one, and another one after each damage."""
        head = read_head(self.file, self.log.name)
        yield from self._from(Part(self.log, self.file, self._bytes(head), head, head.format, start, None))

    def _from(self, part: Part | None) -> Iterator[Part]:
        while part is not None:
            yield part
            part = None if part.error is None else self._after(part, part.error)

    def _first(self, head: LogHead, start: int, end: int | None) -> Part | None:
        log = LogBytes(self.file.read_at, self.log.size, head.format)
        if start == 0:
            first = Part(self.log, self.file, log, head, head.format, FIRST_EVENT_OFFSET, end)
            first.is_first = not head.can_split
            return first
        found = log.find_start(start, end)
        return None if found is None else Part(self.log, self.file, log, head, head.format, found, end)

    def _without_head(self, error: DecodeError, end: int | None) -> Part | None:
        """Return the first part of a log whose first event is damaged."""
        head = None if self.on_damage is None else head_after_damage(self.file)
        if head is None:
            self._report(error, error.position.offset or 0, self._size)
            return None
        log = self._bytes(head)
        found = log.find_start(head.frame.offset) if head.can_split else head.frame.offset
        self._report(error, error.position.offset or 0, self._size if found is None else found)
        return None if found is None else Part(self.log, self.file, log, head, head.format, found, end)

    def _after(self, part: Part, error: BinlogError) -> Part | None:
        """Return the part after damage, None if nothing of the range is left."""
        if self.on_damage is None or error.position.offset is None:
            raise error
        if self.file.is_compressed:
            part.bytes = self._bytes(part.head)
        start = self._damage_start(part, error.position.offset)
        found, log_format = self._next_start(part, start)
        self._report(error, start, self._size if found is None else found)
        if found is None or (part.end is not None and found >= part.end):
            return None
        return Part(self.log, self.file, part.bytes, part.head, log_format, found, part.end)

    def _damage_start(self, part: Part, error_offset: int) -> int:
        """Return the offset at which the damage begins."""
        noticed = max(part.start, error_offset)
        if not part.head.can_split or part.format.checksum_length:
            return noticed
        return HeaderScanner(self.log, self.file, part.head).sound_end(part.start, noticed)

    def _next_start(self, part: Part, damage_start: int) -> tuple[int | None, LogFormat]:
        """Return the offset of the first transaction after damage, and the format there.

        Logs whose headers do not have their own positions are scanned from their beginning, event by event.
        """
        if part.head.can_split:
            return part.bytes.find_start(damage_start + 1), part.format
        if part.format.version == 1:  # only read from their beginning, and without rows
            return None, part.format
        rule, decoder = StartRule(), EventDecoder(self.log.name)
        for item in FrameScanner(self.file).scan():
            if isinstance(item, Hole) or item.offset <= damage_start or item.checksum is ChecksumState.BAD:
                rule.note_damage()
                rule.has_gtids |= isinstance(item, Frame) and item.type_code in IDENTIFYING_CODES
                continue
            try:
                if rule.is_start(decoder.decode(item)):
                    return (item.offset if item.offset < self._size else None), item.format
            except DecodeError:
                rule.note_damage()
        return None, part.format

    def _bytes(self, head: LogHead) -> LogBytes:
        return LogBytes(self.file.read_at, self._size, head.format)

    @property
    def _size(self) -> int:
        """The size of the log when it was planned; that of a compressed one was not known then."""
        return self.file.size if self.file.is_compressed else self.log.size

    def _report(self, error: BinlogError, start: int, end: int) -> None:
        if self.on_damage is None:
            raise error
        self.on_damage(Damage(error, self.log.name, start, end))


def head_after_damage(file: LogFile) -> LogHead | None:
    """Return the first sound event of a log whose magic or first event is damaged, None if nothing of it is sound."""
    scanner = FrameScanner(file)
    for item in scanner.scan():
        if isinstance(item, Frame) and item.checksum is not ChecksumState.BAD:
            return LogHead(item, scanner.relay)
    return None
