"""Events into columns: framing, checksums, transactions and tables, in one pass over the bytes of a log.

The scan handles what bulk logs are made of. Everything else (a new table, a statement that may be DDL, a compressed
payload, damage) it hands to Python, which deals with the event and lets the scan go on behind it.
"""

from __future__ import annotations

import numpy as np

from binspark.kernels.compiler import kernel
from binspark.kernels.crc32 import crc32_of_event
from binspark.kernels.identity import (
    LONGEST,
    mysql_commit_time,
    mysql_number,
    write_mariadb_gtid,
    write_mysql_gtid,
)
from binspark.kernels.layout import State, Stop, Table, TableIds, Transactions
from binspark.kernels.memory import load8, load16, load32, load64, store8, store32, store64
from binspark.kernels.roles import exact_role, statement_text
from binspark.kernels.rows import count_present, decode_image, forget_row, null_image
from binspark.kernels.values import DONE, FULL
from binspark.transactions.byte_tables import IDENTIFYING_CODES
from binspark.transactions.grammar import Role

_HEADER = 19
_CHECKSUM = 4
_RESIDUE = 0x2144DF1C
_MICROSECONDS = 1_000_000

_QUERY, _TABLE_MAP = 2, 19
_GTID, _GTID_TAGGED, _MARIADB_GTID = 33, 42, 162
_FORMAT_DESCRIPTION, _PAYLOAD, _START_ENCRYPTION = 15, 40, 164
_PARTIAL_UPDATE, _PARTIAL_ROW_DATA = 39, 172
_INSERT, _UPDATE, _DELETE = 0, 1, 2


@kernel
def scan(
    state: np.ndarray,
    tables: np.ndarray,
    columns: int,
    table_ids: np.ndarray,
    transactions: np.ndarray,
    text_offsets: int,
    text: int,
) -> int:
    """Go through events until Python is needed; return why."""
    while True:
        at = state[State.AT]
        end = state[State.END]
        if end - at < _HEADER:
            state[State.NEEDED] = _HEADER
            return Stop.MORE
        size = load32(at + 9)
        if size < _HEADER + _CHECKSUM * state[State.CHECKSUM]:
            return Stop.REFUSED
        if size > end - at:
            state[State.NEEDED] = size
            return Stop.MORE
        if state[State.STOP_POSITION] and offset_of(state, at) >= state[State.STOP_POSITION]:
            return Stop.END
        if state[State.ROW_AT] == 0 and not begin_event(state, at, size):
            return Stop.REFUSED
        kind = load8(at + 4)
        if state[State.SPLIT_END] and is_split_end(state, kind, at, size):
            return Stop.BOUNDARY
        stop = 0
        if state[State.ALL_FOR_PYTHON]:
            stop = Stop.PYTHON
        elif 23 <= kind <= 25 or 30 <= kind <= 32:
            stop = rows_event(state, tables, columns, table_ids, kind, at, size)
        elif kind == _TABLE_MAP:
            stop = known_table_map(state, table_ids, at, size)
        elif kind in IDENTIFYING_CODES:
            if state[State.ASK_TRANSACTIONS] or kind == _GTID_TAGGED:
                return Stop.PYTHON
            stop = begin_transaction(state, transactions, text_offsets, text, kind, at, size)
        elif kind == _QUERY:
            stop = 0 if is_boundary(state, at, size) else Stop.PYTHON
        elif is_for_python(kind):
            stop = Stop.PYTHON
        if stop:
            return stop
        state[State.EVENTS] += 1
        state[State.AT] = at + size


@kernel
def is_split_end(state: np.ndarray, kind: int, at: int, size: int) -> bool:
    """Tell whether a transaction may begin here that belongs to the next split. `columns.starts` has the last word."""
    if state[State.INNER] or state[State.ROW_AT]:
        return False
    offset = offset_of(state, at)
    if offset < state[State.SPLIT_END] or load32(at + 13) != (offset + size) & 0xFFFFFFFF:
        return False
    if kind in IDENTIFYING_CODES:
        return True
    return kind == _QUERY and statement_role(state, at, size) == Role.BEGINS


