"""Outlines of logs: what kernels find without decoding is what decoding finds, on every recorded log."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest

from binspark.client.bulk.outline import Chunk, outline, statements
from binspark.client.bulk.pieces import BytesPiece, known_before
from binspark.client.resume import ResumePoint
from binspark.event import Event, GtidList, PreviousGtids, Query
from binspark.files import read_events
from binspark.files.read import ReadOptions
from binspark.frames import MAGIC, EventCode, Family, LogFormat
from binspark.gtid import GtidSet, MariadbGtid, MariadbPosition, MariadbState
from binspark.transactions.byte_tables import IDENTIFYING_CODES
from binspark.transactions.transaction import identity_of
from tests.corpus.cases import corpus_logs, log_id

STATEMENTS = (EventCode.QUERY, EventCode.QUERY_COMPRESSED)
LOGS = [log for log in corpus_logs() if log.read_bytes()[:4] == MAGIC and not log.name.startswith("relay")]


def chunk_of(log: Path, log_format: LogFormat, begin: int = len(MAGIC)) -> Chunk:
    data = np.frombuffer(log.read_bytes(), dtype=np.uint8)
    return Chunk(log.name, begin, log_format, data[begin:])


def outer_events(log: Path) -> list[Event]:
    return list(read_events(log, ReadOptions(expand_payloads=False)))


def is_framing(event: Event) -> bool:
    return isinstance(event.body, Query) and event.body.query in (b"BEGIN", b"COMMIT")


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_an_outline_finds_transactions_and_statements(log: Path) -> None:
    events = outer_events(log)
    chunk = chunk_of(log, events[0].frame.format)
    named = [event for event in events if event.type_code in IDENTIFYING_CODES]
    found = outline(chunk)
    assert found.starts.tolist() == [event.offset for event in named]
    assert found.format == events[-1].frame.format
    stated = [event for event in events if event.type_code in STATEMENTS and not is_framing(event)]
    assert [event.offset for event in statements(chunk)] == [event.offset for event in stated]


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_gtids_grow_with_every_transaction(log: Path) -> None:
    events = outer_events(log)
    family = events[0].frame.format.family
    found = outline(chunk_of(log, events[0].frame.format))
    told = next((event.body for event in events if isinstance(event.body, PreviousGtids | GtidList)), None)
    if isinstance(told, PreviousGtids):
        assert found.told == told.gtid_set
    elif isinstance(told, GtidList):
        assert found.told == MariadbState.of(told.gtids).position
    names = [identity_of(event).gtid for event in events if event.type_code in IDENTIFYING_CODES]
    known = [name for name in takewhile(lambda name: name is not None, names) if name is not None]
    for count in {0, 1, len(known) // 2, len(known)} & set(range(len(known) + 1)):
        assert found.names.added_to(_none(family), count) == _all(family, known[:count])
    if len(known) < len(names):
        assert found.names.added_to(_none(family), len(names)) is None
    assert found.names.added_to(None, len(names)) is None


def _none(family: Family) -> GtidSet | MariadbPosition:
    return GtidSet() if family is Family.MYSQL else MariadbPosition()


def _all(family: Family, names: list[str]) -> GtidSet | MariadbPosition:
    if family is Family.MYSQL:
        return GtidSet(",".join(names))
    position = MariadbPosition()
    for name in names:
        position = position.advance(MariadbGtid.parse(name))
    return position


def test_what_a_file_tells_is_added_to_what_is_known() -> None:
    uuid = "3e11fa47-71ca-11e1-9e33-c80aa9429562"
    assert known_before(None, GtidSet(f"{uuid}:1-5")) == GtidSet(f"{uuid}:1-5")
    assert known_before(GtidSet(f"{uuid}:9"), GtidSet(f"{uuid}:1-5")) == GtidSet(f"{uuid}:1-5:9")
    assert known_before(GtidSet(f"{uuid}:9"), None) == GtidSet(f"{uuid}:9")
    assert known_before(MariadbPosition("0-1-7"), MariadbPosition("0-1-3")) == MariadbPosition("0-1-7")


@pytest.mark.parametrize("log", [log for log in LOGS if len(log.read_bytes()) < 1 << 20], ids=log_id)
def test_places_between_transactions_are_where_the_next_one_begins(log: Path) -> None:
    events = outer_events(log)
    chunk = chunk_of(log, events[0].frame.format)
    last = ResumePoint(log.name, chunk.end, None, "server", 7)
    piece = BytesPiece(chunk.file, chunk.offset, chunk.format, chunk.data, False, last)
    starts = [event.offset for event in events if event.type_code in IDENTIFYING_CODES]
    assert [piece.places.behind(count).offset for count in range(1, len(starts))] == starts[1:]
    assert piece.places.behind(len(starts)) == piece.resume == last
