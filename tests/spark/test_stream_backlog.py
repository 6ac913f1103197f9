"""What a follower has delivered, in batches: nothing twice, nothing missing, no transaction cut, limits obeyed."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.errors import ConnectionLost
from binspark.files import read_events
from binspark.frames import MAGIC
from binspark.gtid import GtidSet, MariadbPosition
from binspark.replication.chunk import LogChunk, Origin
from binspark.replication.position import BinlogPosition
from binspark.spark.streaming import backlog as backlog_module
from binspark.spark.streaming.backlog import Backlog
from binspark.spark.streaming.limit import Limit
from tests.corpus.cases import case_logs
from tests.support.examples import examples

LOG = case_logs("mysql/parallel")[0]
SERVER = "server"
START = BinlogPosition(LOG.name, len(MAGIC), GtidSet(), SERVER)


def complete_log() -> LogChunk:
    data = memoryview(LOG.read_bytes())[len(MAGIC) :]
    return LogChunk(LOG.name, len(MAGIC), next(iter(read_events(LOG))).frame.format, data)


COMPLETE = complete_log()
INDEX = COMPLETE.transactions
STARTS = INDEX.starts.tolist()


def chunks_of(offsets: list[int], *, by_file: bool = True) -> list[LogChunk]:
    """Return the log in chunks that end at some of the offsets where a transaction begins."""
    ends = sorted({*offsets, COMPLETE.end})
    found: list[LogChunk] = []
    gtids: GtidSet | MariadbPosition | None = GtidSet()
    for begin, end in zip([COMPLETE.offset, *ends], ends, strict=False):
        origin = Origin(SERVER, gtids=gtids, gtids_enabled=True, by_file=by_file)
        chunk = COMPLETE.between(begin, end).with_origin(origin)
        gtids = chunk.end_position.gtids
        found.append(chunk)
    return found


def filled(offsets: list[int]) -> Backlog:
    log = Backlog(START)
    for chunk in chunks_of(offsets):
        log.add(chunk)
    return log


def add_all(log: Backlog, chunks: list[LogChunk]) -> None:
    for chunk in chunks:
        log.add(chunk)


limits = st.builds(Limit, st.none() | st.integers(1, 20_000), st.none() | st.integers(1, 10))


@settings(deadline=None)
@given(st.lists(st.sampled_from(STARTS[1:])), limits, st.booleans())
def test_batches_together_are_the_log(offsets: list[int], limit: Limit, restarts: bool) -> None:
    log, position, carried = filled(offsets), START, b""
    while (end := log.next_end(position, limit, None)) != position:
        transactions = [start for start in STARTS if position.offset <= start < end.offset]
        assert end.offset in (*STARTS, COMPLETE.end)
        assert len(transactions) <= 1 or limit.allows(end.offset - position.offset, len(transactions))
        count = sum(start < end.offset for start in STARTS)
        assert end.gtids == INDEX.gtids_after(GtidSet(), count)
        chunks = log.carried(position, end)
        assert chunks is not None
        carried += b"".join(chunk.data for chunk in chunks)
        position = end
        if restarts:  # another follower begins here, and what it delivers is cut anew
            log = Backlog(position)
            for chunk in chunks_of([position.offset]):
                if chunk.offset >= position.offset:
                    log.add(chunk)
    assert carried == bytes(COMPLETE.data)


@settings(deadline=None, max_examples=examples(30))
@given(st.lists(st.sampled_from(STARTS[1:])), st.sampled_from(STARTS[1:]), limits)
def test_a_target_is_not_passed(offsets: list[int], target: int, limit: Limit) -> None:
    log, position = filled(offsets), START
    goal = BinlogPosition(LOG.name, target, None, SERVER)
    while (end := log.next_end(position, limit, goal)) != position:
        position = end
    assert position.offset == target


@pytest.mark.parametrize("by_gtids", [True, False])
@pytest.mark.parametrize("several", [True, False])
def test_a_target_before_events_that_belong_to_no_transaction_is_reached(several: bool, by_gtids: bool) -> None:
    log = filled(STARTS[1:] if several else [])
    end = COMPLETE.transactions_end
    assert STARTS[-1] < end < COMPLETE.end
    target = BinlogPosition(LOG.name, end, INDEX.gtids_after(GtidSet(), len(INDEX)) if by_gtids else None, SERVER)
    assert log.next_end(START, Limit(), target).offset == end
    assert log.next_end(START, Limit(transactions=3), target).offset == STARTS[3]
    last = log.next_end(BinlogPosition(LOG.name, STARTS[-1], None, SERVER), Limit(bytes=1), target)
    assert (last.offset, log.next_end(last, Limit(), None).offset) == (end, COMPLETE.end)
    inside = BinlogPosition(LOG.name, end - 5, None, SERVER)
    assert log.next_end(last, Limit(), target).offset == end
    assert filled([]).next_end(START, Limit(), inside).offset == STARTS[-1]


@pytest.mark.parametrize("begun", [True, False])
def test_a_target_before_the_first_transaction_of_a_file_is_reached(begun: bool) -> None:
    target = BinlogPosition(LOG.name, STARTS[0] - 1, None, SERVER)  # after any of the events before it
    log = filled([STARTS[0]] if begun else [])
    assert log.next_end(START, Limit(bytes=1), target).offset == target.offset
    assert log.next_end(target, Limit(), replace(target, offset=STARTS[0])).offset == STARTS[0]
    assert log.next_end(target, Limit(transactions=2), None).offset == STARTS[2]


def test_a_batch_may_begin_between_two_boundaries() -> None:
    log = filled([])
    inside = next(event.end_offset for event in read_events(LOG) if event.offset > len(MAGIC))
    position = BinlogPosition(LOG.name, inside, GtidSet(), SERVER)
    assert inside not in STARTS or inside == STARTS[0]
    end = log.next_end(position, Limit(transactions=1), None)
    chunks = log.carried(position, end)
    assert end.offset == STARTS[1]
    assert chunks is not None
    assert [(chunk.offset, chunk.end) for chunk in chunks] == [(inside, STARTS[1])]
    assert next(event.offset for chunk in chunks for event in chunk.events()) == inside


def test_what_is_large_is_not_carried(monkeypatch: pytest.MonkeyPatch) -> None:
    log = filled(STARTS[1:])
    end = log.next_end(START, Limit(), None)
    assert log.carried(START, end) is not None
    monkeypatch.setattr(backlog_module, "MAX_CARRIED_BYTES", 100)
    assert log.carried(START, end) is None


def test_few_bytes_are_buffered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog_module, "_MAX_BUFFERED_BYTES", COMPLETE.end // 2)
    log = filled(STARTS[1:])
    assert log.carried(START, log.next_end(START, Limit(transactions=1), None)) is not None
    assert log.carried(START, log.next_end(START, Limit(), None)) is None


def test_the_follower_waits_when_it_is_far_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog_module, "_MAX_ENTRIES", 2)
    log = Backlog(START)
    follower = threading.Thread(target=add_all, args=(log, chunks_of(STARTS[1:])), daemon=True)
    follower.start()
    position = START
    while position.offset < COMPLETE.end:
        log.wait(position, 10, None)
        end = log.next_end(position, Limit(), None)
        assert 1 <= len([start for start in STARTS if position.offset <= start < end.offset]) <= 2
        position = end
    follower.join(10)
    assert not follower.is_alive()


def test_a_follower_that_waits_can_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog_module, "_MAX_ENTRIES", 1)
    log = Backlog(START)
    follower = threading.Thread(target=add_all, args=(log, chunks_of(STARTS[1:])), daemon=True)
    follower.start()
    log.wait(START, 10, None)
    log.close()
    follower.join(10)
    assert not follower.is_alive()


def test_a_failure_comes_after_what_came_before_it() -> None:
    log = filled([])
    log.fail(ConnectionLost("gone"))
    end = log.next_end(START, Limit(), None)
    assert end.offset == COMPLETE.end
    with pytest.raises(ConnectionLost):
        log.next_end(end, Limit(), None)


@pytest.mark.parametrize("by_file", [True, False], ids=["by file", "by GTIDs"])
def test_what_comes_late_and_is_before_the_batch_is_dropped(by_file: bool) -> None:
    """A batch that is replayed is requested before the follower has delivered what came before the next."""
    found = chunks_of(STARTS[1:], by_file=by_file)
    log = Backlog(BinlogPosition(START.file, START.offset, GtidSet(), SERVER, by_file=by_file))
    position = found[4].end_position
    log.wait(position, 0, None)
    for number, chunk in enumerate(found[:5]):
        log.add(chunk)
        log.wait(position, 0, None)
        assert log.next_end(position, Limit(), None) == position, number
    log.add(found[5])
    assert log.next_end(position, Limit(), None) == found[5].end_position


def test_a_target_is_waited_for_when_only_older_things_have_come() -> None:
    found = chunks_of(STARTS[1:])
    log = Backlog(START)
    position, target = found[4].end_position, found[5].end_position
    follower = [threading.Timer(0.2 * number, log.add, [chunk]) for number, chunk in enumerate(found[:6])]
    for timer in follower:
        timer.start()
    log.wait(position, 30, target)
    assert log.next_end(position, Limit(), target) == target
    for timer in follower:
        timer.join()


def test_what_follows_without_a_pause_is_in_the_same_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog_module, "PAUSE_SECONDS", 30.0)
    found = chunks_of(STARTS[1:])
    log = Backlog(START)
    target = found[-1].end_position
    follower = threading.Thread(target=lambda: deque(map(log.add, found[1:]), maxlen=0))
    log.add(found[0])
    follower.start()
    log.wait(START, 30, target, Limit())
    follower.join()
    assert log.next_end(START, Limit(), target) == target


def test_a_limit_is_not_waited_beyond() -> None:
    found = chunks_of(STARTS[1:])
    log = Backlog(START)
    log.add(found[0])
    log.wait(START, 30, found[-1].end_position, Limit(bytes=1))
    assert log.next_end(START, Limit(bytes=1), found[-1].end_position) == found[0].end_position
