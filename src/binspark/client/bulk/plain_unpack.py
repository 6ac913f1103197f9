"""Packets of a replication stream into the bytes of a log, in plain Python: what `columns.kernels.packets` does.

Where events are large, this is about as fast as the kernel: copies and checksums are not Python's work. And it is there
at once, while Numba takes longer to load than a hundred megabytes take to copy.
"""

from __future__ import annotations

from struct import Struct
from zlib import crc32

from binspark.client.bulk.parts import AFTER_TABLE, PART_TABLE
from binspark.client.bulk.unpacking import Unpacking
from binspark.frames import HeaderFlag
from binspark.frames.format import CHECKSUM_LENGTH
from binspark.frames.header import HEADER_LENGTH
from binspark.kernels.packet_layout import ODD_CODES, Outcome, Part

_PACKET_HEADER = 4
_LONGEST_PACKET = 0xFFFFFF
_ARTIFICIAL = int(HeaderFlag.ARTIFICIAL)
_RESIDUE = 0x2144DF1C
"""The CRC32 of bytes that end with their own CRC32."""

_HEAD = Struct("<IBIBIIIH")
"""Length and number of a packet, and its mark; time, type, server, size, next position and flags of the event in it."""

_BY_BODY = frozenset({Part.ROWS_EVENT, Part.QUERY_EVENT, Part.MARIADB_GTID})
_NONE, _FOR_PYTHON = int(Part.NONE), int(Part.FOR_PYTHON)

_QUERY_FIXED = 13
_ENDS_STATEMENT = 1
_STANDALONE = 1
_WHOLE_STATEMENTS = {b"BEGIN": Part.BEGINS, b"COMMIT": Part.ENDS}
_LONGEST_OF_THESE = max(map(len, _WHOLE_STATEMENTS))
_WORDS = frozenset({b"be", b"st", b"sa", b"co", b"ro", b"re", b"xa"})
"""Statements that may begin or end something, by their first two letters."""


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
        part = PART_TABLE[code]
        if part in _BY_BODY:
            part = _part_by_body(part, event[: size - CHECKSUM_LENGTH * state.checksum])
        if part == _FOR_PYTHON:
            return Outcome.PYTHON
        if state.stop_time and part != _NONE and state.opened == 0 and seconds >= state.stop_time:
            return Outcome.STOPPED
        if room - state.out < size:
            return Outcome.FULL
        if state.checksum and crc32(event) != _RESIDUE:
            return Outcome.PYTHON
        target[state.out : state.out + size] = event
        _advance(state, size, code, part)
    return Outcome.STOPPED


def _advance(state: Unpacking, size: int, code: int, part: int) -> None:
    """Go on behind an event that was copied."""
    state.packets += 1
    state.last = state.out
    state.out += size
    state.offset += size
    state.at += _PACKET_HEADER + 1 + size
    state.sequence = (state.sequence + 1) & 0xFF
    state.is_odd = state.is_odd or code in ODD_CODES
    state.opened = AFTER_TABLE[4 * part + state.opened]
    if state.opened == 0:
        state.whole = state.out


def _part_by_body(kind: int, event: memoryview) -> int:
    """Return the part of an event that only its body tells. `event` ends before the checksum."""
    body = event[HEADER_LENGTH:]
    if kind == Part.QUERY_EVENT:
        return _part_of_statement(body)
    if kind == Part.ROWS_EVENT:
        if len(body) < 8:
            return Part.FOR_PYTHON
        return Part.ROWS if body[6] & _ENDS_STATEMENT else Part.PREPARES
    if len(body) < 13:
        return Part.FOR_PYTHON
    return Part.IDENTIFIES if body[12] & _STANDALONE else Part.BEGINS


def _part_of_statement(body: memoryview) -> int:
    """Return the part of a statement; one that may be more than a statement is the stream's."""
    if len(body) < _QUERY_FIXED:
        return Part.FOR_PYTHON
    schema_length, status_length = body[8], body[11] | body[12] << 8
    text = body[_QUERY_FIXED + status_length + schema_length + 1 :]
    if len(text) < 2:
        return Part.FOR_PYTHON
    if len(text) <= _LONGEST_OF_THESE and (part := _WHOLE_STATEMENTS.get(bytes(text))) is not None:
        return part
    first_letters = bytes((text[0] | 0x20, text[1] | 0x20))
    return Part.FOR_PYTHON if text[0] <= 32 or first_letters in _WORDS else Part.STATEMENT
