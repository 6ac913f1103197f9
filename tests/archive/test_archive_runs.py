"""Streams as runs of bytes, unpacked by a kernel or plainly: every log, every way that packets are cut, damage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.client.bulk import runs as runs_module
from binspark.client.bulk.area import Area
from binspark.client.bulk.kernel_unpack import KernelUnpacker
from binspark.client.bulk.plain_unpack import unpack_plainly
from binspark.client.bulk.runs import EventRuns, Run, Stop
from binspark.client.bulk.unpacking import Unpacking
from binspark.client.settings import StreamSettings
from binspark.errors import BinlogError, Checksum, ConnectionLost, Malformed, Purged
from binspark.event import EventDecoder
from binspark.frames import Frame, Framer
from binspark.kernels.packet_layout import Outcome
from binspark.testing.builder import BinlogBuilder, blob, insert, integer, table
from binspark.transactions import Assembler
from binspark.transactions.grammar import Progress, boundary_of, progress_after
from tests.corpus.cases import corpus_logs, log_id
from tests.support.archive.stream_script import (
    END,
    FILE,
    closed,
    event_packets,
    events_of,
    heartbeat,
    packets,
    rotate,
    streamed,
)

pytestmark = pytest.mark.timeout(60)

LOGS = [log for log in corpus_logs() if not log.name.startswith("relay")]
"""What a server sends: its own logs, not those that it keeps of another one's."""

ORDERS = table("shop.orders", integer("id"), blob("note", 4))
WAYS = {"plainly": lambda: unpack_plainly, "by-kernel": KernelUnpacker}


@pytest.fixture(scope="module", params=WAYS, autouse=True)
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Let packets be unpacked in each of the two ways."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs_module, "Unpacker", WAYS[request.param])
        yield request.param


def small_log(transactions: int = 3, size: int = 20) -> bytes:
    log = BinlogBuilder()
    for number in range(transactions):
        log.transaction(insert(ORDERS, (number, b"x" * size)))
    log.rotate()
    return log.files[0].content


def kept(runs: EventRuns) -> list[tuple[Run, bytes]]:
    """Return runs with their bytes, which are theirs only for a moment."""
    return [(run, bytes(run.data)) for run in runs]


def until_error(runs: EventRuns) -> tuple[bytes, BinlogError | None]:
    """Return the bytes that come before an error, and the error."""
    came = bytearray()
    try:
        for run in runs:
            came += run.data
    except BinlogError as error:
        return bytes(came), error
    return bytes(came), None


def bytes_of(runs: list[tuple[Run, bytes]]) -> bytes:
    return b"\xfebin" + b"".join(data for _, data in runs)


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_runs_are_the_bytes_of_the_log(log: Path) -> None:
    content = log.read_bytes()
    first = next(Framer().feed(content))
    sent = event_packets([rotate(FILE), *events_of(content)])
    with streamed(sent, server_version=first.format.server_version) as stream:
        runs = kept(stream)
    assert bytes_of(runs) == closed(content)
    with_bytes = [run for run, data in runs if data]
    assert with_bytes[0].offset == 4
    assert all(run.end == after.offset for run, after in pairwise(with_bytes))


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_it_is_known_where_transactions_are_open(log: Path, way: str) -> None:
    decoder, assembler, is_open = EventDecoder(), Assembler(), Progress.NONE
    for frame in Framer().feed(log.read_bytes()):
        event = decoder.decode(frame)
        assembler.feed(event)
        outcome, unpacked = unpacked_open(way, frame, is_open)
        by_python = progress_after(boundary_of(event).role, is_open)
        assert unpacked == (by_python if outcome == Outcome.MORE else is_open)
        is_open = by_python
        assert (is_open is Progress.NONE) == (not assembler.is_open)


