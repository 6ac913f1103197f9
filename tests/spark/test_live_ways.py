"""Batches of a stream that changes its way: to another server by GTIDs, and from GTIDs to places in files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from binspark.client.bulk.pieces import GroupPiece
from binspark.client.group import Group, Grouper, GroupKind
from binspark.client.gtid_memory import remember
from binspark.client.resume import ResumePoint
from binspark.event import Event
from binspark.files import read_events
from binspark.frames.format import Family
from binspark.gtid import GtidSet
from binspark.spark.streaming.backlog import LiveLog
from binspark.spark.streaming.limit import Limit
from binspark.spark.streaming.offset import StreamOffset
from tests.corpus.cases import case_logs

LOG = case_logs("mysql/parallel")[0]
OLD, NEW = "old", "new"


def groups(server: str, *, by_file: bool) -> Iterator[GroupPiece]:
    """Yield the log as it is read event by event."""
    grouper, memory = Grouper(1 << 20), remember(GtidSet(), Family.MYSQL)
    for event in read_events(LOG):
        for transaction, held in grouper.feed(event._replace(file=LOG.name)):
            kind = GroupKind.LOG if transaction is None else GroupKind.TRANSACTION
            if transaction is not None and transaction.gtid is not None:
                memory.add(transaction.gtid)
            point = ResumePoint(LOG.name, event.end_offset, memory.freeze(), server, by_file=by_file)
            yield GroupPiece(Group(kind, point, transaction, held))


def batches(log: LiveLog, place: StreamOffset) -> Iterator[tuple[StreamOffset, StreamOffset, list[Event]]]:
    """Yield the batches of a log: from where, to where, and the events in them."""
    while (end := log.next_end(place, Limit(), None)) != place:
        chunks = log.carried(place, end)
        assert chunks is not None
        yield place, end, [event for chunk in chunks for event in chunk.events()]
        place = end


def filled(start: StreamOffset, pieces: list[GroupPiece]) -> LiveLog:
    log = LiveLog(start)
    for piece in pieces:
        log.add(piece)
    return log


def at(piece: GroupPiece, **changes: object) -> GroupPiece:
    """Return a piece with another place behind it."""
    return GroupPiece(replace(piece.group, resume=replace(piece.resume, **changes)))  # type: ignore[arg-type]


def test_by_file_all_events_come() -> None:
    start = StreamOffset("binlog.000000", 4, "", OLD)
    found = list(batches(filled(start, list(groups(OLD, by_file=True))), start))
    assert [[event.offset for event in events] for _, _, events in found] == [
        [event.offset for event in read_events(LOG)]
    ]


def test_a_failover_begins_a_batch() -> None:
    before, behind = list(groups(OLD, by_file=True)), list(groups(NEW, by_file=False))
    transactions = [piece for piece in behind if piece.group.transaction is not None]
    half = len(transactions) // 2
    cut = transactions[half].resume.offset
    pieces = [piece for piece in before if piece.resume.offset <= cut]
    start = StreamOffset(LOG.name, 4, "", OLD)
    found = list(batches(filled(start, pieces + transactions[half + 1 :]), start))
    assert [(begin.server, end.server) for begin, end, _ in found] == [(OLD, OLD), (OLD, NEW), (NEW, NEW)]
    expected = [event for piece in pieces + transactions[half + 1 :] for event in piece.events()]
    assert [event.offset for _, _, events in found for event in events] == [event.offset for event in expected]


@pytest.mark.parametrize("turn", ["behind a transaction", "at a place that is known"])
def test_a_batch_is_by_gtids_or_by_file(turn: str) -> None:
    """Whoever reads a batch again by GTIDs gets transactions only, and so does it the first time."""
    by_gtid = list(groups(NEW, by_file=False))
    transactions = [number for number, piece in enumerate(by_gtid) if piece.group.transaction is not None]
    half = transactions[len(transactions) // 2]
    pieces = by_gtid[: half + 1]
    if turn == "behind a transaction":
        pieces[-1] = at(pieces[-1], by_file=True)
    else:
        last, log_event = pieces[-1].resume, next(piece for piece in by_gtid if piece.group.transaction is None)
        pieces.append(at(log_event, by_file=True, offset=last.offset, gtids=last.gtids))
    pieces += list(groups(NEW, by_file=True))[half + 1 :]
    start = StreamOffset("", 0, "", NEW, by_file=False)
    found = list(batches(filled(start, pieces), start))
    assert [(begin.by_file, end.by_file) for begin, end, _ in found] == [(False, False), (False, True), (True, True)]
    first = [event for events in (found[0][2], found[1][2]) for event in events]
    expected = [event for number in transactions if number <= half for event in by_gtid[number].events()]
    assert [event.offset for event in first] == [event.offset for event in expected]
    rest = [event for piece in list(groups(NEW, by_file=True))[half + 1 :] for event in piece.events()]
    assert [event.offset for event in found[2][2]] == [event.offset for event in rest]


def test_events_between_transactions_count_from_where_files_are_enough() -> None:
    """A file begins, and what it tells of itself makes places in it enough."""
    turn = 2
    pieces = [*list(groups(NEW, by_file=False))[: turn - 1], *list(groups(NEW, by_file=True))[turn - 1 :]]
    assert all(piece.group.transaction is None for piece in pieces[:turn])
    start = StreamOffset("", 0, "", NEW, by_file=False)
    found = list(batches(filled(start, pieces), start))
    assert [(begin.by_file, end.by_file) for begin, end, _ in found] == [(False, True), (True, True)]
    rest = [event.offset for piece in pieces[turn:] for event in piece.events()]
    assert [[event.offset for event in events] for _, _, events in found] == [[], rest]


def test_news_of_a_place_that_is_passed_are_none() -> None:
    pieces = list(groups(NEW, by_file=False))
    last = next(piece for piece in reversed(pieces) if piece.group.transaction is not None).resume
    log_event = next(piece for piece in pieces if piece.group.transaction is None)
    place = StreamOffset.of_point(last)
    log = filled(place, [at(log_event, by_file=True, gtids=last.gtids)])
    assert log.next_end(place, Limit(), None) == place
    log.add(at(log_event, by_file=True, gtids=last.gtids, offset=last.offset + 100))
    assert log.next_end(place, Limit(), None) == replace(place, by_file=True)


def test_a_place_that_gtids_told_becomes_one_in_a_file() -> None:
    """A batch that ended by GTIDs is replayed, and the follower has turned to files before its end by now."""
    pieces = list(groups(NEW, by_file=True))
    number, piece = [(number, piece) for number, piece in enumerate(pieces) if piece.group.transaction is not None][3]
    place = StreamOffset.of_point(replace(piece.resume, by_file=False))
    found = list(batches(filled(StreamOffset("", 0, "", NEW, by_file=False), pieces), place))
    assert [(begin.by_file, end.by_file) for begin, end, _ in found] == [(False, True), (True, True)]
    assert found[0][1].place == place.place
    rest = [event.offset for piece in pieces[number + 1 :] for event in piece.events()]
    assert [[event.offset for event in events] for _, _, events in found] == [[], rest]