@kernel
def begin_event(state: np.ndarray, at: int, size: int) -> bool:
    """Check the checksum of an event before any of it is used. A format description is checked in Python."""
    if state[State.CHECKSUM] == 0 or load8(at + 4) == _FORMAT_DESCRIPTION:
        return True
    return crc32_of_event(state[State.CRC_FUNCTION], at, size) == _RESIDUE


@kernel
def offset_of(state: np.ndarray, at: int) -> int:
    """Return where in the file an event begins; an event inside a payload begins where the payload does."""
    return state[State.OUTER_OFFSET] if state[State.INNER] else state[State.FILE_OFFSET] + at - state[State.BUFFER]


@kernel
def is_selected(state: np.ndarray, at: int) -> bool:
    """Tell whether the rows of an event are asked for, by its place, time, server and transaction."""
    if state[State.SKIP_TRANSACTION] or offset_of(state, at) < state[State.START_POSITION]:
        return False
    timestamp = load32(at)
    if timestamp < state[State.START_TIME] or (state[State.STOP_TIME] and timestamp >= state[State.STOP_TIME]):
        return False
    if state[State.TRANSACTION] < 0 and not is_committed_then(state, timestamp * _MICROSECONDS):
        return False
    return state[State.SERVER] < 0 or load32(at + 5) == state[State.SERVER]


@kernel
def is_committed_then(state: np.ndarray, moment: int) -> bool:
    """Tell whether transactions of this time are asked for."""
    before = state[State.COMMITTED_BEFORE]
    return moment >= state[State.COMMITTED_FROM] and (before == 0 or moment < before)


@kernel
def is_for_python(kind: int) -> bool:
    return (
        kind in (_FORMAT_DESCRIPTION, _PAYLOAD, _START_ENCRYPTION, _PARTIAL_UPDATE)
        or 20 <= kind <= 22
        or kind == 1
        or 165 <= kind <= _PARTIAL_ROW_DATA
    )


@kernel
def body_end(state: np.ndarray, at: int, size: int) -> int:
    return at + size - _CHECKSUM * state[State.CHECKSUM]


@kernel
def is_boundary(state: np.ndarray, at: int, size: int) -> bool:
    """Return whether a statement is BEGIN or COMMIT, as most are in a log of rows."""
    role = statement_role(state, at, size)
    if role == Role.BEGINS:
        state[State.TX_ROW] = 0
    return role != Role.BY_STATEMENT


@kernel
def statement_role(state: np.ndarray, at: int, size: int) -> int:
    text, length = statement_text(at, body_end(state, at, size))
    return exact_role(text, length)


@kernel
def table_id_at(body: int) -> int:
    return load32(body) | load16(body + 4) << 32


@kernel
def find_table_id(table_ids: np.ndarray, table_id: int) -> int:
    """Return the entry of a table id, or the empty entry where it belongs. The table is never full."""
    mask = len(table_ids) - 1
    entry = ((table_id & 0xFFFFFFFF) * 0x9E37 >> 7) & mask
    while table_ids[entry, TableIds.ID] != table_id and table_ids[entry, TableIds.ID] != -1:
        entry = (entry + 1) & mask
    return entry


@kernel
def known_table_map(state: np.ndarray, table_ids: np.ndarray, at: int, size: int) -> int:
    """Tell whether a TABLE_MAP says what is known of its table already."""
    body = at + _HEADER
    length = body_end(state, at, size) - body
    if length < 8:
        return Stop.PYTHON
    entry = find_table_id(table_ids, table_id_at(body))
    if table_ids[entry, TableIds.ID] == -1 or table_ids[entry, TableIds.MAP_LENGTH] != length:
        return Stop.PYTHON
    known = table_ids[entry, TableIds.MAP]
    offset = 0
    while offset + 8 <= length:
        if load64(known + offset) != load64(body + offset):
            return Stop.PYTHON
        offset += 8
    while offset < length:
        if load8(known + offset) != load8(body + offset):
            return Stop.PYTHON
        offset += 1
    return 0


