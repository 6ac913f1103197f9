"""Transactions that consist of rows alone: found in the bytes of a log, and written with their statements."""

from __future__ import annotations

from typing import Any

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.crc32 import has_valid_crc32
from binspark.kernels.layout import CHECKSUM_LENGTH, MIN_MARIADB_BODY, MIN_MYSQL_BODY, NO_THREAD, Header
from binspark.kernels.memory import (
    copy_bytes,
    get,
    load8,
    load16,
    load32,
    load64,
    put,
    store8,
    store16,
    store32,
    store64,
)
from binspark.kernels.printing.digits import write_unsigned
from binspark.kernels.roles import statement_text
from binspark.kernels.sql.layout import SETTINGS_COUNT, RowsEvent, RowsTransaction, Script, Walk, WalkStop
from binspark.kernels.transactions import mariadb_thread, write_mariadb_gtid, write_uuid
from binspark.kernels.words import ZERO
from binspark.transactions.byte_tables import ROWS_FLAGS_AT, ROWS_LENGTH
from binspark.transactions.grammar import GTID_STANDALONE, GTID_XA, ROWS_ENDS_STATEMENT

_GTID, _ANONYMOUS_GTID, _MARIADB_GTID = int(E.GTID), int(E.ANONYMOUS_GTID), int(E.MARIADB_GTID)
_QUERY, _XID = int(E.QUERY), int(E.XID)
_MARIADB_OTHER = GTID_STANDALONE | GTID_XA
_TABLE_MAP, _ROWS_QUERY, _ANNOTATE_ROWS = int(E.TABLE_MAP), int(E.ROWS_QUERY), int(E.ANNOTATE_ROWS)
_ROWS_V1, _ROWS_V1_END = int(E.WRITE_ROWS_V1), int(E.DELETE_ROWS_V1)
_ROWS_V2, _ROWS_V2_END = int(E.WRITE_ROWS), int(E.DELETE_ROWS)
_TRANSACTION, _EVENT = 8 * int(RowsTransaction.WIDTH), 8 * int(RowsEvent.WIDTH)
_BEGIN = (int.from_bytes(b"BEGI", "little"), ord("N"))
_BEGIN_LENGTH = 5
_UUID_TEXT = 36
_COLON, _NEWLINE = ord(":"), ord("\n")


def _words(text: bytes) -> tuple[int, ...]:
    """Return text as words of eight bytes, for `store64`; of the last one, only some bytes belong to it."""
    return tuple(int.from_bytes(text[at : at + 8], "little") for at in range(0, len(text), 8))


_BEGIN_LINE, _COMMIT_LINE, _COMMENT, _ANONYMOUS = map(_words, (b"BEGIN;\n", b"COMMIT;\n", b"\n-- ", b"anonymous"))
_SPACES, _SERVER, _THREAD = map(_words, (b"  ", b"  server ", b"  thread "))
_GTID_NEXT_END, _END_LINE = _words(b"';\n"), _words(b";\n")


def _four_words(text: bytes) -> tuple[int, int, int, int, int]:
    """Return text of up to 32 bytes as four words, and its length."""
    first, second, third, fourth = _words(text.ljust(32, b"\0"))
    return first, second, third, fourth, len(text)


_GTID_NEXT, _DOMAIN_ID = _four_words(b"SET gtid_next = '"), _four_words(b"SET gtid_domain_id = ")
_SERVER_ID, _SEQ_NO = _four_words(b", server_id = "), _four_words(b", gtid_seq_no = ")


@kernel
def find_transactions(walk: int) -> int:
    """Find transactions that consist of rows alone; return why the next one is none of them."""
    while True:
        count, events = get(walk, Walk.TRANSACTION_COUNT), get(walk, Walk.EVENT_COUNT)
        if count == get(walk, Walk.TRANSACTION_CAPACITY):
            return WalkStop.FULL
        found = get(walk, Walk.TRANSACTIONS) + _TRANSACTION * count
        stop = read_transaction(walk, found)
        if stop >= 0:
            put(walk, Walk.EVENT_COUNT, events)
            return stop
        put(walk, Walk.TRANSACTION_COUNT, count + 1)


