"""Streams in bulk, unpacked by a kernel or plainly: every log, every way that packets are cut, damage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.errors import BinlogError, Checksum, ConnectionLost, Malformed, Purged
from binspark.event import EventDecoder
from binspark.frames import Frame, Framer
from binspark.kernels.packet_layout import Outcome
from binspark.replication import sources
from binspark.replication.channel import Memory, UnreadPackets
from binspark.replication.chunk import LogChunk
from binspark.replication.position import BinlogPosition
from binspark.replication.settings import StreamSettings
from binspark.replication.sources import BulkSource, CompleteSource
from binspark.replication.stop import StopCondition
from binspark.replication.unpack import KernelUnpacker, Unpacked, UnpackFunction, unpack_plainly
from binspark.testing.builder import MYSQL_5_5, BinlogBuilder, blob, insert, integer, table
from binspark.transactions import Assembler
from binspark.transactions.grammar import Progress, boundary_of, progress_after
from tests.corpus.cases import corpus_logs, log_id
from tests.support.examples import examples
from tests.support.replication.scripted_channel import heartbeat_v2, rotation
from tests.support.replication.scripted_server import END, FILE, closed, event_packets, events_of, packets, streamed

pytestmark = pytest.mark.timeout(180)

LOGS = [log for log in corpus_logs() if not log.name.startswith("relay")]
"""What a server sends: its own logs, not those that it keeps of another one's."""

ORDERS = table("shop.orders", integer("id"), blob("note", 4))
WAYS: dict[str, Callable[[], UnpackFunction]] = {"plainly": lambda: unpack_plainly, "by-kernel": KernelUnpacker}


@pytest.fixture(scope="module", params=WAYS, autouse=True)
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Let packets be unpacked in each of the two ways."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "Unpacker", WAYS[request.param])
        yield request.param


def small_log(transactions: int = 3, size: int = 20) -> bytes:
    log = BinlogBuilder()
    for number in range(transactions):
        log.transaction(insert(ORDERS, (number, b"x" * size)))
    log.rotate()
    return log.files[0].content


def kept(source: BulkSource) -> list[tuple[LogChunk, bytes]]:
    """Return chunks with their bytes, which are valid only for a moment."""
    return [(chunk, bytes(chunk.data)) for chunk in source]


def until_error(source: BulkSource) -> tuple[bytes, BinlogError | None]:
    """Return the bytes that come before an error, and the error."""
    came = bytearray()
    try:
        for chunk in source:
            came += chunk.data
    except BinlogError as error:
        return bytes(came), error
    return bytes(came), None


def bytes_of(chunks: list[tuple[LogChunk, bytes]]) -> bytes:
    return b"\xfebin" + b"".join(data for _, data in chunks)


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_chunks_are_the_bytes_of_the_log(log: Path) -> None:
    content = log.read_bytes()
    first = next(Framer().feed(content))
    sent = event_packets([rotation(FILE), *events_of(content)])
    with streamed(sent, server_version=first.format.server_version) as stream:
        chunks = kept(stream)
    assert bytes_of(chunks) == closed(content)
    with_bytes = [chunk for chunk, data in chunks if data]
    assert with_bytes[0].offset == 4
    assert all(chunk.end == after.offset for chunk, after in pairwise(with_bytes))


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_what_comes_is_counted(log: Path) -> None:
    content = log.read_bytes()
    decoder, assembler = EventDecoder(), Assembler()
    events = [decoder.decode(frame) for frame in Framer().feed(content)]
    transactions = sum(len(assembler.feed(event)) for event in events) + len(assembler.finish())
    sent = event_packets([rotation(FILE), *events_of(content)])
    with streamed(sent, server_version=events[0].frame.format.server_version) as stream:
        kept(stream)
        counted = stream.activity
    assert (counted.events, counted.bytes) == (len(events), len(closed(content)) - 4)
    assert counted.transactions == transactions


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_it_is_known_where_transactions_are_in_progress(log: Path, way: str) -> None:
    decoder, assembler, progress = EventDecoder(), Assembler(), Progress.NONE
    for frame in Framer().feed(log.read_bytes()):
        event = decoder.decode(frame)
        assembler.feed(event)
        outcome, unpacked = unpacked_progress(way, frame, progress)
        by_python = progress_after(boundary_of(event).role, progress)
        assert unpacked == (by_python if outcome == Outcome.MORE else progress)
        progress = by_python
        assert (progress is Progress.NONE) == (not assembler.is_open)


def unpacked_progress(way: str, frame: Frame, progress: Progress) -> tuple[Outcome, Progress]:
    """Unpack one event; return why that ended, and what is in progress then."""
    sent = packets([b"\0" + frame.data])
    unread = UnreadPackets(Memory(len(sent)), end=len(sent), sequence=1)
    unread.memory.view[: len(sent)] = sent
    checksum = bool(frame.format.checksum_length)
    unpacked = Unpacked(Memory(len(sent)), offset=frame.offset, checksum=checksum, progress=progress)
    return WAYS[way]()(unread, unpacked), Progress(unpacked.progress)


