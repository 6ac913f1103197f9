"""Events as mysqlbinlog prints them, one after the other, until one comes that Python must print.

Heads are written to the output at once. BINLOG statements (the body) and rows as comments (the footer) are collected
until their statement ends, and then copied after the heads of its events.
"""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.layout import NO_ROOM, REFUSED
from binspark.kernels.mariadb_binlog.base64 import write_base64
from binspark.kernels.memory import copy_bytes, get, load8, load16, load32, load64, load_packed, put, store8
from binspark.kernels.mysqlbinlog.heads import clock_slot, write_head, write_hex, write_moment, write_text
from binspark.kernels.mysqlbinlog.layout import (
    KEY_FIELDS,
    MAPPED_TABLES,
    TABLE_FIELDS,
    State,
    Status,
    TableField,
)
from binspark.kernels.mysqlbinlog.rows import write_rows
from binspark.kernels.mysqlbinlog.texts import Text
from binspark.kernels.printing.digits import write_padded, write_unsigned
from binspark.kernels.text import copy_short, equal_bytes
from binspark.kernels.words import ZERO

_HEADER = 19
_QUERY, _XID, _TABLE_MAP, _WRITE_ROWS, _DELETE_ROWS, _GTID = 2, 16, 19, 30, 32, 33
_ROOM = 4096
_MIN_GTID = 42 + 7 + 1 + 4
_LOGICAL_CLOCK = 2
_LOW_55, _BIT_55 = (1 << 55) - 1, 1 << 55
_BIT_31 = 1 << 31
_MICROSECONDS = 1_000_000
_SINCE_INVISIBLE_KEYS = 80030
_KNOWN_ROWS_FLAGS = 0x1F
_DASH, _COLON, _POINT, _NEWLINE, _DIGIT_0 = (ord(character) for character in "-:.\n0")
_SIX = ZERO + 6


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
            same = equal_bytes(source, known, length)
        elif equal_bytes(source, known, fraction):
            rest = fraction + 3
            same = equal_bytes(source + rest, known + rest, length - rest)
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


@kernel
def write_table_map(at: int, texts: int, event: int, end: int, tables: int, mapped: int, state: int) -> int:
    """Write the table of a table id, and remember it; return REFUSED for a table that is not known."""
    body = event + _HEADER
    table_id = load32(body) | load16(body + 4) << 32
    if get(state, State.VERBOSE):
        length, index, found = end - body - 6, ZERO, False
        while index < get(state, State.TABLE_COUNT) and not found:
            table = tables + 8 * TABLE_FIELDS * index
            found = get(table, TableField.MAP_LENGTH) == length and equal_bytes(
                body + 6, get(table, TableField.MAP), length
            )
            index += 1
        count = get(state, State.MAPPED)
        if not found or count >= MAPPED_TABLES:
            return REFUSED
        put(mapped, 2 * count, table_id)
        put(mapped, 2 * count + 1, index - 1)
        put(state, State.MAPPED, count + 1)
    schema_length = load8(body + 8)
    name = body + 10 + schema_length
    if name >= end or name + 1 + load8(name) > end:
        return REFUSED
    at = write_text(at, texts, Text.TABLE_MAP)
    copy_short(at, body + 9, schema_length)
    at = write_text(at + schema_length, texts, Text.TABLE_NAME)
    copy_short(at, name + 1, load8(name))
    at = write_text(at + load8(name), texts, Text.MAPPED_TO)
    at = write_unsigned(at, table_id)
    if get(state, State.SERVER_VERSION) >= _SINCE_INVISIBLE_KEYS:
        at = write_text(at, texts, Text.HAS_KEY)
        store8(at, _DIGIT_0 + (load16(body + 6) >> 2 & 1))
        at += 1
    store8(at, _NEWLINE)
    return at + 1


@kernel
def write_rows_head(at: int, texts: int, event: int) -> int:
    """Write the table id and the flags of a rows event; return REFUSED for flags that are not known."""
    body = event + _HEADER
    flags = load16(body + 6)
    if flags & ~_KNOWN_ROWS_FLAGS:
        return REFUSED
    at = write_text(at, texts, Text.WRITE_ROWS + load8(event + 4) - _WRITE_ROWS)
    at = write_unsigned(at, load32(body) | load16(body + 4) << 32)
    if flags:
        at = write_text(at, texts, Text.FLAGS)
    for bit in range(5):
        if flags >> bit & 1:
            at = write_text(at, texts, Text.STMT_END + bit)
    store8(at, _NEWLINE)
    return at + 1


@kernel
def add_to_body(body: int, texts: int, event: int, state: int) -> None:
    """Append an event to the BINLOG statement."""
    if not get(state, State.WITH_BASE64):
        return
    at = body + get(state, State.BODY)
    if not get(state, State.HAS_BODY):
        at = write_text(at, texts, Text.BINLOG)
        put(state, State.HAS_BODY, ZERO + 1)
    at = write_base64(at, event, load32(event + 9))
    put(state, State.BODY, at - body)


