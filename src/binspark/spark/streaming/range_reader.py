"""A range of a server's logs, read by an executor: from what the driver sent along, or over its own connection."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

from binspark.columns.log_scan import LogScan
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.sequence import RepeatedRange, Sequence, log_number
from binspark.errors import Purged
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.replication.chunk import LogChunk, read_chunks
from binspark.replication.follow import Follower
from binspark.replication.gtids import includes
from binspark.replication.position import BinlogPosition
from binspark.replication.stop import StopCondition
from binspark.schema.history import SchemaHistory
from binspark.server.config import ConnectionConfig
from binspark.server.connection import connect
from binspark.server.info import server_info

Item = TypeVar("Item")
MakeReader = Callable[[SchemaHistory], BatchReader]


@dataclass(frozen=True)
class ServerRange:
    """The transactions between two positions of a server's logs; `carried` are their bytes, if they are few."""

    config: ConnectionConfig
    start: BinlogPosition
    end: BinlogPosition
    carried: tuple[LogChunk, ...] | None = None


@dataclass(frozen=True)
class RangeReader:
    """Reads ranges as `SplitReader` reads splits. A lost connection is made again, after the last event."""

    history: SchemaHistory

    def batches(self, part: ServerRange, make_reader: MakeReader) -> Iterator[TableBatch]:
        """Yield the rows of a range."""
        reader, end = make_reader(self.history), part.end
        start = part.start.offset if part.start.file == end.file else FIRST_EVENT_OFFSET
        repeated = RepeatedRange(start, end.offset)
        for is_own, chunks in groupby(range_chunks(part), lambda chunk: chunk.origin.server in ("", end.server)):
            if is_own:
                read: list[BinlogPosition] = []
                yield from read_chunks(reader, _noting_ends(chunks, read), Sequence(end.epoch))
                if read and read[-1].file == end.file:
                    repeated = RepeatedRange(read[-1].offset, end.offset)
                continue
            for chunk in chunks:  # another server repeats the rest of the range
                yield from read_chunks(reader, [chunk], Sequence(end.epoch, log_number(end.file), repeated))
                repeated = replace(repeated, first=repeated.first + reader.transaction_rows)

    def scan(self, part: ServerRange, scan: LogScan[Item]) -> Iterator[Item]:
        """Yield what a scan finds in a range."""
        return read_chunks(scan, range_chunks(part))


def _noting_ends(chunks: Iterable[LogChunk], last: list[BinlogPosition]) -> Iterator[LogChunk]:
    """Yield chunks, and keep the end of the last one."""
    for chunk in chunks:
        last[:] = [chunk.end_position]
        yield chunk


def range_chunks(part: ServerRange) -> Iterator[LogChunk]:
    """Yield the events of a range that are in the server's files. A chunk is valid until the next is requested."""
    if part.carried is not None:
        return iter(part.carried)
    if part.start.server == part.end.server and part.start.by_file and part.end.by_file and _is_reached(part):
        return _chunks_by_file(part)
    return _chunks_by_gtids(part)


def _is_reached(part: ServerRange) -> bool:
    """Whether the server that answers is the one of the range."""
    with connect(part.config) as connection:
        return server_info(connection).uuid == part.start.server


def _chunks_by_file(part: ServerRange) -> Iterator[LogChunk]:
    if part.start.order >= part.end.order:
        return
    # Without GTIDs, no other server continues it by GTIDs: the bytes would not be those of the range.
    start = replace(part.start, gtids=None)
    stop = StopCondition(part.end, end_of_log=True)
    with Follower(part.config, start, stop=stop, complete_transactions=False) as follower:
        for chunk in follower:
            if chunk.data:
                yield chunk
            if chunk.end_position.order >= part.end.order:
                return
    raise Purged(f"the server's log ends before {part.end.describe()}, which was there before", part.end.error_position)


def _chunks_by_gtids(part: ServerRange) -> Iterator[LogChunk]:
    """Yield the transactions of a range from another server of the same topology, by their GTIDs."""
    wanted = part.end.gtids
    if wanted is None:
        message = f"the server of {part.end.describe()} is gone, and the GTIDs up to there are not known"
        raise Purged(message, part.end.error_position)
    stop = StopCondition(end_of_log=True)
    with Follower(part.config, part.start, stop=stop, one_per_chunk=True) as follower:
        for chunk in follower:
            gtid = chunk.transactions.gtid(0) if chunk.is_transaction else None
            if gtid is not None and gtid in wanted:
                yield chunk
            delivered = chunk.end_position.gtids
            if delivered is not None and includes(delivered, wanted):
                return
