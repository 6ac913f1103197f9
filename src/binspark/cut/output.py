"""The log that is written: positions, sizes and checksums of its events."""

from __future__ import annotations

from dataclasses import replace
from struct import Struct
from typing import Any, BinaryIO
from zlib import crc32

from binspark.cut.clock import GtidBody
from binspark.event import Event, MariadbGtidEvent, encode_body
from binspark.frames import MAGIC, EventCode, HeaderFlag, LogFormat
from binspark.frames.header import HEADER_LENGTH

_SIZE_AND_POSITION = Struct("<II")
_SIZE_OFFSET = 9
_FLAGS = Struct("<H")
_FLAGS_OFFSET = 17
_CRC = Struct("<I")
_WRAP = 0xFFFFFFFF


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

    def append(self, events: memoryview) -> None:
        """Write events that have their positions and checksums."""
        self._file.write(events)
        self.offset += len(events)

    def stop(self, last: bytes) -> None:
        """End the log as a server that shuts down does, after an event that begins with some bytes."""
        header = bytearray(last[:HEADER_LENGTH])
        header[4] = EventCode.STOP
        _FLAGS.pack_into(header, _FLAGS_OFFSET, 0)
        self.write(bytes(header))


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