@kernel
def begin_transaction(
    state: np.ndarray, transactions: np.ndarray, text_offsets: int, text: int, kind: int, at: int, size: int
) -> int:
    """Keep who a transaction is."""
    number = state[State.TRANSACTIONS]
    used = state[State.TEXT_USED]
    if number >= state[State.TRANSACTION_CAPACITY] or used + LONGEST > state[State.TEXT_CAPACITY]:
        return Stop.TRANSACTIONS_FULL
    body = at + _HEADER
    end = body_end(state, at, size)
    if end - body < (13 if kind == _MARIADB_GTID else 25):
        return Stop.REFUSED
    server = load32(at + 5)
    moment = load32(at) * _MICROSECONDS
    if kind == _MARIADB_GTID:
        used += write_mariadb_gtid(text + used, load32(body + 8), server, load64(body))
    else:
        moment = mysql_commit_time(body, end) or moment
        gno = mysql_number(body)
        if kind == _GTID:
            if gno <= 0:
                return Stop.REFUSED
            used += write_mysql_gtid(state, text + used, body + 1, gno)
    transactions[number, Transactions.COMMIT_TIME] = moment
    transactions[number, Transactions.SERVER] = server
    store32(text_offsets + 4 * (number + 1), used)
    state[State.TEXT_USED] = used
    state[State.TRANSACTION] = number
    state[State.TRANSACTIONS] = number + 1
    state[State.TX_ROW] = 0
    state[State.SKIP_TRANSACTION] = 0 if is_committed_then(state, moment) else 1
    return 0


@kernel
def rows_event(
    state: np.ndarray, tables: np.ndarray, columns: int, table_ids: np.ndarray, kind: int, at: int, size: int
) -> int:
    """Decode the rows of an event, or step over them. Inside a payload all are counted, whoever wants them."""
    body = at + _HEADER
    end = body_end(state, at, size)
    version_2 = kind >= 30
    operation = kind - 30 if version_2 else kind - 23
    start = body + (10 if version_2 else 8)
    if start > end:
        return Stop.REFUSED
    entry = find_table_id(table_ids, table_id_at(body))
    if table_ids[entry, TableIds.ID] == -1:
        return Stop.PYTHON
    slot = table_ids[entry, TableIds.TABLE]
    selected = is_selected(state, at)
    counted = state[State.COUNT_ALL] != 0 or state[State.INNER] == 1
    if slot == -2:
        return Stop.PYTHON if selected or counted else 0
    if slot < 0:
        return Stop.PYTHON if counted else 0
    if not counted and not (selected and tables[slot, Table.WANTED]):
        return 0
    if version_2:
        extra = load16(body + 8)
        start += extra - 2
        if extra < 2 or start > end:
            return Stop.REFUSED
    count, start = packed_count(start, end)
    table = tables[slot]
    if count != table[Table.COLUMN_COUNT]:
        return Stop.REFUSED
    bitmap = (count + 7) >> 3
    first_image, second_image = start, start
    start += bitmap
    if operation == _UPDATE:
        second_image = start
        start += bitmap
    if start > end:
        return Stop.REFUSED
    if state[State.ROW_AT] == 0:
        asked = state[State.KEEP_IMAGES] and table[Table.WANTED]
        if asked and not is_known_image(table, operation, first_image, start):
            return Stop.IMAGE
        state[State.ROW_AT] = start
        state[State.ROW_NUMBER] = 0
        state[State.DECODED] += size
        table[Table.BYTES + operation] += size
    return decode_rows(state, table, slot, columns, operation, at, end, first_image, second_image, selected)


