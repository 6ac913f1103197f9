"""The frames of a log as mysqlbinlog reads it: from a position on, checksums verified only if that is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

from binspark.dump.settings import Base64Output, DumpSettings
from binspark.errors import DecodeError, SourceError, Truncated
from binspark.files.sources import LogSource
from binspark.files.standard_input import STANDARD_INPUT
from binspark.files.storage.store import LogFile
from binspark.frames import EventCode, Frame, Framer, LogFormat
from binspark.frames.format import CHECKSUM_LENGTH
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.frames.payload import payload_frames
from binspark.os_errors import describe_os_error
from binspark.position import COMPRESSED_SUFFIXES, Position

if TYPE_CHECKING:
    from binspark.event import Event, TransactionPayload

_CHUNK = 1 << 18
MIN_BULK_BYTES = 1 << 20
"""Logs from this size on are printed in bulk."""
_BEFORE_ANY_START = frozenset({EventCode.FORMAT_DESCRIPTION, EventCode.ROTATE, EventCode.PREVIOUS_GTIDS})


def pays_in_bulk(source: LogSource) -> bool:
    """Return whether a log is so large that loading kernels takes less time than they save."""
    if source.name == STANDARD_INPUT or source.name.lower().endswith(COMPRESSED_SUFFIXES):
        return False
    try:
        return source.size() - source.start >= MIN_BULK_BYTES
    except SourceError:
        return False


def needs_every_event(settings: DumpSettings) -> bool:
    """Return whether options need events one at a time."""
    selection = settings.selection
    return (
        settings.hexdump
        or settings.short_form
        or settings.print_table_metadata
        or settings.skip_gtids
        or settings.require_row_format
        or settings.verify_binlog_checksum
        or settings.database is not None
        or bool(settings.rewrite_db)
        or settings.base64_output is Base64Output.NEVER
        or selection.server_id is not None
        or selection.include_gtids is not None
        or selection.exclude_gtids is not None
    )


class BulkReader(Protocol):
    """Prints events of a log by itself."""

    def frames(self, file: LogFile, framer: Framer) -> Iterator[Frame]:
        """Yield the frames from the position of a framer on that must be printed one at a time."""


def log_frames(source: LogSource, bulk: BulkReader | None, *, verify: bool) -> Iterator[tuple[Frame, int]]:
    """Yield the format description and the frames from `source.start` on, with the positions that are printed for them.

    `bulk` prints events by itself, and yields the others.

    If the dump does not start with the log, the position of the format description is that of the event after which it
    was known that there is no other one: that is what mysqlbinlog prints. The stop is up to the caller.
    """
    framer = Framer(report_checksums=not verify)
    start = source.start if source.start > FIRST_EVENT_OFFSET else 0
    try:
        with source.open() as file:
            if start:
                head, last = _find_description(file, framer, start)
                yield head, last.offset
                first = max(start, last.end_offset)
                framer = Framer(head.format, first, report_checksums=not verify)
                file.seek(first)
            elif bulk is not None:
                head, _ = _find_description(file, framer, FIRST_EVENT_OFFSET + 1)
                yield head, head.offset
                framer = Framer(head.format, head.end_offset, report_checksums=not verify)
                file.seek(head.end_offset)
            if bulk is not None and framer.format is not None and _has_current_layout(framer.format):
                for frame in bulk.frames(file, framer):
                    yield frame, frame.offset
                return
            while chunk := file.read(_CHUNK):
                for frame in framer.feed(chunk):
                    yield frame, frame.offset
        framer.finish()
    except DecodeError as error:
        raise error.at(Position(file=source.name)) from None
    except OSError as error:
        raise SourceError(describe_os_error(error), Position(source.name, framer.offset)) from None


def _has_current_layout(log_format: LogFormat) -> bool:
    return log_format.is_v4 and log_format.header_length == HEADER_LENGTH and log_format.event_codes is None


def _find_description(file: LogFile, framer: Framer, start: int) -> tuple[Frame, Frame]:
    """Return the last format description before `start` among the first events of a log, and the last event read.

    A relay log has two format descriptions.
    """
    found: Frame | None = None
    last: Frame | None = None
    while chunk := file.read(_CHUNK):
        for frame in framer.feed(chunk):
            if found is not None and last is not None and frame.offset >= start:
                return found, last
            last = frame
            if frame.type_code == EventCode.FORMAT_DESCRIPTION:
                found = frame
            elif found is not None and frame.type_code not in _BEFORE_ANY_START:
                return found, last
    if found is None or last is None:
        framer.finish()
        raise Truncated("the log has no format description", Position(offset=FIRST_EVENT_OFFSET))
    return found, last


def inner_frames(event: Event) -> Iterator[Frame]:
    """Yield the frames of a compressed transaction as if they were outside it."""
    payload: TransactionPayload = event.body
    outer = event.frame
    try:
        for frame in payload_frames(outer, payload.payload, payload.compression_type, payload.uncompressed_size):
            yield as_outside(frame, outer)
    except DecodeError as error:
        raise error.at(event.position) from None


def as_outside(frame: Frame, outer: Frame) -> Frame:
    """Return a frame of a compressed transaction as if it were outside it: with a checksum, if the log has them."""
    header = frame.header._replace(next_position=outer.header.next_position)
    data = frame.data
    if outer.format.checksum_length:
        size = (len(data) + CHECKSUM_LENGTH).to_bytes(4, "little")
        data = data[:9] + size + data[13:]
        data += crc32(data).to_bytes(CHECKSUM_LENGTH, "little")
    return frame._replace(
        header=header, data=data, format=outer.format, offset=outer.offset, end_offset=outer.end_offset
    )
