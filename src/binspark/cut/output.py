"""The log that is written: positions, sizes and checksums of its events, and the logical clock of its transactions."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import replace
from struct import Struct
from typing import Any, BinaryIO
from zlib import crc32

from binspark.event import Event, GtidEvent, GtidTagged, MariadbGtidEvent, encode_body
from binspark.frames import MAGIC, EventCode, HeaderFlag, LogFormat
from binspark.frames.header import HEADER_LENGTH

_SIZE_AND_POSITION = Struct("<II")
_SIZE_OFFSET = 9
_FLAGS = Struct("<H")
_FLAGS_OFFSET = 17
_CRC = Struct("<I")
_WRAP = 0xFFFFFFFF
_KEPT_NUMBERS = 1 << 16

GtidBody = GtidEvent | GtidTagged | MariadbGtidEvent


def bare(event: Event, body: Any = None) -> bytes:
    """Return an event without its checksum; with another body, if one is given."""
    frame = event.frame
    if body is None:
        return frame.data[: frame.body_end]
    encoded = encode_body(frame.type_code, body, frame.format, event.extra)
    return frame.data[:HEADER_LENGTH] + encoded


class OutputLog:
    """Writes events. Each gets its size, its next position and its checksum.

    offset   where the next event begins
    """

    def __init__(self, file: BinaryIO, log_format: LogFormat) -> None:
        self._file = file
        self.checksum_length = log_format.checksum_length
        file.write(MAGIC)
        self.offset = len(MAGIC)

    def copy(self, event: Event) -> None:
        """Write an event as it is; if it is where it was, its bytes are the same."""
        frame = event.frame
        same = frame.offset == self.offset and frame.inner is None and frame.header.next_position
        if same and len(frame.data) - frame.body_end == self.checksum_length:
            self._file.write(frame.data)
            self.offset += len(frame.data)
        else:
            self.write(bare(event))

    def write(self, event: bytes) -> None:
        """Write an event that has no checksum."""
        size = len(event) + self.checksum_length
        self.offset += size
        placed = bytearray(event)
        _SIZE_AND_POSITION.pack_into(placed, _SIZE_OFFSET, size, self.offset & _WRAP)
        if self.checksum_length:
            placed += _CRC.pack(crc32(placed))
        self._file.write(placed)

    def write_description(self, event: Event) -> None:
        """Write the format description as that of a closed log. It has a checksum in all logs of current servers."""
        frame = event.frame
        description = bytearray(frame.data[: frame.body_end])
        flags = event.header.flags & ~(HeaderFlag.BINLOG_IN_USE | HeaderFlag.RELAY_LOG | HeaderFlag.ARTIFICIAL)
        size = len(frame.data)
        self.offset += size
        _SIZE_AND_POSITION.pack_into(description, _SIZE_OFFSET, size, self.offset)
        _FLAGS.pack_into(description, _FLAGS_OFFSET, flags)
        if len(description) < size:
            description += _CRC.pack(crc32(description))
        self._file.write(description)

    def truncate(self, offset: int) -> None:
        """Remove what was written from an offset on."""
        self._file.seek(offset)
        self._file.truncate()
        self.offset = offset

    def stop(self, last: Event) -> None:
        """End the log as a server that shuts down does."""
        header = bytearray(last.frame.data[:HEADER_LENGTH])
        header[4] = EventCode.STOP
        _FLAGS.pack_into(header, _FLAGS_OFFSET, 0)
        self.write(bytes(header))


class LogicalClock:
    """Numbers the transactions of the new log, so that replicas apply in parallel what they could before.

    A transaction follows the last one that is kept of those that it had to follow. For a bounded number of the last
    transactions that is known exactly; before them, it follows the first of these.
    """

    def __init__(self) -> None:
        self._last = 0
        self._before_file = 0
        self._old: deque[int] = deque(maxlen=_KEPT_NUMBERS)

    def begin_file(self) -> None:
        """Begin another log: its numbers begin with 1 again, and nothing in it runs before what earlier logs have."""
        self._before_file = self._last
        self._old.clear()

    def moved(self, body: GtidBody) -> GtidBody:
        """Return a GTID with its numbers in the new log."""
        if isinstance(body, MariadbGtidEvent) or body.sequence_number is None:
            return body
        parent = self._parent(body.last_committed or 0)
        self._last += 1
        self._old.append(body.sequence_number)
        return replace(body, last_committed=parent, sequence_number=self._last)

    def undo(self, body: GtidBody) -> None:
        """Take back the last number."""
        if not isinstance(body, MariadbGtidEvent) and body.sequence_number is not None:
            self._last -= 1
            self._old.pop()

    def _parent(self, old: int) -> int:
        if not self._old or old < self._old[0]:
            forgotten = self._last - len(self._old)
            return forgotten if self._old and len(self._old) == _KEPT_NUMBERS else self._before_file
        return self._last - len(self._old) + bisect_right(self._old, old)


def gtid_event(event: Event, body: GtidBody, rest: int, checksum_length: int) -> bytes:
    """Return a GTID event without its checksum, whose transaction has `rest` bytes after it."""
    if isinstance(body, MariadbGtidEvent) or body.transaction_length is None:
        return bare(event, body)
    length = body.transaction_length
    while True:
        encoded = bare(event, replace(body, transaction_length=length))
        total = len(encoded) + checksum_length + rest
        if total == length:
            return encoded
        length = total
