"""Consecutive bytes of one log, with an index of the transactions in them: from a server, from memory, from a file.

This module loads no NumPy. The index does, when it is first used: who only copies bytes does not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from binspark.event import Event, EventDecoder
from binspark.frames import EventCode, Framer, LogFormat
from binspark.replication.gtids import Gtids
from binspark.replication.position import BinlogPosition
from binspark.replication.stream import StreamEvent
from binspark.schema.table import TableName

if TYPE_CHECKING:
    from binspark.columns.log_scan import LogScan
    from binspark.columns.sequence import Sequence
    from binspark.replication.transaction_index import Bytes, TransactionIndex

Item = TypeVar("Item")
_WINDOW = 1 << 20
_TIMESTAMP = slice(0, 4)
_TYPE = 4


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a chunk was read: what the positions in it have in common.

    server         the UUID of the server
    created        when the server created the file, seconds since 1970; 0 if not known
    gtids          the GTIDs before the chunk; None where they are not known
    gtids_enabled  whether every transaction of the server has a GTID; if not, positions have none
    by_file        whether file and offset are enough after the chunk
    resets         how often the logs were reset under the stream
    epoch          how often it has continued with other logs
    """

    server: str = ""
    created: int = 0
    gtids: Gtids | None = None
    gtids_enabled: bool = False
    by_file: bool = True
    resets: int = 0
    epoch: int = 0

    def position(self, file: str, offset: int, gtids: Gtids | None) -> BinlogPosition:
        """Return a position of the chunk."""
        return BinlogPosition(file, offset, gtids, self.server, self.created, self.by_file, self.resets, self.epoch)


@dataclass(frozen=True, eq=False)
class ChunkPositions:
    """The positions between the transactions of a chunk; they remain when its bytes are dropped."""

    file: str
    end: int
    origin: Origin
    transactions: TransactionIndex

    def after(self, count: int) -> BinlogPosition:
        """Return the position after the first `count` transactions: the end of the chunk, if there are no more."""
        starts = self.transactions.starts
        offset = self.end if count >= len(starts) else int(starts[count])
        gtids = self.transactions.gtids_after(self.origin.gtids, count) if self.origin.gtids_enabled else None
        return self.origin.position(self.file, offset, gtids)