@kernel
def read_transaction(walk: int, found: int) -> int:
    """Read a transaction; return why not, -1 if it was read: then the walk is after it."""
    at, end = get(walk, Walk.AT), get(walk, Walk.END)
    checksum = CHECKSUM_LENGTH * get(walk, Walk.CHECKSUM)
    put(found, RowsTransaction.FIRST_EVENT, get(walk, Walk.EVENT_COUNT))
    statement, statement_length = ZERO, ZERO
    number: Any = ZERO
    while True:
        if end - at < Header.LENGTH:
            return WalkStop.MORE
        size = load32(at + Header.EVENT_SIZE)
        if size < Header.LENGTH + checksum:
            return WalkStop.OTHER
        if size > end - at:
            return WalkStop.MORE if number == 0 or is_inside(at) else WalkStop.OTHER
        if checksum and not has_valid_crc32(get(walk, Walk.CRC_FUNCTION), at, size):
            return WalkStop.OTHER
        kind, body, body_end = load8(at + Header.TYPE), at + Header.LENGTH, at + size - checksum
        if number == 0:
            if kind == _MARIADB_GTID:
                number += 1  # no BEGIN follows
                if not begins_mariadb(walk, found, at, body_end):
                    return WalkStop.OTHER
            elif not begins(walk, found, kind, at, body_end):
                return WalkStop.OTHER
        elif number == 1:
            text, length = statement_text(at, body_end)
            if kind != _QUERY or length != _BEGIN_LENGTH or load32(text) != _BEGIN[0] or load8(text + 4) != _BEGIN[1]:
                return WalkStop.OTHER
            put(found, RowsTransaction.THREAD, load32(body))
        elif kind == _XID:
            put(found, RowsTransaction.EVENTS_END, get(walk, Walk.EVENT_COUNT))
            put(found, RowsTransaction.END, at + size + get(walk, Walk.ORIGIN))
            put(walk, Walk.AT, at + size)
            return -1
        elif kind == _ROWS_QUERY and body < body_end:
            statement, statement_length = body + 1, body_end - body - 1
        elif kind == _ANNOTATE_ROWS:
            statement, statement_length = body, body_end - body
        elif _ROWS_V1 <= kind <= _ROWS_V1_END or _ROWS_V2 <= kind <= _ROWS_V2_END:
            if body_end - body < ROWS_LENGTH or get(walk, Walk.EVENT_COUNT) == get(walk, Walk.EVENT_CAPACITY):
                return WalkStop.OTHER if body_end - body < ROWS_LENGTH else WalkStop.FULL
            flags = load16(body + ROWS_FLAGS_AT)
            add_event(walk, at, flags, statement, statement_length)
            if flags & ROWS_ENDS_STATEMENT:
                statement, statement_length = ZERO, ZERO
        elif kind != _TABLE_MAP:
            return WalkStop.OTHER
        number += 1
        at += size


@kernel
def is_inside(at: int) -> bool:
    """Return whether an event may be part of a transaction of rows, by its type."""
    kind = load8(at + Header.TYPE)
    if _ROWS_V1 <= kind <= _ROWS_V1_END or _ROWS_V2 <= kind <= _ROWS_V2_END:
        return True
    return kind in (_QUERY, _TABLE_MAP, _ROWS_QUERY, _ANNOTATE_ROWS, _XID)


@kernel
def begins(walk: int, found: int, kind: int, at: int, end: int) -> bool:
    """Note the first event of a transaction; return False if it is not a usual GTID."""
    body = at + Header.LENGTH
    if kind not in (_GTID, _ANONYMOUS_GTID) or end - body < MIN_MYSQL_BODY:
        return False
    number = load64(body + 17)
    if (kind == _GTID) != (number > 0):
        return False
    note_first(walk, found, at, number)
    put(found, RowsTransaction.GTID, body + 1 if kind == _GTID else 0)
    put(found, RowsTransaction.IS_MARIADB, 0)
    return True


