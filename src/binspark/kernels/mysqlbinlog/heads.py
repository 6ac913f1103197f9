"""What every event begins with, and the events that begin a transaction: GTID and BEGIN."""

from __future__ import annotations

from binspark.kernels.compiler import inlined, kernel
from binspark.kernels.layout import NO_ROOM, REFUSED
from binspark.kernels.memory import byte_table, get, load8, load16, load32, load64, load_packed, put, store8
from binspark.kernels.mysqlbinlog.layout import CLOCK_FIELDS, CLOCK_SLOTS, KEY_FIELDS, LONG_TIME, SHORT_TIME, State
from binspark.kernels.mysqlbinlog.texts import Text
from binspark.kernels.printing.digits import write_padded, write_unsigned
from binspark.kernels.text import copy_short
from binspark.kernels.words import ZERO

_HEADER = 19
_MIN_GTID = 42 + 7 + 1 + 4
_LOGICAL_CLOCK = 2
_LOW_55, _BIT_55 = (1 << 55) - 1, 1 << 55
_BIT_31 = 1 << 31
_MICROSECONDS = 1_000_000
_hex = byte_table(b"0123456789abcdef")
_DASH, _COLON, _POINT, _OPEN, _CLOSE, _SPACE = (ord(character) for character in "-:.() ")
_SIX = ZERO + 6


@inlined
def write_text(at: int, texts: int, text: int) -> int:
    """Write one of the texts."""
    length = get(texts, 2 * text + 1)
    copy_short(at, get(texts, 2 * text), length)
    return at + length


@kernel
def write_hex(at: int, source: int, count: int) -> int:
    """Write bytes as hexadecimal digits."""
    for index in range(count):
        byte = load8(source + index)
        store8(at, _hex(byte >> 4))
        store8(at + 1, _hex(byte & 15))
        at += 2
    return at


@inlined
def clock_slot(clock: int, second: int) -> int:
    """Return the slot that has the texts of a second, if any has."""
    return clock + 8 * CLOCK_FIELDS * (second & (CLOCK_SLOTS - 1))


@kernel
def write_head(at: int, texts: int, clock: int, event: int, position: int, with_checksum: bool) -> int:
    """Write what every event begins with, without the space at its end."""
    at = write_text(at, texts, Text.AT)
    at = write_unsigned(at, position)
    at = write_text(at, texts, Text.NEWLINE_HASH)
    copy_short(at, get(clock_slot(clock, load32(event)), ZERO + 1), ZERO + SHORT_TIME)
    at = write_text(at + SHORT_TIME, texts, Text.SERVER)
    at = write_unsigned(at, load32(event + 5))
    at = write_text(at, texts, Text.END_POSITION)
    at = write_unsigned(at, load32(event + 13))
    if not with_checksum:
        return at
    at = write_text(at, texts, Text.CHECKSUM)
    last = event + load32(event + 9) - 1
    for index in range(4):
        at = write_hex(at, last - index, ZERO + 1)
    return at


@kernel
def write_moment(at: int, texts: int, clock: int, text: int, microseconds: int) -> int:
    """Write a commit time as a number and as text."""
    at = write_text(at, texts, text)
    at = write_unsigned(at, microseconds)
    store8(at, _SPACE)
    store8(at + 1, _OPEN)
    second = microseconds // _MICROSECONDS
    copy_short(at + 2, get(clock_slot(clock, second), ZERO + 2), ZERO + LONG_TIME)
    at += 2 + LONG_TIME
    store8(at, _POINT)
    at = write_padded(at + 1, microseconds - second * _MICROSECONDS, _SIX)
    at = write_text(at, texts, Text.ZONE)
    store8(at, _CLOSE)
    return at + 1


