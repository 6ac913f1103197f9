"""A range of a server's log, read by an executor: from what the driver sent along, or over a connection of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from binspark.client.bulk.chunk_reader import ChunkReader
from binspark.client.bulk.follow_runs import RunFollower
from binspark.client.bulk.outline import Chunk
from binspark.client.bulk.runs import Stop
from binspark.client.connect import connect
from binspark.client.follow import follow
from binspark.client.identity import identify
from binspark.client.options import ConnectionOptions
from binspark.client.resume import ResumePoint
from binspark.client.settings import FollowSettings, StreamSettings
from binspark.columns.reader import BatchReader, TableBatch
from binspark.errors import Purged
from binspark.event import Event
from binspark.files.sources import log_order
from binspark.schema.history import SchemaHistory

MakeReader = Callable[[SchemaHistory], BatchReader]

_TO_THE_END = FollowSettings(stream=StreamSettings(until_end=True))


@dataclass(frozen=True)
class LiveRange:
    """The transactions between two places of a server's log; `carried` are their bytes, where they were few."""

    connection: ConnectionOptions
    start: ResumePoint
    end: ResumePoint
    carried: tuple[Chunk, ...] | None = None


@dataclass(frozen=True)
class LiveReader:
    """Reads ranges as `SplitReader` reads splits. A connection that is lost is made again, behind the last event."""

    history: SchemaHistory

    def batches(self, part: LiveRange, make_reader: MakeReader) -> Iterator[TableBatch]:
        """Yield the rows of a range."""
        reader = make_reader(self.history)
        chunks = ChunkReader(range_chunks(part))
        while (span := chunks.next_span()) is not None:
            yield from reader.read(chunks.read_into, chunks.file, span)

    def events(self, part: LiveRange, *, expand: bool = True) -> Iterator[Event]:
        """Yield the events of a range."""
        for chunk in range_chunks(part):
            yield from chunk.events(expand=expand)


def range_chunks(part: LiveRange) -> Iterator[Chunk]:
    """Yield the events of a range that are in the server's files. A chunk is good until the next is asked for."""
    if part.carried is not None:
        return iter(part.carried)
    if part.start.server == part.end.server and part.start.by_file and part.end.by_file and _is_there(part):
        return _chunks_by_file(part)
    return _chunks_by_gtid(part)


def _is_there(part: LiveRange) -> bool:
    with connect(part.connection) as connection:
        return identify(connection).uuid == part.start.server


def _chunks_by_file(part: LiveRange) -> Iterator[Chunk]:
    end = (log_order(part.end.file), part.end.offset)
    start = ResumePoint(part.start.file, part.start.offset, None, part.start.server, part.start.created)
    if (log_order(start.file), start.offset) >= end:
        return
    follower = RunFollower(part.connection, start, _TO_THE_END, stop=Stop(part.end.file, part.end.offset))
    try:
        for run in follower:
            if run.data:
                yield run.chunk
            if (log_order(run.file), run.end) >= end:
                return
    finally:
        follower.close()
    raise Purged(f"the server's log ends before {part.end.file}:{part.end.offset}, which was there before")


def _chunks_by_gtid(part: LiveRange) -> Iterator[Chunk]:
    """Yield the transactions of a range from another server of the same topology, by their GTIDs."""
    wanted = part.end.gtids
    if wanted is None:
        message = f"the server of {part.end.file}:{part.end.offset} is gone, and the GTIDs up to there are not known"
        raise Purged(message, part.end.position)
    follower = follow(part.connection, part.start, _TO_THE_END)
    try:
        for group in follower:
            gtid = None if group.transaction is None else group.transaction.gtid
            if gtid is not None and gtid in wanted:
                for event in group.events(expand_payloads=False):
                    data = np.frombuffer(event.frame.data, dtype=np.uint8)
                    yield Chunk(event.file, event.offset, event.frame.format, data)
            if group.resume.gtids is not None and wanted <= group.resume.gtids:  # type: ignore[operator]
                return
    finally:
        follower.close()