@kernel
def begins_mariadb(walk: int, found: int, at: int, end: int) -> bool:
    """Note MariaDB's first event of a transaction; return False for a single statement, and for XA."""
    body = at + Header.LENGTH
    if end - body < MIN_MARIADB_BODY or load64(body) < 0 or load8(body + 12) & _MARIADB_OTHER:
        return False
    note_first(walk, found, at, load64(body))
    put(found, RowsTransaction.THREAD, mariadb_thread(body, end))
    put(found, RowsTransaction.GTID, body + 8)
    put(found, RowsTransaction.IS_MARIADB, 1)
    return True


@kernel
def note_first(walk: int, found: int, at: int, number: int) -> None:
    """Note what the first events of all servers have."""
    put(found, RowsTransaction.START, at + get(walk, Walk.ORIGIN))
    put(found, RowsTransaction.TIMESTAMP, load32(at + Header.TIMESTAMP))
    put(found, RowsTransaction.SERVER, load32(at + Header.SERVER_ID))
    put(found, RowsTransaction.NUMBER, number)


@kernel
def add_event(walk: int, at: int, flags: int, statement: int, statement_length: int) -> None:
    """Note a rows event."""
    count = get(walk, Walk.EVENT_COUNT)
    event = get(walk, Walk.EVENTS) + _EVENT * count
    put(event, RowsEvent.OFFSET, at + get(walk, Walk.ORIGIN))
    put(event, RowsEvent.FLAGS, flags)
    put(event, RowsEvent.STATEMENT, statement)
    put(event, RowsEvent.STATEMENT_LENGTH, statement_length)
    put(walk, Walk.EVENT_COUNT, count + 1)


@kernel
def write_transactions(script: int) -> None:
    """Write transactions with the statements of their events; those of an undo, the last one first."""
    count = get(script, Script.COUNT)
    for index in range(count):
        number = count - 1 - index if get(script, Script.UNDO) else index
        transaction = get(script, Script.TRANSACTIONS) + _TRANSACTION * number
        put(script, Script.AT, write_transaction(get(script, Script.AT), script, transaction))


@kernel
def write_transaction(at: int, script: int, transaction: int) -> int:
    """Write a transaction, or its inverse with the last event first; nothing if none of its events is selected."""
    is_open = False
    note: Any = ZERO - 1
    undo = get(script, Script.UNDO)
    first, end = get(transaction, RowsTransaction.FIRST_EVENT), get(transaction, RowsTransaction.EVENTS_END)
    for index in range(end - first):
        number = end - 1 - index if undo else first + index
        event = get(script, Script.EVENTS) + _EVENT * number
        if get(event, RowsEvent.TEXT_LENGTH):
            if not is_open:
                at = write_opening(at, script, transaction, event)
                is_open = True
            if get(event, RowsEvent.NOTE) != note:
                note = get(event, RowsEvent.NOTE)
                at = write_numbered(at, script, Script.NOTES, note)
            at = change_settings(at, script, event)
            at = write_event(at, event)
    return write_ending(at, script, transaction) if is_open else at


@kernel
def write_ending(at: int, script: int, transaction: int) -> int:
    """Write what ends a transaction: COMMIT, or for an undo texts around its name."""
    if get(script, Script.UNDO) == 0:
        store64(at, _COMMIT_LINE[0])
        return at + 8
    at = write_script_text(at, script, Script.ENDING)
    if get(transaction, RowsTransaction.GTID):
        at = write_gtid(at, transaction)
    else:
        at = write_script_text(at, script, Script.FILE)
        at = write_unsigned(at, get(transaction, RowsTransaction.START))
    return write_script_text(at, script, Script.ENDING_REST)


@kernel
def write_script_text(at: int, script: int, text: int) -> int:
    """Write one of the texts of a script."""
    length: int = get(script, text + 1)
    copy_bytes(at, get(script, text), length)
    return at + length


@kernel
def write_opening(at: int, script: int, transaction: int, event: int) -> int:
    """Write what comes before the statements of a transaction; its inverse has no GTID."""
    if not get(script, Script.UNDO):
        at = change_settings(at, script, event)
        at = write_heading(at, script, transaction)
    elif get(script, Script.HAS_COMMENTS):
        at = write_comment(at, script, transaction)
    store64(at, _BEGIN_LINE[0])
    return at + 7