@kernel
def table_of(event: int, tables: int, mapped: int, state: int) -> int:
    """Return the table of a rows event, 0 if it is not known."""
    body = event + _HEADER
    table_id = load32(body) | load16(body + 4) << 32
    index = get(state, State.MAPPED) - 1
    while index >= 0:
        if get(mapped, 2 * index) == table_id:
            return tables + 8 * TABLE_FIELDS * get(mapped, 2 * index + 1)
        index -= 1
    return ZERO


@kernel
def print_events(
    data: int,
    length: int,
    output: int,
    output_room: int,
    body: int,
    body_room: int,
    footer: int,
    footer_room: int,
    texts: int,
    clock: int,
    keys: int,
    tables: int,
    mapped: int,
    state: int,
) -> int:
    """Print events until there is a reason to return."""
    with_checksum = get(state, State.CHECKSUM) > 0
    while True:
        consumed = get(state, State.CONSUMED)
        event, left = data + consumed, length - consumed
        if left < _HEADER:
            return Status.INPUT
        size, second, kind = load32(event + 9), load32(event), load8(event + 4)
        position = get(state, State.POSITION) + consumed
        end_position, outer_end = load32(event + 13), get(state, State.OUTER_END)
        if outer_end >= 0:
            position = end_position = outer_end
        if size < _HEADER + 4 + 8:
            return Status.EVENT
        if size > left:
            put(state, State.NEEDED, size)
            return Status.INPUT
        if position >= get(state, State.STOP) or second >= get(state, State.STOP_TIME):
            return Status.EVENT
        if get(clock_slot(clock, second), ZERO) != second:
            put(state, State.SECOND, second)
            return Status.TIME
        at, limit = output + get(state, State.OUTPUT), output + output_room
        if at + _ROOM + get(state, State.BODY) + get(state, State.FOOTER) > limit:
            return Status.OUTPUT
        end = event + size - get(state, State.CHECKSUM)
        if _WRITE_ROWS <= kind <= _DELETE_ROWS or kind == _TABLE_MAP:
            needed = get(state, State.BODY) + size + size // 3 + size // 57 + 256
            if needed > body_room:
                put(state, State.NEEDED, size + size // 3 + size // 57 + 512)
                return Status.BODY
            written = ZERO + REFUSED
            text = write_head(at, texts, clock, event, position, end_position, with_checksum)
            if kind == _TABLE_MAP:
                written = write_table_map(text, texts, event, end, tables, mapped, state)
            else:
                written = write_rows_head(text, texts, event)
            if written < 0:
                return Status.EVENT
            if kind != _TABLE_MAP and get(state, State.VERBOSE):
                table = table_of(event, tables, mapped, state)
                if table == 0:
                    return Status.EVENT
                start = footer + get(state, State.FOOTER)
                after = write_rows(
                    start, footer + footer_room, event + _HEADER, end, kind, table, get(state, State.JSON_WRITER)
                )
                if after == NO_ROOM:
                    return Status.FOOTER
                if after < 0:
                    return Status.EVENT
                put(state, State.FOOTER, after - footer)
            add_to_body(body, texts, event, state)
            put(state, State.OUTPUT, written - output)
            put(state, State.CONSUMED, consumed + size)
            put(state, State.EVENTS, get(state, State.EVENTS) + 1)
            ends = kind != _TABLE_MAP and load16(event + _HEADER + 6) & 1
            put(state, State.UNFINISHED, ZERO if ends else ZERO + 1)
            if ends:
                if get(state, State.HAS_BODY):
                    closed = write_text(body + get(state, State.BODY), texts, Text.END_BINLOG)
                    put(state, State.BODY, closed - body)
                put(state, State.HAS_BODY, ZERO)
                put(state, State.MAPPED, ZERO)
                body_length, footer_length = get(state, State.BODY), get(state, State.FOOTER)
                if get(state, State.IS_CARRIED) or written + body_length + footer_length + _ROOM > limit:
                    return Status.FLUSH
                copy_bytes(written, body, body_length)
                copy_bytes(written + body_length, footer, footer_length)
                put(state, State.OUTPUT, written + body_length + footer_length - output)
                put(state, State.BODY, ZERO)
                put(state, State.FOOTER, ZERO)
            continue
        if kind != _GTID and kind != _QUERY and kind != _XID:
            return Status.EVENT
        at = write_head(at, texts, clock, event, position, end_position, with_checksum)
        if kind == _GTID:
            at = write_gtid(at, texts, clock, event, end, state)
            if at == NO_ROOM:
                return Status.TIME
        elif kind == _QUERY:
            at = write_query(at, texts, event, end, keys, state)
        else:
            at = write_text(at, texts, Text.XID)
            at = write_unsigned(at, load64(event + _HEADER))
            at = write_text(at, texts, Text.COMMIT)
            put(state, State.IN_TRANSACTION, ZERO)
            put(state, State.SEEN_GTID, ZERO)
        if at < 0:
            return Status.EVENT
        put(state, State.OUTPUT, at - output)
        put(state, State.CONSUMED, consumed + size)
        put(state, State.EVENTS, get(state, State.EVENTS) + 1)