def unpacked_open(way: str, frame: Frame, is_open: Progress) -> tuple[Outcome, Progress]:
    """Unpack one event; return why that ended, and what is open then."""
    sent = packets([b"\0" + frame.data])
    state = Unpacking(Area(len(sent)), Area(len(sent)), end=len(sent), sequence=1, offset=frame.offset)
    state.source.view[: len(sent)] = sent
    state.checksum, state.opened = bool(frame.format.checksum_length), is_open
    return WAYS[way]()(state), Progress(state.opened)


@pytest.mark.parametrize("chunk", [1, 7, 100, 1000])
def test_packets_may_come_in_any_pieces(chunk: int) -> None:
    log = small_log()
    with streamed(event_packets([rotate(FILE), *events_of(log)]), chunk=chunk) as stream:
        assert bytes_of(kept(stream)) == log


def test_a_run_tells_where_the_last_transaction_ended() -> None:
    log = small_log()
    events = events_of(log)
    cut = sum(map(len, events[:-3])) + 4
    with streamed(event_packets([rotate(FILE), *events[:-3]])) as stream:
        runs = kept(stream)
    assert runs[-1][0].end == cut
    assert runs[-1][0].whole_end == cut - sum(map(len, events[-6:-3]))
    assert runs[-1][0].last == cut - len(events[-4])


@pytest.mark.parametrize("size", [100_000, 300_000, (1 << 24) - 200, 1 << 24, 35_000_000])
def test_events_of_any_size_come_through(size: int) -> None:
    log = small_log(2, size)
    with streamed(event_packets([rotate(FILE), *events_of(log)])) as stream:
        assert bytes_of(kept(stream)) == log


def test_what_is_in_no_file_brings_no_bytes() -> None:
    log = small_log()
    events = events_of(log)
    offset = 4 + len(events[0])
    sent = [rotate(FILE), events[0], heartbeat(FILE, offset), *events[1:], rotate("binlog.000002")]
    with streamed(event_packets(sent)) as stream:
        runs = kept(stream)
    told = [(run.file, run.offset, run.event.type_code) for run, data in runs if run.event and not data]
    assert told == [(FILE, 4, 4), (FILE, offset, 41), ("binlog.000002", 4, 4)]
    assert bytes_of(runs) == log


def test_numbers_of_packets_go_round() -> None:
    log = small_log(300, 0)
    with streamed(event_packets([rotate(FILE), *events_of(log)])) as stream:
        assert bytes_of(kept(stream)) == log


@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(max_examples=60, deadline=None)
def test_any_flipped_bit_is_refused(at: float, bit: int) -> None:
    log = small_log()
    events = events_of(log)
    body = bytearray(b"".join(events[1:]))
    body[int(at * len(body))] ^= 1 << bit
    cut = [0, *np.cumsum([len(event) for event in events[1:]]).tolist()]
    damaged = [bytes(body[start:end]) for start, end in pairwise(cut)]
    with streamed(event_packets([rotate(FILE), events[0], *damaged])) as stream, pytest.raises(BinlogError):
        kept(stream)


def test_events_before_damage_come_before_the_error() -> None:
    events = events_of(small_log())
    damaged = events[-1][:-1] + bytes((events[-1][-1] ^ 1,))
    with streamed(event_packets([rotate(FILE), *events[:-1], damaged])) as stream:
        came, error = until_error(stream)
    assert came == b"".join(events[:-1])
    assert isinstance(error, Checksum)


def test_an_event_that_is_left_out_is_noticed() -> None:
    events = events_of(small_log())
    with streamed(event_packets([rotate(FILE), *events[:3], *events[4:]])) as stream, pytest.raises(Malformed):
        kept(stream)


def test_a_packet_out_of_order_is_refused() -> None:
    events = events_of(small_log())
    sent = packets([b"\0" + rotate(FILE), b"\0" + events[0]]) + packets([b"\0" + events[1]], first_number=7)
    with streamed(sent) as stream, pytest.raises(Malformed, match="packet 7 came where packet 3 was due"):
        kept(stream)


