"""Events into complete transactions, one by one: without a server."""

from __future__ import annotations

import logging
import mmap
from typing import Literal

import pytest

from binspark.errors import Malformed
from binspark.frames import ChecksumAlgorithm, EventCode
from binspark.replication.chunk import LogChunk
from binspark.replication.sources import EventSource
from binspark.replication.stream import StreamEvent
from binspark.testing.builder import (
    MARIADB_10_11,
    MYSQL_5_5,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    insert,
    integer,
    table,
)
from tests.support.replication.scripted_channel import (
    ScriptedChannel,
    as_packets,
    file_events,
    heartbeat_v2,
    rotation,
    scripted_stream,
)

ORDERS = table("shop.orders", integer("id"))
KINDS = pytest.mark.parametrize(
    ("kind", "checksum"),
    [(MYSQL_9_7, True), (MYSQL_5_5, False), (MARIADB_10_11, True)],
    ids=["mysql", "without GTIDs", "mariadb"],
)


def streamed(script: list[bytes], *, gaps: bool = False, checksum: bool = True) -> list[StreamEvent]:
    """Return events as a stream brings them."""
    algorithm = ChecksumAlgorithm.CRC32 if checksum else ChecksumAlgorithm.NONE
    stream = scripted_stream(ScriptedChannel(as_packets(script)), gaps=gaps, checksum=algorithm)
    return [next(stream) for _ in script]


def script_of(log: BinlogBuilder, *, checksum: bool = True) -> list[bytes]:
    return [
        event
        for number, file in enumerate(log.files)
        for event in (rotation(file.name, checksum=checksum), *file_events(log, number))
    ]


def chunks_of(events: list[StreamEvent], memory_bytes: int = 1 << 20) -> list[LogChunk]:
    return list(EventSource(events, memory_bytes))


@KINDS
@pytest.mark.parametrize("memory_bytes", [0, 1 << 20])
def test_every_event_is_in_exactly_one_chunk(kind: ServerKind, checksum: bool, memory_bytes: int) -> None:
    log = BinlogBuilder(kind)
    log.ddl("CREATE TABLE t (a INT)")
    log.transaction(insert(ORDERS, (1,), (2,)), insert(ORDERS, (3,)))
    log.rotate()
    log.transaction(insert(ORDERS, (4,)))
    log.stop()
    chunks = chunks_of(streamed(script_of(log, checksum=checksum), checksum=checksum), memory_bytes)
    for file in log.files:
        assert b"\xfebin" + b"".join(chunk.data for chunk in chunks if chunk.file == file.name) == file.content
    transactions = [chunk for chunk in chunks if chunk.is_transaction]
    assert [len(chunk.transactions) for chunk in transactions] == [1, 1, 1]
    assert all(chunk.event is None and chunk.complete_end == chunk.end for chunk in transactions)
    assert all(chunk.event is not None for chunk in chunks if not chunk.is_transaction)


def test_transactions_end_as_they_do_for_others() -> None:
    log = BinlogBuilder()
    log.ddl("CREATE TABLE t (a INT)")
    log.transaction(insert(ORDERS, (1,)))
    log.transaction(insert(ORDERS, (4,)), compress=True)
    log.transaction(insert(ORDERS, (5,)), xa=b"x")
    chunks = [chunk for chunk in chunks_of(streamed(script_of(log))) if chunk.is_transaction]
    ends = [list(chunk.events(expand_payloads=False))[-1].type for chunk in chunks]
    assert ends == ["QUERY", "XID", "TRANSACTION_PAYLOAD", "XA_PREPARE"]
    assert [chunk.indirect_rows for chunk in chunks] == [False, False, True, False]


@pytest.mark.parametrize("compress", [None, True], ids=["plain", "compressed"])
def test_a_transaction_is_complete_with_its_last_event_not_with_the_next_one(compress: Literal[True] | None) -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1,)), compress=compress)
    assert chunks_of(streamed(script_of(log)))[-1].is_transaction


def cut_short(log: BinlogBuilder) -> list[bytes]:
    """Return a log whose second transaction lacks its last event, and the file after it."""
    log.transaction(insert(ORDERS, (1,)))
    log.transaction(insert(ORDERS, (2,)))
    complete = file_events(log)
    log.rotate()
    log.transaction(insert(ORDERS, (3,)))
    return [rotation("binlog.000001"), *complete[:-1], rotation("binlog.000002"), *file_events(log, 1)]


def test_a_transaction_that_a_crash_cut_short_is_skipped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    log = BinlogBuilder()
    events = streamed(cut_short(log))
    with caplog.at_level(logging.WARNING):
        chunks = [chunk for chunk in chunks_of(events) if chunk.is_transaction]
    gtids = [str(chunk.transactions.gtid(0)) for chunk in chunks]
    assert gtids == [f"{log.server_uuid}:1", f"{log.server_uuid}:3"]
    (record,) = caplog.records
    assert f"binlog.000001:{chunks[0].end}: skipping an incomplete transaction" in record.getMessage()


def test_a_transaction_that_another_one_interrupts_is_skipped(caplog: pytest.LogCaptureFixture) -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1,)))
    log.transaction(insert(ORDERS, (2,)))
    events = streamed(script_of(log))
    first_end = next(number for number, event in enumerate(events) if event.type_code == EventCode.XID)
    chunks = [chunk for chunk in chunks_of(events[:first_end] + events[first_end + 1 :]) if chunk.is_transaction]
    assert [str(chunk.transactions.gtid(0)) for chunk in chunks] == [f"{log.server_uuid}:2"]
    assert "skipping an incomplete transaction" in caplog.text


def test_a_heartbeat_inside_a_transaction_is_at_the_position_before_it() -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1,)))
    events = file_events(log)
    beat = heartbeat_v2("binlog.000001", 4)
    chunks = chunks_of(streamed([rotation("binlog.000001"), *events[:-1], beat, events[-1]]))
    begin = 4 + sum(map(len, events[:2]))
    assert [(chunk.offset, chunk.is_heartbeat, chunk.is_transaction) for chunk in chunks[-2:]] == [
        (begin, True, False),
        (begin, False, True),
    ]


def test_a_gap_inside_a_transaction_is_refused() -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1,)))
    events = file_events(log)
    with pytest.raises(Malformed, match="expected the next event of the transaction at"):
        chunks_of(streamed([rotation("binlog.000001"), *events[:-2], events[-1]], gaps=True))


def test_a_large_transaction_is_in_a_file_and_can_be_read_while_others_read_it() -> None:
    log = BinlogBuilder()
    log.transaction(*(insert(ORDERS, (number,)) for number in range(50)))
    log.transaction(insert(ORDERS, (99,)))
    large, small = (chunk for chunk in chunks_of(streamed(script_of(log)), 1000) if chunk.is_transaction)
    assert [isinstance(chunk.data.obj, mmap.mmap) for chunk in (large, small)] == [True, False]
    expected = chunks_of(streamed(script_of(log)))[-2]
    pairs = list(zip(large.events(), large.events(), strict=True))
    assert [one.frame for one, _ in pairs] == [other.frame for _, other in pairs]
    assert [one.frame for one, _ in pairs] == [event.frame for event in expected.events()]