@kernel
def write_gtid(at: int, texts: int, clock: int, event: int, end: int, state: int) -> int:
    """Write a GTID after its head; return REFUSED for one of an older server, NO_ROOM if a time is missing."""
    body = event + _HEADER
    if end - body < _MIN_GTID or load8(body + 25) != _LOGICAL_CLOCK:
        return REFUSED
    immediate = load64(body + 42) & (_BIT_55 | _LOW_55)
    original, rest = immediate, body + 49
    if immediate & _BIT_55:
        immediate &= _LOW_55
        original = load64(rest) & _LOW_55
        rest += 7
    length, rest = load_packed(rest, end)
    if length < 0 or end - rest < 4:
        return REFUSED
    version = load32(rest)
    original_version = version
    if version & _BIT_31:
        if end - rest < 8:
            return REFUSED
        version &= _BIT_31 - 1
        original_version = load32(rest + 4)
    for moment in (original, immediate):
        second = moment // _MICROSECONDS
        if get(clock_slot(clock, second), ZERO) != second:
            put(state, State.SECOND, second)
            return NO_ROOM
    may_have_statements = load8(body) & 1
    at = write_text(at, texts, Text.GTID)
    at = write_unsigned(at, load64(body + 26))
    at = write_text(at, texts, Text.SEQUENCE)
    at = write_unsigned(at, load64(body + 34))
    at = write_text(at, texts, Text.RBR_NO if may_have_statements else Text.RBR_YES)
    at = write_unsigned(at, original)
    at = write_text(at, texts, Text.IMMEDIATE)
    at = write_unsigned(at, immediate)
    at = write_text(at, texts, Text.LENGTH)
    at = write_unsigned(at, length)
    if not may_have_statements:
        at = write_text(at, texts, Text.ISOLATION)
    at = write_moment(at, texts, clock, ZERO + Text.ORIGINAL_COMMENT, original)
    at = write_moment(at, texts, clock, ZERO + Text.IMMEDIATE_COMMENT, immediate)
    at = write_text(at, texts, Text.SET_ORIGINAL)
    at = write_unsigned(at, original)
    at = write_text(at, texts, Text.SET_ORIGINAL_VERSION)
    at = write_unsigned(at, original_version)
    at = write_text(at, texts, Text.SET_VERSION)
    at = write_unsigned(at, version)
    at = write_text(at, texts, Text.SET_GTID)
    source = body + 1
    for index in range(16):
        if index == 4 or index == 6 or index == 8 or index == 10:
            store8(at, _DASH)
            at += 1
        at = write_hex(at, source + index, ZERO + 1)
    store8(at, _COLON)
    at = write_unsigned(at + 1, load64(body + 17))
    put(state, State.SERVER_VERSION, version)
    put(state, State.SEEN_GTID, ZERO + 1)
    return write_text(at, texts, Text.END_GTID)


@kernel
def same_bytes(one: int, other: int, length: int) -> bool:
    """Return whether bytes are the same."""
    at = 0
    while at + 8 <= length:
        if load64(one + at) != load64(other + at):
            return False
        at += 8
    while at < length:
        if load8(one + at) != load8(other + at):
            return False
        at += 1
    return True


@kernel
def write_query(at: int, texts: int, event: int, end: int, keys: int, state: int) -> int:
    """Write a BEGIN that changes nothing in the session; return REFUSED for any other statement."""
    body = event + _HEADER
    source, length = body + 8, end - body - 8
    flags = load16(event + 17)
    for index in range(get(state, State.KEY_COUNT)):
        key = keys + 8 * KEY_FIELDS * index
        if get(key, ZERO + 1) != length or get(key, ZERO + 2) != flags:
            continue
        known, fraction = get(key, ZERO), get(key, ZERO + 3)
        same = False
        if fraction < 0:
            same = same_bytes(source, known, length)
        elif same_bytes(source, known, fraction):
            rest = fraction + 3
            same = same_bytes(source + rest, known + rest, length - rest)
        if not same:
            continue
        at = write_text(at, texts, Text.QUERY)
        at = write_unsigned(at, load32(body))
        at = write_text(at, texts, Text.EXECUTION_TIME)
        at = write_unsigned(at, load32(body + 4))
        at = write_text(at, texts, Text.ERROR_CODE)
        at = write_text(at, texts, Text.SET_TIMESTAMP)
        at = write_unsigned(at, load32(event))
        if fraction >= 0:
            microseconds = load16(source + fraction) | load8(source + fraction + 2) << 16
            if microseconds > 999_999:
                return REFUSED
            if microseconds:
                store8(at, _POINT)
                at = write_padded(at + 1, microseconds, _SIX)
        put(state, State.IN_TRANSACTION, ZERO + 1)
        return write_text(at, texts, Text.BEGIN)
    return REFUSED