def test_an_error_of_the_server_is_explained() -> None:
    refusal = b"\xff\xd4\x04#HY000Could not find next log"
    sent = packets([b"\0" + rotate(FILE), b"\0" + events_of(small_log())[0], refusal])
    with streamed(sent) as stream, pytest.raises(Purged, match="no log of this name"):
        kept(stream)


def test_a_connection_that_ends_is_lost() -> None:
    events = events_of(small_log())
    sent = packets([b"\0" + event for event in (rotate(FILE), *events)])
    with streamed(sent) as stream:
        came, error = until_error(stream)
    assert came == b"".join(events)
    assert isinstance(error, ConnectionLost)
    assert "closed the connection" in error.message


def test_whoever_waits_gets_a_run_that_holds_nothing() -> None:
    sent = packets([b"\0" + event for event in (rotate(FILE), *events_of(small_log()))])
    with streamed(sent, hang=True) as stream:
        assert next(run for run in stream if run.event is None and not run.data).whole_end is None


def test_silence_is_a_lost_connection() -> None:
    sent = packets([b"\0" + event for event in (rotate(FILE), *events_of(small_log()))])
    impatient = StreamSettings(heartbeat_seconds=0.1, missed_heartbeats=1)
    with (
        streamed(sent, hang=True, settings=impatient) as stream,
        pytest.raises(ConnectionLost, match="not even a heartbeat"),
    ):
        kept(stream)


def test_a_dump_that_ends_ends_the_runs() -> None:
    with streamed(packets([b"\0" + rotate(FILE), END]) + b"unread") as stream:
        assert [run.event.type_code for run in stream if run.event] == [4]


def test_runs_stop_behind_the_transaction_that_reaches_a_place() -> None:
    log = small_log(4)
    whole = whole_ends(log)
    for place in (whole[2], whole[1] + 1, whole[2] - 1):
        with streamed(event_packets([rotate(FILE), *events_of(log)]), stop=Stop(FILE, place)) as stream:
            runs = take_until_stopped(stream)
        assert runs[-1][0].end == whole[2]


def test_a_place_is_reached_without_another_event() -> None:
    log = small_log(1)
    sent = packets([b"\0" + event for event in (rotate(FILE), *events_of(log))])
    with streamed(sent, hang=True, stop=Stop(FILE, len(log))) as stream:
        assert bytes_of(take_until_stopped(stream)) == log


def test_runs_stop_before_the_first_transaction_of_a_time() -> None:
    log = BinlogBuilder()
    began = log.timestamp
    for number in range(4):
        log.timestamp = began + 10 * number
        log.transaction(insert(ORDERS, (number, b"")))
    content = log.files[0].content
    whole = whole_ends(content)
    with streamed(event_packets([rotate(FILE), *events_of(content)]), stop=Stop(seconds=began + 15)) as stream:
        runs = take_until_stopped(stream)
    assert runs[-1][0].end == whole[-3]


def take_until_stopped(runs: EventRuns) -> list[tuple[Run, bytes]]:
    came = []
    for run in runs:
        came.append((run, bytes(run.data)))
        if runs.is_stopped:
            break
    assert runs.is_stopped
    return [(run, data) for run, data in came if data]


def whole_ends(log: bytes) -> list[int]:
    """Return where transactions end, and what stands before the first of them."""
    decoder, assembler = EventDecoder(), Assembler()
    ends = []
    for frame in Framer().feed(log):
        assembler.feed(decoder.decode(frame))
        if not assembler.is_open:
            ends.append(frame.end_offset)
    return ends


def test_what_stands_in_payloads_is_odd() -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1, b"")), compress=True)
    plain = small_log()
    found = []
    for content in (log.files[0].content, plain):
        with streamed(event_packets([rotate(FILE), *events_of(content)])) as stream:
            found.append(any(run.is_odd for run in stream))
    assert found == [True, False]