@pytest.mark.parametrize("chunk", [1, 7, 100, 1000])
def test_packets_may_be_cut_anywhere(chunk: int) -> None:
    log = small_log()
    with streamed(event_packets([rotation(FILE), *events_of(log)]), chunk=chunk) as stream:
        assert bytes_of(kept(stream)) == log


def test_a_chunk_says_where_the_last_complete_transaction_ended() -> None:
    log = small_log()
    events = events_of(log)
    cut = sum(map(len, events[:-3])) + 4
    with streamed(event_packets([rotation(FILE), *events[:-3]])) as stream:
        last = kept(stream)[-1][0]
    assert last.end == cut
    assert last.complete_end == cut - sum(map(len, events[-6:-3]))
    assert last.timestamp == int.from_bytes(events[-4][:4], "little")


@pytest.mark.parametrize("size", [100_000, 300_000, (1 << 24) - 200, 1 << 24, 35_000_000])
def test_events_of_any_size_come_through(size: int) -> None:
    log = small_log(2, size)
    with streamed(event_packets([rotation(FILE), *events_of(log)])) as stream:
        assert bytes_of(kept(stream)) == log


def test_an_artificial_event_has_no_bytes() -> None:
    log = small_log()
    events = events_of(log)
    offset = 4 + len(events[0])
    sent = [rotation(FILE), events[0], heartbeat_v2(FILE, offset), *events[1:], rotation("binlog.000002")]
    with streamed(event_packets(sent)) as stream:
        chunks = kept(stream)
    empty = [(chunk.file, chunk.offset, chunk.event.type_code) for chunk, data in chunks if chunk.event and not data]
    assert empty == [(FILE, 4, 4), (FILE, offset, 41), ("binlog.000002", 4, 4)]
    assert bytes_of(chunks) == log


def test_numbers_of_packets_wrap_around() -> None:
    log = small_log(300, 0)
    with streamed(event_packets([rotation(FILE), *events_of(log)])) as stream:
        assert bytes_of(kept(stream)) == log


@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(max_examples=examples(60), deadline=None)
def test_any_flipped_bit_is_refused(at: float, bit: int) -> None:
    log = small_log()
    events = events_of(log)
    body = bytearray(b"".join(events[1:]))
    body[int(at * len(body))] ^= 1 << bit
    cut = [0, *np.cumsum([len(event) for event in events[1:]]).tolist()]
    damaged = [bytes(body[start:end]) for start, end in pairwise(cut)]
    with streamed(event_packets([rotation(FILE), events[0], *damaged])) as stream, pytest.raises(BinlogError):
        kept(stream)


def test_events_before_damage_come_before_the_error() -> None:
    events = events_of(small_log())
    damaged = events[-1][:-1] + bytes((events[-1][-1] ^ 1,))
    with streamed(event_packets([rotation(FILE), *events[:-1], damaged])) as stream:
        came, error = until_error(stream)
    assert came == b"".join(events[:-1])
    assert isinstance(error, Checksum)


def test_a_missing_event_is_noticed() -> None:
    events = events_of(small_log())
    with streamed(event_packets([rotation(FILE), *events[:3], *events[4:]])) as stream, pytest.raises(Malformed):
        kept(stream)


def test_a_packet_out_of_order_is_refused() -> None:
    events = events_of(small_log())
    sent = packets([b"\0" + rotation(FILE), b"\0" + events[0]]) + packets([b"\0" + events[1]], first_number=7)
    with streamed(sent) as stream, pytest.raises(Malformed, match="expected packet 3, found packet 7"):
        kept(stream)


def test_an_error_of_the_server_is_explained() -> None:
    refusal = b"\xff\xd4\x04#HY000Could not find next log"
    sent = packets([b"\0" + rotation(FILE), b"\0" + events_of(small_log())[0], refusal])
    with streamed(sent) as stream, pytest.raises(Purged, match="no log of this name"):
        kept(stream)


def test_a_connection_that_ends_is_lost() -> None:
    events = events_of(small_log())
    sent = packets([b"\0" + event for event in (rotation(FILE), *events)])
    with streamed(sent) as stream:
        came, error = until_error(stream)
    assert came == b"".join(events)
    assert isinstance(error, ConnectionLost)
    assert "closed the connection" in error.message


def test_whoever_waits_gets_an_empty_chunk() -> None:
    sent = packets([b"\0" + event for event in (rotation(FILE), *events_of(small_log()))])
    with streamed(sent, hang=True) as stream:
        assert next(chunk for chunk in stream if chunk.event is None and not chunk.data).complete_end is None


def test_silence_is_a_lost_connection() -> None:
    sent = packets([b"\0" + event for event in (rotation(FILE), *events_of(small_log()))])
    impatient = StreamSettings(heartbeat_seconds=0.1, missed_heartbeats=1)
    with (
        streamed(sent, hang=True, settings=impatient) as stream,
        pytest.raises(ConnectionLost, match="not even a heartbeat"),
    ):
        kept(stream)