@dataclass(frozen=True, eq=False)
class LogChunk:
    """Complete events that follow each other in one log.

    file, offset    where the first of them is
    format          how it is laid out
    data            the bytes of all of them; of a chunk that is delivered as it comes, valid until the next but one
    complete_end    the offset after the last event after which no transaction was in progress; None if there is none
    timestamp       of the last event, in seconds since 1970; 0 if it has none
    indirect_rows   whether the offset of some event does not identify the rows in it
    event           the event, if the chunk is a single one. An artificial one (a heartbeat, a rotation) has no bytes
    is_transaction  whether the bytes are exactly one transaction
    origin          where the chunk was read
    """

    file: str
    offset: int
    format: LogFormat
    data: memoryview = field(repr=False)
    complete_end: int | None = None
    timestamp: int = 0
    indirect_rows: bool = False
    event: StreamEvent | None = None
    is_transaction: bool = False
    origin: Origin = Origin()

    @property
    def end(self) -> int:
        """The offset after the last event."""
        return self.offset + len(self.data)

    @property
    def is_heartbeat(self) -> bool:
        """Whether this only says that the server is alive."""
        return self.event is not None and self.event.is_heartbeat

    @property
    def is_rotation(self) -> bool:
        """Whether this only says in which file the stream continues, be it another one or the same."""
        return self.event is not None and self.event.is_rotation

    @property
    def first_timestamp(self) -> int:
        """The time of the first event, in seconds since 1970."""
        return int.from_bytes(self.data[_TIMESTAMP], "little")

    @cached_property
    def array(self) -> Bytes:
        """The bytes as an array, which shares their memory."""
        import numpy as np

        return np.frombuffer(self.data, dtype=np.uint8)

    @cached_property
    def transactions(self) -> TransactionIndex:
        """The transactions in the chunk."""
        from binspark.replication.transaction_index import index_one_transaction, index_transactions

        return index_one_transaction(self) if self.is_transaction else index_transactions(self)

    @cached_property
    def transactions_end(self) -> int:
        """The offset after the last transaction, that of the chunk if it has none: events after it belong to none."""
        from binspark.replication.transaction_index import end_of_last_transaction

        starts = self.transactions.starts
        return end_of_last_transaction(self, int(starts[-1])) if len(starts) else self.offset

    def is_inside_transaction(self, offset: int) -> bool:
        """Return whether the transaction of the event before an offset continues there."""
        from binspark.transactions.byte_tables import IDENTIFYING_CODES, OUTSIDE_CODES

        return offset < self.end and self.array[offset - self.offset + _TYPE] not in IDENTIFYING_CODES + OUTSIDE_CODES

    @cached_property
    def positions(self) -> ChunkPositions:
        """The positions between the transactions."""
        return ChunkPositions(self.file, self.end, self.origin, self.transactions)

    @cached_property
    def end_position(self) -> BinlogPosition:
        """The position after the chunk."""
        if self.data and self.origin.gtids_enabled:
            return self.position_after(len(self.transactions))
        return self.origin.position(self.file, self.end, self.origin.gtids if self.origin.gtids_enabled else None)

    def position_after(self, count: int) -> BinlogPosition:
        """Return the position after the first `count` transactions."""
        return self.positions.after(count)

    def with_origin(self, origin: Origin) -> LogChunk:
        """Return the same chunk, read at an origin."""
        placed = replace(self, origin=origin)
        known = {name: found for name, found in self.__dict__.items() if name in ("array", "transactions")}
        placed.__dict__.update(known)
        return placed

    def between(self, begin: int, end: int) -> LogChunk:
        """Return the events between two offsets of the file, as far as they are in the chunk."""
        begin, end = max(begin, self.offset), min(end, self.end)
        log_format = self.format if begin == self.offset else self.transactions.format
        return LogChunk(self.file, begin, log_format, self.data[begin - self.offset : end - self.offset])

    def events(self, *, expand_payloads: bool = True) -> Iterator[Event]:
        """Yield the events; a compressed payload is followed by the events inside, unless they are not wanted."""
        framer, decoder = Framer(self.format, self.offset), EventDecoder(self.file)
        for start in range(0, len(self.data), _WINDOW):
            for frame in framer.feed(bytes(self.data[start : start + _WINDOW])):
                event = decoder.decode(frame)
                yield event
                if expand_payloads and event.type_code == EventCode.TRANSACTION_PAYLOAD:
                    yield from decoder.inner_events(event)

    def statements(self) -> Iterator[Event]:
        """Yield the statements that are not only the begin or the end of a transaction."""
        from binspark.replication.transaction_index import find_statements

        return find_statements(self)

    def transaction_start(self, offset: int) -> int:
        """Return where the transaction of the event at an offset begins."""
        number = int(self.transactions.starts.searchsorted(offset, "right"))
        return int(self.transactions.starts[number - 1]) if number else self.offset

    def tables_between(self, begin: int, end: int) -> frozenset[TableName]:
        """Return the tables of the TABLE_MAPs between two offsets, at each of which an event begins."""
        from binspark.replication.transaction_index import find_tables

        return find_tables(self, begin, end)

    def event_at(self, offset: int) -> Event | None:
        """Return the event at an offset, None if the chunk ends there."""
        from binspark.replication.transaction_index import event_at

        return event_at(self, offset, self.transactions.format) if offset < self.end else None

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields for pickling: bytes instead of a view, and no event, which only the follower needs."""
        state = {item.name: getattr(self, item.name) for item in fields(self)}
        return {**state, "data": bytes(self.data), "event": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({**state, "data": memoryview(state["data"])})


def read_chunks(reader: LogScan[Item], chunks: Iterable[LogChunk], sequence: Sequence | None = None) -> Iterator[Item]:
    """Yield what a reader finds in chunks. Those that follow each other in a file are read as one part of it.

    `sequence` is what the SEQ of rows begins with, if they are those of a stream.
    """
    feed = _ChunkFeed(iter(chunks), sequence)
    while (chunk := feed.next_part()) is not None:
        yield from feed.read_part(reader, chunk)


class _ChunkFeed:
    """Copies the bytes of chunks into the buffers of a reader."""

    def __init__(self, chunks: Iterator[LogChunk], sequence: Sequence | None) -> None:
        self._chunks = chunks
        self._sequence = sequence
        self._chunk = next(chunks, None)
        self._taken = 0
        self._expected: tuple[str, int] = ("", 0)

    def next_part(self) -> LogChunk | None:
        """Begin the next part of a log; return its first chunk, None if there is none."""
        if self._chunk is not None:
            self._expected = (self._chunk.file, self._chunk.offset)
        return self._chunk

    def read_part(self, reader: LogScan[Item], first: LogChunk) -> Iterator[Item]:
        """Yield what is in a part that begins with a chunk."""
        from binspark.columns.log_scan import Span
        from binspark.columns.sequence import NO_EPOCH

        span = Span(first.format, first.offset, None, lambda _offset: False, self._sequence or NO_EPOCH)
        return reader.read(self._read_into, first.file, span)

    def _read_into(self, buffer: memoryview) -> int:
        """Fill a buffer with bytes of the part, 0 at its end."""
        filled = 0
        while filled < len(buffer) and self._chunk is not None and self._continues(self._chunk):
            count = min(len(self._chunk.data) - self._taken, len(buffer) - filled)
            buffer[filled : filled + count] = self._chunk.data[self._taken : self._taken + count]
            self._taken += count
            filled += count
            if self._taken == len(self._chunk.data):
                self._expected = (self._chunk.file, self._chunk.end)
                self._chunk, self._taken = next(self._chunks, None), 0
        return filled

    def _continues(self, chunk: LogChunk) -> bool:
        return self._taken > 0 or (chunk.file, chunk.offset) == self._expected