@kernel
def write_event(at: int, event: int) -> int:
    """Write the statements of an event."""
    length: int = get(event, RowsEvent.TEXT_LENGTH)
    copy_bytes(at, get(event, RowsEvent.TEXT), length)
    return at + length


@kernel
def change_settings(at: int, script: int, event: int) -> int:
    """Write the change of the settings that an event needs, if they are not in force."""
    current, wanted = get(script, Script.SETTINGS), get(event, RowsEvent.SETTINGS)
    if current == wanted:
        return at
    put(script, Script.SETTINGS, wanted)
    return write_numbered(at, script, Script.CHANGES, SETTINGS_COUNT * current + wanted)


@kernel
def write_numbered(at: int, script: int, texts: int, number: int) -> int:
    """Write a text of a table; nothing for the number -1."""
    if number < 0:
        return at
    entry = get(script, texts) + 16 * number
    length: int = load64(entry + 8)
    copy_bytes(at, load64(entry), length)
    return at + length


@kernel
def write_heading(at: int, script: int, transaction: int) -> int:
    """Write what comes before a transaction: a comment, and its GTID if that is kept."""
    if get(script, Script.HAS_COMMENTS):
        at = write_comment(at, script, transaction)
    if get(script, Script.KEEPS_GTIDS) and get(transaction, RowsTransaction.IS_MARIADB):
        at = write_words(at, _DOMAIN_ID)
        at = write_unsigned(at, load32(get(transaction, RowsTransaction.GTID)))
        at = write_words(at, _SERVER_ID)
        at = write_unsigned(at, get(transaction, RowsTransaction.SERVER))
        at = write_words(at, _SEQ_NO)
        at = write_unsigned(at, get(transaction, RowsTransaction.NUMBER))
        store16(at, _END_LINE[0])
        at += 2
    elif get(script, Script.KEEPS_GTIDS) and get(transaction, RowsTransaction.GTID):
        at = write_gtid(write_words(at, _GTID_NEXT), transaction)
        store32(at, _GTID_NEXT_END[0])
        at += 3
    return at


@kernel
def write_words(at: int, words: tuple[int, int, int, int, int]) -> int:
    """Write up to four words; the last number is how many bytes they have."""
    for index in range(4):
        store64(at + 8 * index, words[index])
    return at + words[4]


@kernel
def write_comment(at: int, script: int, transaction: int) -> int:
    """Write the comment before a transaction."""
    store32(at, _COMMENT[0])
    at += 4
    if get(transaction, RowsTransaction.GTID):
        at = write_gtid(at, transaction)
    else:
        store64(at, _ANONYMOUS[0])
        store8(at + 8, _ANONYMOUS[1])
        at += 9
    store16(at, _SPACES[0])
    at = write_script_text(at + 2, script, Script.FILE)
    at = write_unsigned(at, get(transaction, RowsTransaction.START))
    store16(at, _SPACES[0])
    at = write_numbered(at + 2, script, Script.MOMENTS, get(transaction, RowsTransaction.MOMENT))
    store64(at, _SERVER[0])
    store8(at + 8, _SERVER[1])
    at = write_unsigned(at + 9, get(transaction, RowsTransaction.SERVER))
    if get(transaction, RowsTransaction.THREAD) != NO_THREAD:
        store64(at, _THREAD[0])
        store8(at + 8, _THREAD[1])
        at = write_unsigned(at + 9, get(transaction, RowsTransaction.THREAD))
    store8(at, _NEWLINE)
    return at + 1


@kernel
def write_gtid(at: int, transaction: int) -> int:
    """Write the GTID of a transaction."""
    if get(transaction, RowsTransaction.IS_MARIADB):
        domain, server = load32(get(transaction, RowsTransaction.GTID)), get(transaction, RowsTransaction.SERVER)
        return at + write_mariadb_gtid(at, domain, server, get(transaction, RowsTransaction.NUMBER))
    write_uuid(at, get(transaction, RowsTransaction.GTID))
    store8(at + _UUID_TEXT, _COLON)
    return write_unsigned(at + _UUID_TEXT + 1, get(transaction, RowsTransaction.NUMBER))