def test_a_dump_that_ends_ends_the_source() -> None:
    with streamed(packets([b"\0" + rotation(FILE), END]) + b"unread") as stream:
        assert [chunk.event.type_code for chunk in stream if chunk.event] == [4]


def stop_at(offset: int) -> StopCondition:
    return StopCondition(BinlogPosition(FILE, offset))


def test_a_source_stops_after_the_transaction_that_reaches_a_position() -> None:
    log = small_log(4)
    ends = complete_ends(log)
    for offset in (ends[2], ends[1] + 1, ends[2] - 1):
        with streamed(event_packets([rotation(FILE), *events_of(log)]), stop=stop_at(offset)) as stream:
            chunks = take_until_stopped(stream)
        assert chunks[-1][0].end == ends[2]


def test_a_position_is_reached_without_another_event() -> None:
    log = small_log(1)
    sent = packets([b"\0" + event for event in (rotation(FILE), *events_of(log))])
    with streamed(sent, hang=True, stop=stop_at(len(log))) as stream:
        assert bytes_of(take_until_stopped(stream)) == log


def test_a_source_stops_before_the_first_transaction_of_a_time() -> None:
    log = BinlogBuilder()
    began = log.timestamp
    for number in range(4):
        log.timestamp = began + 10 * number
        log.transaction(insert(ORDERS, (number, b"")))
    content = log.files[0].content
    stop = StopCondition(seconds=began + 15)
    with streamed(event_packets([rotation(FILE), *events_of(content)]), stop=stop) as stream:
        chunks = take_until_stopped(stream)
    assert chunks[-1][0].end == complete_ends(content)[-3]


def test_a_statement_that_has_to_be_decoded_may_be_the_first_one_of_a_time() -> None:
    log = BinlogBuilder(MYSQL_5_5)
    began = log.timestamp
    log.ddl("CREATE TABLE t (a INT)")
    log.timestamp = began + 10
    log.ddl("RENAME TABLE t TO u")
    content = log.files[0].content
    stop = StopCondition(seconds=began + 10)
    with streamed(event_packets([rotation(FILE), *events_of(content)]), stop=stop) as stream:
        chunks = take_until_stopped(stream)
    assert chunks[-1][0].end == complete_ends(content)[-2]


def take_until_stopped(source: BulkSource) -> list[tuple[LogChunk, bytes]]:
    came = []
    for chunk in source:
        came.append((chunk, bytes(chunk.data)))
        if source.is_stopped:
            break
    assert source.is_stopped
    return [(chunk, data) for chunk, data in came if data]


def complete_ends(log: bytes) -> list[int]:
    """Return where transactions end, and where what comes before the first of them ends."""
    decoder, assembler = EventDecoder(), Assembler()
    ends = []
    for frame in Framer().feed(log):
        assembler.feed(decoder.decode(frame))
        if not assembler.is_open:
            ends.append(frame.end_offset)
    return ends


def test_rows_in_payloads_are_indirect() -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1, b"")), compress=True)
    plain = small_log()
    found = []
    for content in (log.files[0].content, plain):
        with streamed(event_packets([rotation(FILE), *events_of(content)])) as stream:
            found.append(any(chunk.indirect_rows for chunk in stream))
    assert found == [True, False]


def test_complete_transactions_are_delivered_as_soon_as_nothing_more_is_there() -> None:
    log = small_log(3)
    events = events_of(log)
    sent = packets([b"\0" + event for event in (rotation(FILE), *events[:-3])])
    with streamed(sent, hang=True) as stream:
        source = iter(CompleteSource(stream, 1 << 20))
        chunks = [chunk for chunk in (next(source), next(source)) if chunk.data]
    assert [(chunk.offset, chunk.end) for chunk in chunks] == [(4, 4 + sum(map(len, events[:-6])))]
    assert bytes(chunks[0].data) == b"".join(events[:-6])


@pytest.mark.parametrize("memory_bytes", [0, 1 << 20])
def test_an_incomplete_transaction_at_the_end_of_a_log_is_skipped_with_a_warning(
    memory_bytes: int, caplog: pytest.LogCaptureFixture
) -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1, b"")))
    log.transaction(insert(ORDERS, (2, b"")))
    first = events_of(log.files[0].content)
    log.rotate()
    second = events_of(log.files[1].content)
    sent = [rotation(FILE), *first[:-1], heartbeat_v2(FILE, 4), rotation("binlog.000002"), *second]
    with streamed(event_packets(sent)) as stream:
        chunks = list(CompleteSource(stream, memory_bytes))
    complete_end = complete_ends(log.files[0].content)[-3]
    assert [(chunk.file, chunk.offset, chunk.end) for chunk in chunks if chunk.data] == [
        (FILE, 4, complete_end),
        ("binlog.000002", 4, 4 + sum(map(len, second))),
    ]
    artificial = [(chunk.file, chunk.offset) for chunk in chunks if chunk.event]
    assert artificial == [(FILE, 4), (FILE, complete_end), ("binlog.000002", 4)]
    assert [record.getMessage() for record in caplog.records] == [
        f"{FILE}:{complete_end}: skipping an incomplete transaction: the server crashed before it was committed"
    ]
