"""Packets of a replication stream into the bytes of a log, in plain Python: what `kernels.packets` does.

Where events are large, this is about as fast as the kernel: copies and checksums are not Python's work. And it is there
at once, while Numba takes longer to load than a hundred megabytes take to copy.
"""

from __future__ import annotations

from struct import Struct
from zlib import crc32

from binspark.client.bulk.unpacking import Unpacking
from binspark.frames import HeaderFlag
from binspark.frames.format import CHECKSUM_LENGTH
from binspark.frames.header import HEADER_LENGTH
from binspark.kernels.packet_layout import ODD_CODES, PACKET_ROLES, Outcome
from binspark.transactions.byte_tables import PROGRESS_AFTER, PROGRESS_COUNT, STARTS_NOTHING, role_in_bytes
from binspark.transactions.grammar import Role

_PACKET_HEADER = 4
_LONGEST_PACKET = 0xFFFFFF
_ARTIFICIAL = int(HeaderFlag.ARTIFICIAL)
_RESIDUE = 0x2144DF1C
"""The CRC32 of bytes that end with their own CRC32."""

_HEAD = Struct("<IBIBIIIH")
"""Length and number of a packet, and its mark; time, type, server, size, next position and flags of the event in it."""

_BY_BODY = frozenset(map(int, (Role.BY_STATEMENT, Role.BY_ROWS_FLAGS, Role.BY_GTID_FLAGS)))
_UNDECIDED = int(Role.UNDECIDED)


def unpack_plainly(state: Unpacking) -> Outcome:
    """Copy the events of packets one behind the other; return why it ended."""
    view, target, room = state.source.view, state.target.view, state.target.size
    shortest = HEADER_LENGTH + CHECKSUM_LENGTH * state.checksum
    while not (state.stop and state.opened == 0 and state.offset >= state.stop):
        at, available = state.at, state.end - state.at
        head, mark, seconds, code, _server, size, position, flags = _HEAD.unpack_from(view, at)
        length = head & _LONGEST_PACKET
        state.needed = _PACKET_HEADER + (length if available >= _PACKET_HEADER else 0)
        if available < _PACKET_HEADER:
            return Outcome.MORE
        if length == _LONGEST_PACKET or head >> 24 != state.sequence:
            return Outcome.PYTHON
        if available < state.needed:
            return Outcome.MORE
        if length <= shortest or mark or size != length - 1 or flags & _ARTIFICIAL:
            return Outcome.PYTHON
        if position and position != (state.offset + size) & 0xFFFFFFFF:
            return Outcome.PYTHON
        event = view[at + _PACKET_HEADER + 1 : at + _PACKET_HEADER + length]
        role = PACKET_ROLES[code]
        if role in _BY_BODY:
            role = role_in_bytes(role, event[HEADER_LENGTH : size - CHECKSUM_LENGTH * state.checksum])
        if role == _UNDECIDED:
            return Outcome.PYTHON
        if state.stop_time and role not in STARTS_NOTHING and state.opened == 0 and seconds >= state.stop_time:
            return Outcome.STOPPED
        if room - state.out < size:
            return Outcome.FULL
        if state.checksum and crc32(event) != _RESIDUE:
            return Outcome.PYTHON
        target[state.out : state.out + size] = event
        _advance(state, size, code, role)
    return Outcome.STOPPED


def _advance(state: Unpacking, size: int, code: int, role: int) -> None:
    """Continue after an event that was copied."""
    state.packets += 1
    state.last = state.out
    state.out += size
    state.offset += size
    state.at += _PACKET_HEADER + 1 + size
    state.sequence = (state.sequence + 1) & 0xFF
    state.is_odd = state.is_odd or code in ODD_CODES
    state.opened = PROGRESS_AFTER[PROGRESS_COUNT * role + state.opened]
    if state.opened == 0:
        state.whole = state.out
