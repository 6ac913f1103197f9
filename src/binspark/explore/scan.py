"""Reading a part of a log by kernels: its transactions, or its events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from binspark.columns.arena import ReadInto
from binspark.columns.event_list import BodyWriter, EventReader
from binspark.columns.list_reader import ListReader
from binspark.columns.log_scan import Span
from binspark.columns.transaction_list import Target, TransactionReader
from binspark.explore.log_index import LogIndex
from binspark.files.frame_scan import open_seekable
from binspark.files.sources import LogSource
from binspark.files.storage.store import LogFile
from binspark.os_errors import source_errors


@contextmanager
def opened(source: LogSource) -> Iterator[LogFile]:
    """Open a log that can be read from any offset; a compressed one is copied to a temporary file first."""
    with source_errors(source.name), open_seekable(source) as file:
        yield file


def read_transactions(
    file: LogFile, name: str, index: LogIndex, part: tuple[int, int], target: Target, *, with_tail: bool
) -> Iterator[pa.RecordBatch]:
    """Yield what a target makes of the transactions in a part of a log, from one offset to another.

    With a tail the transaction that is in progress at the end is one of them.
    """
    reader = TransactionReader(target)
    yield from _read(reader, file, name, index, part)
    if with_tail:
        yield from reader.finish()


def read_bodies(
    file: LogFile, name: str, index: LogIndex, part: tuple[int, int], bodies: BodyWriter
) -> Iterator[pa.RecordBatch]:
    """Yield the events in a part of a log, with what is made of their bytes."""
    reader = EventReader(names=("pos", "inner", "type", "timestamp", "size"), bodies=bodies)
    yield from _read(reader, file, name, index, part)


def _read(
    reader: ListReader, file: LogFile, name: str, index: LogIndex, part: tuple[int, int]
) -> Iterator[pa.RecordBatch]:
    start, end = part
    span = None
    if start > 0:
        assert index.format is not None
        span = Span(index.format, start, None, lambda _offset: True)
    return reader.read(_limited(file, start, end), name, span)


def _limited(file: LogFile, start: int, end: int) -> ReadInto:
    """Return how to read the bytes from one offset to another."""
    file.seek(start)
    left = end - start

    def read_into(buffer: memoryview) -> int:
        nonlocal left
        count = int(file.readinto(buffer[: max(0, min(left, len(buffer)))]) or 0)
        left -= count
        return count

    return read_into
