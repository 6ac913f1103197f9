"""What a follower has brought, cut into batches: nothing twice, nothing left out, no transaction cut, limits obeyed."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.client.bulk.outline import Chunk, outline
from binspark.client.bulk.pieces import BytesPiece
from binspark.client.resume import ResumePoint
from binspark.errors import ConnectionLost
from binspark.files import read_events
from binspark.frames import MAGIC
from binspark.gtid import GtidSet
from binspark.spark.streaming import backlog as live_log
from binspark.spark.streaming.backlog import LiveLog
from binspark.spark.streaming.limit import Limit
from binspark.spark.streaming.offset import StreamOffset
from tests.corpus.cases import case_logs

LOG = case_logs("mysql/parallel")[0]
SERVER = "server"
START = StreamOffset(LOG.name, len(MAGIC), "", SERVER)


def whole_log() -> Chunk:
    data = np.frombuffer(LOG.read_bytes()[len(MAGIC) :], dtype=np.uint8)
    return Chunk(LOG.name, len(MAGIC), next(iter(read_events(LOG))).frame.format, data)


WHOLE = whole_log()
OUTLINE = outline(WHOLE)
STARTS = OUTLINE.starts.tolist()


def pieces(places: list[int], *, by_file: bool = True) -> list[BytesPiece]:
    """Return the log in pieces that end at some of the places where a transaction begins."""
    ends = sorted({*places, WHOLE.end})
    found, gtids = [], GtidSet()
    for begin, end in zip([WHOLE.offset, *ends], ends, strict=False):
        log_format = WHOLE.format if begin == WHOLE.offset else OUTLINE.format
        data = WHOLE.data[begin - WHOLE.offset : end - WHOLE.offset]
        place = ResumePoint(LOG.name, end, None, SERVER, by_file=by_file)
        piece = BytesPiece(LOG.name, begin, log_format, data, False, place, gtids, True)
        gtids = piece.resume.gtids
        found.append(piece)
    return found


def filled(places: list[int]) -> LiveLog:
    log = LiveLog(START)
    for piece in pieces(places):
        log.add(piece)
    return log


limits = st.builds(Limit, st.none() | st.integers(1, 20_000), st.none() | st.integers(1, 10))


@settings(deadline=None)
@given(st.lists(st.sampled_from(STARTS[1:])), limits, st.booleans())
def test_batches_together_are_the_log(places: list[int], limit: Limit, restarts: bool) -> None:
    log, place, carried = filled(places), START, b""
    while (end := log.next_end(place, limit, None)) != place:
        transactions = [start for start in STARTS if place.pos <= start < end.pos]
        assert end.pos in (*STARTS, WHOLE.end)
        assert len(transactions) <= 1 or limit.allows(end.pos - place.pos, len(transactions))
        count = sum(start < end.pos for start in STARTS)
        assert end.gtid == str(OUTLINE.names.added_to(OUTLINE.told, count))
        chunks = log.carried(place, end)
        assert chunks is not None
        carried += b"".join(chunk.data.tobytes() for chunk in chunks)
        place = end
        if restarts:  # another follower begins here, and what it brings is cut anew
            log = LiveLog(place)
            for piece in pieces([place.pos]):
                if piece.offset >= place.pos:
                    log.add(piece)
    assert carried == WHOLE.data.tobytes()


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sampled_from(STARTS[1:])), st.sampled_from(STARTS[1:]), limits)
def test_a_target_is_not_passed(places: list[int], target: int, limit: Limit) -> None:
    log, place = filled(places), START
    goal = StreamOffset(LOG.name, target, None, SERVER)
    while (end := log.next_end(place, limit, goal)) != place:
        place = end
    assert place.pos == target


def test_a_batch_may_begin_between_two_cuts() -> None:
    log = filled([])
    inside = next(event.end_offset for event in read_events(LOG) if event.offset > len(MAGIC))
    place = StreamOffset(LOG.name, inside, "", SERVER)
    assert inside not in STARTS or inside == STARTS[0]
    end = log.next_end(place, Limit(transactions=1), None)
    chunks = log.carried(place, end)
    assert end.pos == STARTS[1]
    assert chunks is not None
    assert [(chunk.offset, chunk.end) for chunk in chunks] == [(inside, STARTS[1])]
    assert next(event.offset for chunk in chunks for event in chunk.events()) == inside


def test_what_is_large_is_not_carried(monkeypatch: pytest.MonkeyPatch) -> None:
    log = filled(STARTS[1:])
    end = log.next_end(START, Limit(), None)
    assert log.carried(START, end) is not None
    monkeypatch.setattr(live_log, "MOST_CARRIED", 100)
    assert log.carried(START, end) is None


def test_few_bytes_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_log, "_MOST_HELD", WHOLE.end // 2)
    log = filled(STARTS[1:])
    assert log.carried(START, log.next_end(START, Limit(transactions=1), None)) is not None
    assert log.carried(START, log.next_end(START, Limit(), None)) is None


def test_the_follower_waits_when_it_is_far_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_log, "_MOST_STRETCHES", 2)
    log = LiveLog(START)
    follower = threading.Thread(target=lambda: [log.add(piece) for piece in pieces(STARTS[1:])], daemon=True)
    follower.start()
    place = START
    while place.pos < WHOLE.end:
        log.wait(place, 10, None)
        end = log.next_end(place, Limit(), None)
        assert 1 <= len([start for start in STARTS if place.pos <= start < end.pos]) <= 2
        place = end
    follower.join(10)
    assert not follower.is_alive()


def test_a_follower_that_waits_can_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_log, "_MOST_STRETCHES", 1)
    log = LiveLog(START)
    follower = threading.Thread(target=lambda: [log.add(piece) for piece in pieces(STARTS[1:])], daemon=True)
    follower.start()
    log.wait(START, 10, None)
    log.close()
    follower.join(10)
    assert not follower.is_alive()


def test_a_failure_comes_behind_what_came_before_it() -> None:
    log = filled([])
    log.fail(ConnectionLost("gone"))
    end = log.next_end(START, Limit(), None)
    assert end.pos == WHOLE.end
    with pytest.raises(ConnectionLost):
        log.next_end(end, Limit(), None)


@pytest.mark.parametrize("by_file", [True, False], ids=["by file", "by GTIDs"])
def test_what_comes_late_and_lies_before_the_batch_is_left_out(by_file: bool) -> None:
    """A batch that is replayed is asked for before the follower has brought what came before the next."""
    found = pieces(STARTS[1:], by_file=by_file)
    log = LiveLog(StreamOffset(START.file, START.pos, "", SERVER, by_file=by_file))
    place = StreamOffset.of_point(found[4].resume)
    log.wait(place, 0, None)
    for number, piece in enumerate(found[:5]):
        log.add(piece)
        log.wait(place, 0, None)
        assert log.next_end(place, Limit(), None) == place, number
    log.add(found[5])
    assert log.next_end(place, Limit(), None) == StreamOffset.of_point(found[5].resume)


def test_a_target_is_waited_for_when_only_older_things_have_come() -> None:
    found = pieces(STARTS[1:])
    log = LiveLog(START)
    place, target = StreamOffset.of_point(found[4].resume), StreamOffset.of_point(found[5].resume)
    follower = [threading.Timer(0.2 * number, log.add, [piece]) for number, piece in enumerate(found[:6])]
    for timer in follower:
        timer.start()
    log.wait(place, 30, target)
    assert log.next_end(place, Limit(), target) == target
    for timer in follower:
        timer.join()
