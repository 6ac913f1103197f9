"""Two ways to unpack packets: the same answers, the same refusals, the same numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.frames import EventCode
from binspark.frames.checksum import checksum_of
from binspark.frames.header import HEADER_LENGTH, Header, encode_header
from binspark.kernels.packet_layout import PACKET_ROLES, Outcome
from binspark.replication import unpack as unpack_module
from binspark.replication.channel import Memory, UnreadPackets
from binspark.replication.unpack import KernelUnpacker, Unpacked, Unpacker, UnpackFunction, unpack_plainly
from binspark.transactions.grammar import Progress, Role
from binspark.wire import Writer
from tests.support.examples import examples
from tests.support.replication.scripted_server import packets

OFFSET = 1000
TIME = 1_700_000_000
STATEMENTS = (b"BEGIN", b"COMMIT", b"begin", b"INSERT", b"SAVEPOINT a", b"Xa end", b" BEGIN", b"\nx", b"x", b"")
CODES = (
    EventCode.MARIADB_GTID,
    EventCode.WRITE_ROWS,
    EventCode.XID,
    EventCode.IGNORABLE,
    EventCode.TRANSACTION_PAYLOAD,
)
ANY_CODE = [code for code in range(256) if PACKET_ROLES[code] != Role.UNDECIDED]


@st.composite
def statements(draw: st.DrawFn) -> bytes:
    """Return the body of a statement."""
    status, schema = draw(st.binary(max_size=9)), draw(st.binary(max_size=5))
    fixed = bytes(8) + bytes((len(schema), 0, 0, len(status), 0))
    return fixed + status + schema + b"\0" + draw(st.sampled_from(STATEMENTS))


@st.composite
def made_events(draw: st.DrawFn, *, checksum: bool) -> list[bytes]:
    """Return events of any kind, most of which begin where the one before them ends."""
    offset, events = OFFSET, []
    for code in draw(
        st.lists(st.sampled_from([EventCode.QUERY] * 5 + [*CODES] * 3 + ANY_CODE), min_size=1, max_size=4)
    ):
        body = draw(
            statements() if code == EventCode.QUERY else st.binary(max_size=8) | st.binary(min_size=8, max_size=20)
        )
        size = HEADER_LENGTH + len(body) + 4 * checksum
        position = draw(st.sampled_from([offset + size] * 8 + [0, offset]))
        writer = Writer()
        encode_header(Header(draw(st.integers(TIME, TIME + 2)), code, 1, size, position, 0), 4, writer)
        event = writer.take() + body
        events.append(event + checksum_of(event) if checksum else event)
        offset += size
    return events


State = tuple[UnreadPackets, Unpacked]


@st.composite
def states(draw: st.DrawFn) -> State:
    """Return what is to be unpacked: packets, of which some are damaged or cut short or too large for the target."""
    checksum = draw(st.booleans())
    events = draw(made_events(checksum=checksum))
    sent = bytearray(packets([b"\0" + event for event in events]))
    if draw(st.sampled_from([False, False, False, True])):
        sent[draw(st.integers(0, len(sent) - 1))] ^= draw(st.sampled_from([1, 0x20, 0x80, 0xFF]))
    room = sum(map(len, events)) - draw(st.sampled_from([0, 0, 0, 0, 1, 30]))
    unread, unpacked = state_of(bytes(sent), max(0, room))
    unread.end = len(sent) - draw(st.sampled_from([0, 0, 0, 0, 1, 20, len(sent) - 3]))
    unpacked.checksum = draw(st.sampled_from([checksum] * 4 + [True]))
    unpacked.progress = draw(st.sampled_from(Progress))
    unpacked.stop_offset = draw(st.sampled_from([0, 0, 0, OFFSET, OFFSET + 60]))
    unpacked.stop_time = draw(st.sampled_from([0, 0, TIME, TIME + 1]))
    return unread, unpacked


def state_of(sent: bytes, room: int) -> State:
    """Return a state in which packets have come, and there is room for events."""
    unread = UnreadPackets(Memory(len(sent)), end=len(sent), sequence=1)
    unread.memory.view[: len(sent)] = sent
    return unread, Unpacked(Memory(room), offset=OFFSET)


def copy_of(state: State) -> State:
    unread, unpacked = state
    return replace(unread), replace(unpacked, target=Memory(unpacked.target.size))


def outcome_of(unpack: UnpackFunction, state: State) -> tuple[object, ...]:
    """Unpack, and return all that counts of the result."""
    outcome = unpack(*state)
    _, unpacked = state
    ignored = {"memory", "target", *(() if unpacked.size else ("last",))}
    numbers = {name: int(getattr(each, name)) for each in state for name in type(each).__slots__ if name not in ignored}
    return outcome, numbers, bytes(unpacked.target.view[: unpacked.size])


@given(states())
@settings(max_examples=examples(600), deadline=None)
def test_kernel_and_python_agree_on_any_packets(state: State) -> None:
    same = copy_of(state)
    assert outcome_of(unpack_plainly, state) == outcome_of(KernelUnpacker(), same)


def events_of_size(count: int, size: int) -> State:
    """Return a state in which this number of events of this size have come."""
    offset, events = OFFSET, []
    for _ in range(count):
        writer = Writer()
        encode_header(Header(TIME, EventCode.XID, 1, size, offset + size, 0), 4, writer)
        events.append(writer.take() + bytes(size - HEADER_LENGTH))
        offset += size
    return state_of(packets([b"\0" + event for event in events]), count * size)


@pytest.mark.parametrize(("count", "size"), [(11, 100), (5, 20_000)])
def test_the_kernel_is_loaded_once_much_has_come(count: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack_module, "is_numpy_loaded", lambda: False)
    monkeypatch.setattr(unpack_module, "_KERNEL_PAYS", 10)
    unpacker = Unpacker()
    assert unpacker(*events_of_size(count - 1, size)) == Outcome.MORE
    assert not unpacker.uses_kernel
    assert unpacker(*events_of_size(count, size)) == Outcome.MORE
    assert unpacker.uses_kernel


def test_the_kernel_is_used_at_once_where_numpy_is_loaded() -> None:
    assert unpack_module.is_numpy_loaded()
    assert Unpacker().uses_kernel
