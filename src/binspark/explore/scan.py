"""Reading a part of a log by kernels: its transactions, or its events."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from binspark.columns.arena import ReadInto
from binspark.columns.event_list import BodyWriter, EventReader
from binspark.columns.log_scan import Item, LogScan, Span
from binspark.columns.transaction_list import Target, TransactionReader
from binspark.explore.log_index import LogIndex
from binspark.files.storage.store import LogFile


def read_transactions(
    file: LogFile, name: str, index: LogIndex, part: tuple[int, int], target: Target, *, with_tail: bool
) -> Iterator[pa.RecordBatch]:
    """Yield what a target makes of the transactions in a part of a log, from one offset to another.

    With a tail the transaction that is in progress at the end is one of them.
    """
    reader = TransactionReader(target)
    yield from read_part(reader, file, name, index, part)
    if with_tail:
        yield from reader.finish()


def read_bodies(
    file: LogFile, name: str, index: LogIndex, part: tuple[int, int], bodies: BodyWriter
) -> Iterator[pa.RecordBatch]:
    """Yield the events in a part of a log, with what is made of their bytes."""
    reader = EventReader(names=("pos", "inner", "type", "timestamp", "size"), bodies=bodies)
    yield from read_part(reader, file, name, index, part)


def read_part(
    reader: LogScan[Item], file: LogFile, name: str, index: LogIndex, part: tuple[int, int]
) -> Iterator[Item]:
    """Yield what a reader makes of a part of a log, from one offset to another."""
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
