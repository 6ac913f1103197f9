"""Batches of a stream that changes its way: to another server by GTIDs, and from GTIDs to positions in files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from binspark.event import Event
from binspark.files import read_events
from binspark.files.read import ReadOptions
from binspark.gtid import GtidSet
from binspark.replication.chunk import LogChunk, Origin
from binspark.replication.gtids import Gtids
from binspark.replication.position import BinlogPosition
from binspark.replication.sources import EventSource
from binspark.replication.stream import StreamEvent
from binspark.spark.streaming.backlog import Backlog
from binspark.spark.streaming.limit import Limit
from tests.corpus.cases import case_logs

LOG = case_logs("mysql/parallel")[0]
OLD, NEW = "old", "new"


def chunks_of(server: str, *, by_file: bool) -> list[LogChunk]:
    """Return the log as it is read event by event."""
    events = read_events(LOG, ReadOptions(expand_payloads=False))
    streamed = [StreamEvent(LOG.name, event.frame, in_file=True) for event in events]
    found: list[LogChunk] = []
    gtids: Gtids | None = GtidSet()
    for chunk in EventSource(streamed, 1 << 20):
        origin = Origin(server, gtids=gtids, gtids_enabled=True, by_file=by_file)
        found.append(chunk.with_origin(origin))
        gtids = found[-1].end_position.gtids
    return found


def batches(log: Backlog, position: BinlogPosition) -> Iterator[tuple[BinlogPosition, BinlogPosition, list[Event]]]:
    """Yield the batches of a log: from where, to where, and the events in them."""
    while (end := log.next_end(position, Limit(), None)) != position:
        chunks = log.carried(position, end)
        assert chunks is not None
        yield position, end, [event for chunk in chunks for event in chunk.events()]
        position = end


def filled(start: BinlogPosition, chunks: list[LogChunk]) -> Backlog:
    log = Backlog(start)
    for chunk in chunks:
        log.add(chunk)
    return log


def by_file_after(chunk: LogChunk) -> LogChunk:
    """Return a chunk after which file and offset are enough."""
    return chunk.with_origin(replace(chunk.origin, by_file=True))


def news(position: BinlogPosition) -> LogChunk:
    """Return an artificial event that says that file and offset are enough at a position."""
    first = chunks_of(NEW, by_file=True)[0]
    origin = Origin(NEW, gtids=position.gtids, gtids_enabled=True, by_file=True)
    return LogChunk(position.file, position.offset, first.format, memoryview(b""), event=first.event, origin=origin)


def test_by_file_all_events_come() -> None:
    start = BinlogPosition("binlog.000000", 4, GtidSet(), OLD)
    found = list(batches(filled(start, chunks_of(OLD, by_file=True)), start))
    assert [[event.offset for event in events] for _, _, events in found] == [
        [event.offset for event in read_events(LOG)]
    ]


def test_a_failover_begins_a_batch() -> None:
    before, after = chunks_of(OLD, by_file=True), chunks_of(NEW, by_file=False)
    transactions = [chunk for chunk in after if chunk.is_transaction]
    half = len(transactions) // 2
    cut = transactions[half].end
    chunks = [chunk for chunk in before if chunk.end <= cut] + transactions[half + 1 :]
    start = BinlogPosition(LOG.name, 4, GtidSet(), OLD)
    found = list(batches(filled(start, chunks), start))
    assert [(begin.server, end.server) for begin, end, _ in found] == [(OLD, OLD), (OLD, NEW), (NEW, NEW)]
    expected = [event for chunk in chunks for event in chunk.events()]
    assert [event.offset for _, _, events in found for event in events] == [event.offset for event in expected]


@pytest.mark.parametrize("turn", ["after a transaction", "at a position that is known"])
def test_a_batch_is_by_gtids_or_by_file(turn: str) -> None:
    """Whoever reads a batch again by GTIDs gets transactions only, and so does it the first time."""
    by_gtid, by_file = chunks_of(NEW, by_file=False), chunks_of(NEW, by_file=True)
    transactions = [number for number, chunk in enumerate(by_gtid) if chunk.is_transaction]
    half = transactions[len(transactions) // 2]
    chunks = by_gtid[: half + 1]
    if turn == "after a transaction":
        chunks[-1] = by_file_after(chunks[-1])
    else:
        chunks.append(news(chunks[-1].end_position))
    chunks += by_file[half + 1 :]
    start = BinlogPosition("", 0, GtidSet(), NEW, by_file=False)
    found = list(batches(filled(start, chunks), start))
    assert [(begin.by_file, end.by_file) for begin, end, _ in found] == [(False, False), (False, True), (True, True)]
    first = [event for events in (found[0][2], found[1][2]) for event in events]
    expected = [event for number in transactions if number <= half for event in by_gtid[number].events()]
    assert [event.offset for event in first] == [event.offset for event in expected]
    rest = [event for chunk in by_file[half + 1 :] for event in chunk.events()]
    assert [event.offset for event in found[2][2]] == [event.offset for event in rest]


def test_events_between_transactions_count_from_where_files_are_enough() -> None:
    """A file begins, and what it reports makes positions in it enough."""
    turn = 2
    chunks = [*chunks_of(NEW, by_file=False)[: turn - 1], *chunks_of(NEW, by_file=True)[turn - 1 :]]
    assert not any(chunk.is_transaction for chunk in chunks[:turn])
    start = BinlogPosition("", 0, GtidSet(), NEW, by_file=False)
    found = list(batches(filled(start, chunks), start))
    assert [(begin.by_file, end.by_file) for begin, end, _ in found] == [(False, True), (True, True)]
    rest = [event.offset for chunk in chunks[turn:] for event in chunk.events()]
    assert [[event.offset for event in events] for _, _, events in found] == [[], rest]


def test_news_of_a_position_that_is_passed_are_none() -> None:
    last = next(chunk for chunk in reversed(chunks_of(NEW, by_file=False)) if chunk.is_transaction).end_position
    log = filled(last, [news(replace(last, offset=200))])
    assert log.next_end(last, Limit(), None) == last
    log.add(news(replace(last, offset=last.offset + 100)))
    assert log.next_end(last, Limit(), None) == replace(last, offset=last.offset + 100, by_file=True)


def test_a_position_by_gtids_becomes_one_in_a_file() -> None:
    """A batch that ended by GTIDs is replayed, and the follower has turned to files before its end by now."""
    chunks = chunks_of(NEW, by_file=True)
    number, chunk = [(number, chunk) for number, chunk in enumerate(chunks) if chunk.is_transaction][3]
    position = replace(chunk.end_position, by_file=False)
    found = list(batches(filled(BinlogPosition("", 0, GtidSet(), NEW, by_file=False), chunks), position))
    assert [(begin.by_file, end.by_file) for begin, end, _ in found] == [(False, True), (True, True)]
    assert found[0][1].coordinates == position.coordinates
    rest = [event.offset for chunk in chunks[number + 1 :] for event in chunk.events()]
    assert [[event.offset for event in events] for _, _, events in found] == [[], rest]
