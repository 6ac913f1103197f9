"""Rows of a result set into record batches, with exactly the types and values that the same rows have in the log.

They are packed into rows events (kernel `kernels.result_rows`), which a `BatchReader` reads: policies, character sets
and errors are those of the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from binspark.columns.log_scan import Span
from binspark.columns.options import ColumnOptions
from binspark.columns.reader import BatchReader
from binspark.columns.result_forms import result_columns, stored_schema
from binspark.columns.selection import Selection
from binspark.errors import BinlogError, Malformed
from binspark.frames.codes import EventCode
from binspark.frames.format import LogFormat
from binspark.frames.header import HEADER_LENGTH, Header, encode_header
from binspark.kernels.layout import Header as At
from binspark.kernels.result_rows import Pack, Packed, pack_row, pack_rows
from binspark.position import Position
from binspark.schema.table import TableSchema
from binspark.wire import Writer

_TABLE_ID = 1
_EVENT_BYTES = 1 << 20
_SLACK = 64
_FORMAT = LogFormat(4, "", HEADER_LENGTH, b"")


class ResultPackets(Protocol):
    """The packets of a result set after the descriptions of its columns."""

    def unread(self) -> tuple[int, int, int]:
        """Return the addresses of the first byte that was not read, and after the last, and the next packet's number.

        The memory at them stays until the next call of another method. Some bytes after the last can be loaded, too.
        """
        ...

    def skip(self, count: int, sequence: int) -> None:
        """Note that as many bytes were read, and the number of the next packet."""
        ...

    def receive(self, needed: int) -> None:
        """Wait until the next packet, of as many bytes, has arrived, or at least more of it."""
        ...

    def read_row(self) -> bytes | None:
        """Return the payload of the next row, however many packets it takes; None after the last row."""
        ...


class ResultRows:
    """Reads the rows of a table that a query returns.

    table   the table, with the columns that were queried, in their order
    sent    the types that the server names for them
    """

    def __init__(self, table: TableSchema, options: ColumnOptions, sent: Sequence[int]) -> None:
        self._name = table.name
        self._columns = result_columns(table, options, sent)
        self._numbers = np.zeros(Pack.WIDTH, dtype=np.int64)
        self._head = _event_head(len(table.columns))
        self._event = np.zeros(_EVENT_BYTES + _SLACK, dtype=np.uint8)
        self._start = self._end = 0
        self._large_row: bytes | None = None
        self._is_last = False
        selection = Selection(metadata=False, options=options)
        self._reader = BatchReader(selection)
        self._reader.tables.map(_TABLE_ID, stored_schema(table), b"")

    @property
    def rows(self) -> int:
        """How many rows were received so far."""
        return int(self._numbers[Pack.ROWS])

    def batches(self, packets: ResultPackets) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a result set."""
        span = Span(_FORMAT, 0, None, lambda _offset: False)
        try:
            for found in self._reader.read(lambda view: self._read_into(view, packets), "", span):
                yield found.batch
        except BinlogError as error:
            if error.position.source is not None:
                raise
            raise type(error)(error.message, Position(source=f"rows of {self._name}")) from None

    def _read_into(self, view: memoryview, packets: ResultPackets) -> int:
        if self._start == self._end:
            self._fill(packets)
        count = min(len(view), self._end - self._start)
        view[:count] = self._event.data[self._start : self._start + count]
        self._start += count
        return count

    def _fill(self, packets: ResultPackets) -> None:
        """Make the next event; an empty one after the last row."""
        head, numbers = len(self._head), self._numbers
        self._event[:head] = self._head
        numbers[Pack.OUT_AT] = self._event.ctypes.data + head
        numbers[Pack.OUT_END] = self._event.ctypes.data + len(self._event) - _SLACK
        while not self._is_last and self._pack(packets):
            pass
        size = int(numbers[Pack.OUT_AT]) - int(self._event.ctypes.data)
        self._event[At.EVENT_SIZE : At.EVENT_SIZE + 4] = np.frombuffer(size.to_bytes(4, "little"), dtype=np.uint8)
        self._start, self._end = 0, 0 if size == head else size

    def _pack(self, packets: ResultPackets) -> bool:
        """Pack rows that have arrived; return whether the event has room for more."""
        numbers = self._numbers
        if self._large_row is not None:
            outcome = self._pack_large(self._large_row)
        else:
            start, end, sequence = packets.unread()
            numbers[Pack.IN_AT], numbers[Pack.IN_END], numbers[Pack.SEQUENCE] = start, end, sequence
            outcome = pack_rows(numbers, self._columns)
            packets.skip(int(numbers[Pack.IN_AT]) - start, int(numbers[Pack.SEQUENCE]))
        if outcome == Packed.FULL:
            return self._make_room()
        if outcome == Packed.REFUSED:
            raise Malformed("the server sent a row that does not have the columns that it announced")
        if outcome == Packed.MORE:
            packets.receive(int(numbers[Pack.NEEDED]))
        elif outcome == Packed.PYTHON:
            self._large_row = packets.read_row()
            self._is_last = self._large_row is None
        return True

    def _pack_large(self, row: bytes) -> int:
        """Pack a row of several packets."""
        padded = np.frombuffer(row + bytes(_SLACK), dtype=np.uint8)
        outcome: int = pack_row(self._numbers, self._columns, padded.ctypes.data, len(row))
        if outcome == 0:
            self._large_row = None
        return outcome

    def _make_room(self) -> bool:
        """Make room for a row in an event without rows; return False if the event has rows, and is complete."""
        numbers, head = self._numbers, len(self._head)
        if int(numbers[Pack.OUT_AT]) > self._event.ctypes.data + head:
            return False
        self._event = np.zeros(head + int(numbers[Pack.NEEDED]) + _EVENT_BYTES + _SLACK, dtype=np.uint8)
        self._event[:head] = self._head
        numbers[Pack.OUT_AT] = self._event.ctypes.data + head
        numbers[Pack.OUT_END] = self._event.ctypes.data + len(self._event) - _SLACK
        return True


def _event_head(columns: int) -> np.ndarray:
    """Return what a rows event begins with: its header, the table, and which columns are in its row images."""
    writer = Writer()
    encode_header(Header(0, EventCode.WRITE_ROWS, 0, 0, 0, 0), _FORMAT.version, writer)
    writer.raw(_TABLE_ID.to_bytes(6, "little") + bytes(2) + (2).to_bytes(2, "little"))
    writer.packed(columns)
    writer.raw(b"\xff" * ((columns + 7) // 8))
    return np.frombuffer(writer.take(), dtype=np.uint8)
