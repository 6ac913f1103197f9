"""Chunks of logs: what is found without decoding is what decoding finds, on every recorded log; and their positions."""

from __future__ import annotations

import pickle
from itertools import pairwise, takewhile
from pathlib import Path

import pytest

from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.event import Event, GtidList, PreviousGtids, Query
from binspark.files import read_events
from binspark.files.read import ReadOptions
from binspark.frames import MAGIC, EventCode, Family
from binspark.gtid import GtidSet, MariadbGtid, MariadbPosition, MariadbState
from binspark.replication.chunk import LogChunk, Origin, read_chunks
from binspark.replication.gtids import Gtids, joined
from binspark.replication.position import BinlogPosition
from binspark.testing.builder import MYSQL_5_5, BinlogBuilder, insert, integer, table
from binspark.transactions.byte_tables import IDENTIFYING_CODES
from binspark.transactions.transaction import identity_of
from tests.corpus.cases import case_logs, corpus_logs, log_id

STATEMENTS = (EventCode.QUERY, EventCode.QUERY_COMPRESSED, EventCode.EXECUTE_LOAD_QUERY)
LOGS = [log for log in corpus_logs() if log.read_bytes()[:4] == MAGIC and not log.name.startswith("relay")]
SMALL_LOGS = [log for log in LOGS if len(log.read_bytes()) < 1 << 20]
ORDERS = table("shop.orders", integer("id"))
PARALLEL = case_logs("mysql/parallel")[0]


def outer_events(log: Path) -> list[Event]:
    return list(read_events(log, ReadOptions(expand_payloads=False)))


def chunk_of(log: Path, origin: Origin = Origin()) -> LogChunk:  # noqa: B008
    log_format = next(iter(read_events(log))).frame.format
    return LogChunk(log.name, len(MAGIC), log_format, memoryview(log.read_bytes())[len(MAGIC) :], origin=origin)


def is_framing(event: Event) -> bool:
    return isinstance(event.body, Query) and event.body.query in (b"BEGIN", b"COMMIT")