@kernel
def is_known_image(table: np.ndarray, operation: int, bitmaps: int, end: int) -> bool:
    """Tell whether an event's images have the columns that those of the last such event had."""
    known = table[Table.IMAGE_BITS + operation]
    if known == 0:
        return False
    offset = 0
    while bitmaps + offset < end and load8(known + offset) == load8(bitmaps + offset):
        offset += 1
    return bitmaps + offset == end


@kernel
def packed_count(at: int, end: int) -> tuple[int, int]:
    """Read the number of columns, a packed integer; -1 if it is none."""
    if at >= end:
        return -1, at
    first = load8(at)
    if first < 251:
        return first, at + 1
    if first == 252 and end - at >= 3:
        return load16(at + 1), at + 3
    return -1, at


@kernel
def decode_rows(
    state: np.ndarray,
    table: np.ndarray,
    slot: int,
    columns: int,
    operation: int,
    at: int,
    end: int,
    first_image: int,
    second_image: int,
    selected: bool,
) -> int:
    wanted = selected and table[Table.WANTED] != 0 and (table[Table.OPS] >> operation & 1) != 0
    before = table[Table.BEFORE] != 0
    count = table[Table.COLUMN_COUNT]
    first = table[Table.FIRST_COLUMN]
    in_first = count_present(first_image, count)
    in_second = in_first if second_image == first_image else count_present(second_image, count)
    row_at = state[State.ROW_AT]
    while row_at < end:
        row = table[Table.ROWS]
        if wanted and row >= table[Table.ROW_CAPACITY]:
            return full(state, slot, row_at)
        row_start = row_at
        outcome = DONE
        if operation == _UPDATE:
            row_at, outcome = decode_image(
                columns, first + count, first, count, row, row_at, end, first_image, in_first, wanted and before
            )
        elif wanted and before:
            null_image(columns, first + count, count, row)
        if outcome == DONE:
            row_at, outcome = decode_image(
                columns, first, first, count, row, row_at, end, second_image, in_second, wanted
            )
        if outcome != DONE or row_at == row_start:
            if wanted:
                forget_row(columns, first, count, row)
            if wanted and before:
                forget_row(columns, first + count, count, row)
            return full(state, slot, row_start) if outcome == FULL else Stop.REFUSED
        if wanted:
            keep_metadata(state, table, row, operation, at)
            if state[State.KEEP_IMAGES]:
                store32(table[Table.META_IMAGE] + 4 * row, table[Table.IMAGE + operation])
            table[Table.ROWS] = row + 1
            state[State.ROWS] += 1
        state[State.ROW_NUMBER] += 1
        state[State.TX_ROW] += 1
        state[State.PAYLOAD_ROW] += 1
    if wanted and table[Table.CHECK]:
        state[State.TABLE] = slot
        state[State.ROW_AT] = end
        return Stop.CHECK
    state[State.ROW_AT] = 0
    return 0


@kernel
def full(state: np.ndarray, slot: int, row_at: int) -> int:
    state[State.TABLE] = slot
    state[State.ROW_AT] = row_at
    return Stop.FULL


@kernel
def keep_metadata(state: np.ndarray, table: np.ndarray, row: int, operation: int, at: int) -> None:
    """Keep where a row comes from. Rows inside a payload are numbered through the whole payload."""
    number = state[State.PAYLOAD_ROW] if state[State.INNER] == 1 else state[State.ROW_NUMBER]
    store64(table[Table.META_EVENT] + 8 * row, offset_of(state, at))
    store32(table[Table.META_ROW] + 4 * row, number)
    store32(table[Table.META_TRANSACTION] + 4 * row, state[State.TRANSACTION])
    store8(table[Table.META_OP] + row, operation)
    store64(table[Table.META_SERVER] + 8 * row, load32(at + 5))
    store64(table[Table.META_TX_ROW] + 8 * row, state[State.TX_ROW])
