"""Events of a log between offsets that are known: what is between them is not read."""

from __future__ import annotations

from collections.abc import Iterator

from binspark.event import Event, EventDecoder
from binspark.files.log_head import read_head
from binspark.files.read import ReadOptions
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode, Frame, Framer
from binspark.frames.magic import FIRST_EVENT_OFFSET

_FORMAT_CODES = frozenset({EventCode.FORMAT_DESCRIPTION, EventCode.START_V3, EventCode.START_ENCRYPTION})
_BLOCK = 1 << 18
_DEFAULT = ReadOptions()


class EventRanges:
    """Reads events of a log from offset to offset, in the order of the log.

    Whoever finds the ranges calls `note_format_change` with the events between them that may change the format.
    """

    def __init__(self, file: LogFile, name: str, options: ReadOptions = _DEFAULT) -> None:
        self._format_changes: list[tuple[int, int]] = []
        self._file = file
        self._options = options
        self._decoder = EventDecoder(name, options.limits)
        self._framer = Framer(read_head(file, name).format, report_checksums=options.report_checksums)
        self._block, self._block_start = b"", 0

    def note_format_change(self, event: Event) -> None:
        """Note an event, if others after it may have another format."""
        if event.type_code in _FORMAT_CODES and event.offset > FIRST_EVENT_OFFSET:
            self._format_changes.append((event.offset, event.end_offset))

    def events(self, start: int, end: int) -> Iterator[Event]:
        """Yield the events between two offsets, and after a payload those inside it."""
        while self._format_changes and self._format_changes[0][0] < start:
            first, after = self._format_changes.pop(0)
            for _ in self._frames(first, after):
                pass
        for frame in self._frames(start, end):
            event = self._decoder.decode(frame)
            yield event
            if frame.type_code == EventCode.TRANSACTION_PAYLOAD and self._options.expand_payloads:
                yield from self._decoder.inner_events(event)

    def _frames(self, start: int, end: int) -> Iterator[Frame]:
        self._framer.offset = start
        while start < end and (chunk := self._bytes(start, end)):
            yield from self._framer.feed(chunk)
            start += len(chunk)

    def _bytes(self, start: int, end: int) -> bytes:
        """Return bytes from an offset on, not all of them if there are many."""
        at = start - self._block_start
        if not 0 <= at < len(self._block):
            self._block, self._block_start = self._file.read_at(start, _BLOCK), start
            at = 0
        return self._block[at : at + end - start]