def starts_of(events: list[Event]) -> list[int]:
    return [event.offset for event in events if event.type_code in IDENTIFYING_CODES]


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_the_index_finds_transactions_and_statements(log: Path) -> None:
    events, chunk = outer_events(log), chunk_of(log)
    assert chunk.transactions.starts.tolist() == starts_of(events)
    assert chunk.transactions.format == events[-1].frame.format
    statements = [event for event in events if event.type_code in STATEMENTS and not is_framing(event)]
    assert [event.offset for event in chunk.statements()] == [event.offset for event in statements]


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_gtids_grow_with_every_transaction(log: Path) -> None:
    events, index = outer_events(log), chunk_of(log).transactions
    reported = next((event.body for event in events if isinstance(event.body, PreviousGtids | GtidList)), None)
    if isinstance(reported, PreviousGtids):
        assert index.before_file == reported.gtid_set
    elif isinstance(reported, GtidList):
        assert index.before_file == MariadbState.of(reported.gtids)
    gtids = [identity_of(event).gtid for event in events if event.type_code in IDENTIFYING_CODES]
    assert [None if gtid is None else str(gtid) for gtid in map(index.gtid, range(len(index)))] == gtids
    known = [gtid for gtid in takewhile(lambda gtid: gtid is not None, gtids) if gtid is not None]
    family = events[0].frame.format.family
    before = _of_family(family, [])
    begin = index.gtids_after(before, 0)
    assert begin is not None
    for count in {0, 1, 3, 5, len(known) // 2, len(known)} & set(range(len(known) + 1)):
        assert index.gtids_after(before, count) == _added(begin, known[:count])
    if len(known) < len(gtids):
        assert index.gtids_after(before, len(gtids)) is None


def _of_family(family: Family, gtids: list[str]) -> Gtids:
    return _added(GtidSet() if family is Family.MYSQL else MariadbPosition(), gtids)


def _added(known: Gtids, gtids: list[str]) -> Gtids:
    if isinstance(known, GtidSet):
        return known | GtidSet(",".join(gtids))
    for gtid in gtids:
        known = known.advance(MariadbGtid.parse(gtid))
    return known


def test_gtids_that_a_file_reports_are_added_to_those_that_are_known() -> None:
    uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
    assert joined(None, GtidSet(f"{uuid}:1-5")) == GtidSet(f"{uuid}:1-5")
    assert joined(GtidSet(f"{uuid}:9"), GtidSet(f"{uuid}:1-5")) == GtidSet(f"{uuid}:1-5:9")
    assert joined(GtidSet(f"{uuid}:9"), None) == GtidSet(f"{uuid}:9")
    assert joined(MariadbPosition("0-1-7"), MariadbPosition("0-1-3")) == MariadbPosition("0-1-7")


@pytest.mark.parametrize("log", SMALL_LOGS, ids=log_id)
def test_positions_between_transactions_are_where_the_next_one_begins(log: Path) -> None:
    chunk = chunk_of(log, Origin("server", 7, by_file=False, resets=2))
    starts = starts_of(outer_events(log))
    assert [chunk.position_after(count).offset for count in range(1, len(starts))] == starts[1:]
    last = BinlogPosition(log.name, chunk.end, None, "server", 7, by_file=False, resets=2)
    assert chunk.position_after(len(starts)) == chunk.end_position == last


def test_positions_have_the_gtids_before_them() -> None:
    chunk = chunk_of(PARALLEL, Origin("server", gtids=GtidSet(), gtids_enabled=True))
    index = chunk.transactions
    for count in range(len(index) + 1):
        assert chunk.position_after(count).gtids == index.gtids_after(GtidSet(), count)
    assert chunk.positions.after(3) == chunk.position_after(3)


def test_a_transaction_of_an_old_server_is_one_without_a_gtid() -> None:
    log = BinlogBuilder(MYSQL_5_5)
    log.transaction(insert(ORDERS, (1,)))
    events = list(read_events_of(log))
    begin = events[1].offset
    data = memoryview(log.files[0].content)[begin:]
    origin = Origin("server", gtids=GtidSet(), gtids_enabled=True)
    chunk = LogChunk("binlog.000001", begin, events[1].frame.format, data, is_transaction=True, origin=origin)
    assert chunk.transactions.starts.tolist() == [begin]
    assert chunk.transactions.gtid(0) is None
    assert chunk.end_position == BinlogPosition("binlog.000001", len(log.files[0].content), None, "server")


def read_events_of(log: BinlogBuilder) -> list[Event]:
    from binspark.event import EventDecoder
    from binspark.frames import Framer

    decoder = EventDecoder("binlog.000001")
    return [decoder.decode(frame) for frame in Framer().feed(log.files[0].content)]


@pytest.mark.parametrize("log", SMALL_LOGS, ids=log_id)
def test_a_chunk_can_be_cut_between_any_transactions(log: Path) -> None:
    chunk = chunk_of(log)
    cuts = [chunk.offset, *starts_of(outer_events(log))[1:], chunk.end]
    parts = [chunk.between(begin, end) for begin, end in pairwise(cuts)]
    assert [(part.offset, part.end) for part in parts] == list(pairwise(cuts))
    assert b"".join(part.data for part in parts) == bytes(chunk.data)
    found = [event.offset for part in parts for event in part.events(expand_payloads=False)]
    assert found == [event.offset for event in outer_events(log)]


def test_a_chunk_is_pickled_with_its_bytes() -> None:
    chunk = chunk_of(PARALLEL, Origin("server"))
    assert len(chunk.transactions) > 3
    copy = pickle.loads(pickle.dumps(chunk))
    assert (copy.file, copy.offset, copy.format, copy.origin) == (chunk.file, chunk.offset, chunk.format, chunk.origin)
    assert bytes(copy.data) == bytes(chunk.data)
    assert copy.transactions.starts.tolist() == chunk.transactions.starts.tolist()


@pytest.mark.parametrize("missing", [False, True], ids=["all", "with a gap"])
def test_chunks_are_read_as_rows(missing: bool) -> None:
    chunk = chunk_of(PARALLEL)
    starts = chunk.transactions.starts.tolist()
    cuts = [chunk.offset, *starts[1::3], chunk.end]
    parts = [chunk.between(begin, end) for begin, end in pairwise(cuts)]
    wanted = parts[:2] + parts[3:] if missing else parts
    rows = sum(found.batch.num_rows for found in read_chunks(BatchReader(Selection()), wanted))
    expected = sum(row_count(part) for part in wanted)
    assert rows == expected > 0


def row_count(part: LogChunk) -> int:
    return sum(found.batch.num_rows for found in read_chunks(BatchReader(Selection()), [part]))
