"""Prints events of a MariaDB log until one comes that Python must print, the counterpart of `dump.mariadb.printer`."""

from __future__ import annotations

from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.mariadb_binlog.base64 import write_base64
from binspark.kernels.mariadb_binlog.layout import Dump, Status, Table, Word
from binspark.kernels.mariadb_binlog.values import write_rows
from binspark.kernels.memory import get, load8, load16, load32, load64, put, store8
from binspark.kernels.printing.digits import write_pair, write_unsigned
from binspark.kernels.row_counts import NO_PARTIAL_DOCUMENTS, count_rows
from binspark.kernels.rows_head import packed_count, rows_start
from binspark.kernels.text import copy_short, equal_bytes
from binspark.kernels.words import ZERO

_MORE, _PYTHON, _NO_ROOM, _END = (int(status) for status in Status)
_DONE = 0
_GTID, _ANNOTATE, _MAP, _XID = int(E.MARIADB_GTID), int(E.ANNOTATE_ROWS), int(E.TABLE_MAP), int(E.XID)
_ROWS_V1, _ROWS_V2 = int(E.WRITE_ROWS_V1), int(E.WRITE_ROWS)
_HEADER, _GTID_BODY, _XID_BODY, _MAP_ID = 19, 13, 8, 6
_ROOM = 4096
_TABLE = 8 * int(Table.WIDTH)
_HASH, _SPACE, _COLON, _NEWLINE, _MINUS, _RETURN = (ord(character) for character in "# :\n-\r")
_DIGIT, _LETTER = ord("0"), ord("a") - 10
_WITH_COMMIT_ID, _TRANSACTIONAL, _ALLOWS_PARALLEL, _WAITED, _DDL, _XA = 0x02, 0x04, 0x08, 0x10, 0x20, 0xC0
_STANDALONE, _ALTER = 0x01, 0x0E
_STATEMENT_END = 1
_DAY = 86_400


@kernel
def print_events(dump: int) -> int:
    """Print events from AT on; return a status. AT and OFFSET are then those of the next event."""
    while True:
        at, end = get(dump, Dump.AT), get(dump, Dump.END)
        if end - at < _HEADER:
            return _MORE
        size, time = load32(at + 9), load32(at)
        if size < _HEADER + get(dump, Dump.CHECKSUM):
            return _PYTHON
        if size > end - at:
            return _MORE
        is_other_zone = time < get(dump, Dump.ZONE_FROM) or time >= get(dump, Dump.ZONE_UNTIL)
        if is_other_zone or load16(at + 17) >> 15 != get(dump, Dump.SKIPS):
            return _PYTHON
        if get(dump, Dump.OUT_AT) + _ROOM > get(dump, Dump.OUT_LIMIT):
            return _NO_ROOM
        status = print_event(dump, at, size)
        if status != _DONE and status != _END:
            return status
        put(dump, Dump.AT, at + size)
        put(dump, Dump.OFFSET, get(dump, Dump.OFFSET) + size)
        if status == _END:
            return status


@kernel
def print_event(dump: int, at: int, size: int) -> int:
    """Print one event; return a status, where nothing was printed unless it is 0."""
    kind = load8(at + 4)
    if kind == _GTID:
        return print_gtid(dump, at, size)
    if kind == _XID:
        return print_xid(dump, at, size)
    if kind == _MAP:
        return print_map(dump, at, size)
    if _ROWS_V1 <= kind < _ROWS_V1 + 3 or _ROWS_V2 <= kind < _ROWS_V2 + 3:
        return print_rows(dump, at, size, kind)
    if kind == _ANNOTATE:
        return keep_annotation(dump, at)
    return _PYTHON


@kernel
def write_word(dump: int, at: int, index: int) -> int:
    """Write one of the constant texts."""
    words = get(dump, Dump.WORDS) + 16 * index
    copy_short(at, get(words, 0), get(words, 1))
    return at + get(words, 1)


@kernel
def write_position(dump: int, at: int) -> int:
    """Write the line with the position of the next event, unless positions are not wanted."""
    if not get(dump, Dump.POSITIONS):
        return at
    at = write_unsigned(write_word(dump, at, ZERO + Word.POSITION), get(dump, Dump.OFFSET))
    store8(at, _NEWLINE)
    return at + 1


@kernel
def write_heading(dump: int, at: int, event: int) -> int:
    """Write the heading of an event: time, server, next position, checksum."""
    store8(at, _HASH)
    at = write_time(at + 1, load32(event) + get(dump, Dump.ZONE))
    at = write_unsigned(write_word(dump, at, ZERO + Word.SERVER), load32(event + 5))
    at = write_unsigned(write_word(dump, at, ZERO + Word.END_POSITION), load32(event + 13))
    store8(at, _SPACE)
    at += 1
    if get(dump, Dump.CHECKSUM):
        at = write_word(dump, at, ZERO + Word.CHECKSUM)
        checksum = load32(event + load32(event + 9) - 4)
        for index in range(8):
            digit = checksum >> (28 - 4 * index) & 15
            store8(at + index, digit + (_DIGIT if digit < 10 else _LETTER))
        store8(at + 8, _SPACE)
        at += 9
    return at


@kernel
def write_time(at: int, seconds: int) -> int:
    """Write a time as YYMMDD hh:mm:ss, with a space for a zero of the hour. Years are counted from March."""
    day, clock = seconds // _DAY + 719_468, seconds % _DAY
    era = day // 146_097
    of_era = day - era * 146_097
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    from_march = (5 * of_year + 2) // 153
    month = from_march + 3 if from_march < 10 else from_march - 9
    at = write_pair(at, (year + (month <= 2)) % 100)
    at = write_pair(write_pair(at, month), of_year - (153 * from_march + 2) // 5 + 1)
    store8(at, _SPACE)
    hour = clock // 3600
    write_pair(at + 1, hour)
    if hour < 10:
        store8(at + 1, _SPACE)
    store8(at + 3, _COLON)
    write_pair(at + 4, clock // 60 % 60)
    store8(at + 6, _COLON)
    return write_pair(at + 7, clock % 60)


@kernel
def print_gtid(dump: int, event: int, size: int) -> int:
    """Print a GTID whose domain, server and flags are those that were printed last."""
    body, end = event + _HEADER, event + size - get(dump, Dump.CHECKSUM)
    if end - body < _GTID_BODY:
        return _PYTHON
    sequence, domain, flags, server = load64(body), load32(body + 8), load8(body + 12), load32(event + 5)
    extra = body + _GTID_BODY + (8 if flags & _WITH_COMMIT_ID else 0)
    if flags & _XA or sequence < 0 or extra > end or (extra < end and load8(extra) & _ALTER):
        return _PYTHON
    is_parallel = 0 if flags & _ALLOWS_PARALLEL else 1
    if is_parallel != get(dump, Dump.PARALLEL) or domain != get(dump, Dump.DOMAIN) or server != get(dump, Dump.SERVER):
        return _PYTHON
    if get(dump, Dump.SPILLED):
        return _PYTHON
    if get(dump, Dump.CHECKS_ORDER):
        if sequence >= get(dump, Dump.START_SEQUENCE) and sequence <= get(dump, Dump.LAST_SEQUENCE):
            return _PYTHON
        put(dump, Dump.LAST_SEQUENCE, sequence)
    put(dump, Dump.SEEN_GTID, 1)
    at = write_heading(dump, write_position(dump, get(dump, Dump.OUT_AT)), event)
    at = write_unsigned(write_word(dump, at, ZERO + Word.GTID), domain)
    store8(at, _MINUS)
    at = write_unsigned(at + 1, server)
    store8(at, _MINUS)
    at = write_gtid_flags(dump, write_unsigned(at + 1, sequence), flags, body + _GTID_BODY)
    at = write_unsigned(write_word(dump, at, ZERO + Word.SEQUENCE), sequence)
    at = write_word(dump, at, ZERO + Word.SEQUENCE_END)
    if not flags & _STANDALONE:
        at = write_word(dump, at, ZERO + Word.START)
    end_alone(dump, at)
    return _DONE


@kernel
def write_gtid_flags(dump: int, at: int, flags: int, commit_id: int) -> int:
    """Write the flags of a GTID to the end of its line."""
    if flags & _WITH_COMMIT_ID:
        at = write_unsigned(write_word(dump, at, ZERO + Word.COMMIT_ID), load64(commit_id))
    if flags & _DDL:
        at = write_word(dump, at, ZERO + Word.DDL)
    if flags & _TRANSACTIONAL:
        at = write_word(dump, at, ZERO + Word.TRANSACTIONAL)
    if flags & _WAITED:
        at = write_word(dump, at, ZERO + Word.WAITED)
    store8(at, _NEWLINE)
    return at + 1


@kernel
def end_alone(dump: int, at: int) -> None:
    """End an event that is not part of a statement's rows: headings that wait are dropped."""
    put(dump, Dump.OUT_AT, at)
    put(dump, Dump.HEAD_AT, get(dump, Dump.HEAD))


@kernel
def print_xid(dump: int, event: int, size: int) -> int:
    """Print the commit of a transaction."""
    if size - _HEADER - get(dump, Dump.CHECKSUM) != _XID_BODY or get(dump, Dump.SPILLED):
        return _PYTHON
    at = write_heading(dump, write_position(dump, get(dump, Dump.OUT_AT)), event)
    at = write_unsigned(write_word(dump, at, ZERO + Word.XID), load64(event + _HEADER))
    end_alone(dump, write_word(dump, at, ZERO + Word.COMMIT))
    return _DONE


@kernel
def keep_annotation(dump: int, event: int) -> int:
    """Remember an annotation: it is printed with the next table map."""
    put(dump, Dump.OUT_AT, write_position(dump, get(dump, Dump.OUT_AT)))
    if not get(dump, Dump.SKIPS_ANNOTATIONS):
        put(dump, Dump.ANNOTATION, event)
        put(dump, Dump.ANNOTATION_OFFSET, get(dump, Dump.OFFSET))
        put(dump, Dump.PENDING, 0)
    return _DONE


@kernel
def find_table(dump: int, table_id: int) -> int:
    """Return the table of an id, 0 if it is not known. The last one that was found is tried first."""
    tables, last = get(dump, Dump.TABLES), get(dump, Dump.LAST_TABLE)
    if last < get(dump, Dump.TABLE_COUNT) and get(tables + _TABLE * last, Table.ID) == table_id:
        return tables + _TABLE * last
    for index in range(get(dump, Dump.TABLE_COUNT)):
        if get(tables + _TABLE * index, Table.ID) == table_id:
            put(dump, Dump.LAST_TABLE, index)
            return tables + _TABLE * index
    return 0


@kernel
def table_id_of(event: int) -> int:
    """Return the table id of a table map or a rows event."""
    return load32(event + _HEADER) | load16(event + _HEADER + 4) << 32


@kernel
def print_map(dump: int, event: int, size: int) -> int:
    """Print a table map that was printed before, with the annotation before it."""
    length = size - _HEADER - get(dump, Dump.CHECKSUM)
    if length < _MAP_ID or get(dump, Dump.PENDING):
        return _PYTHON
    table = find_table(dump, table_id_of(event))
    if table == 0 or get(table, Table.MAP_LENGTH) != length:
        return _PYTHON
    if not equal_bytes(event + _HEADER, get(table, Table.MAP), length):
        return _PYTHON
    annotation, waiting = get(dump, Dump.ANNOTATION), get(dump, Dump.HEAD_AT) - get(dump, Dump.HEAD)
    room = _ROOM + waiting + get(table, Table.TEXT_LENGTH)
    if annotation:
        room += 5 * load32(annotation + 9)
    if get(dump, Dump.OUT_AT) + room > get(dump, Dump.OUT_LIMIT):
        return _NO_ROOM
    if get(dump, Dump.BODY_AT) + 2 * size + _ROOM > get(dump, Dump.BODY_LIMIT):
        return _NO_ROOM
    if get(dump, Dump.SPILLED):
        return _PYTHON
    at = write_position(dump, get(dump, Dump.OUT_AT))
    copy_short(at, get(dump, Dump.HEAD), waiting)
    put(dump, Dump.HEAD_AT, get(dump, Dump.HEAD))
    at += waiting
    if annotation:
        at = write_annotation(dump, at, annotation)
        put(dump, Dump.ANNOTATION, 0)
    at = write_heading(dump, at, event)
    copy_short(at, get(table, Table.TEXT), get(table, Table.TEXT_LENGTH))
    put(dump, Dump.OUT_AT, at + get(table, Table.TEXT_LENGTH))
    if get(dump, Dump.ENCODES):
        put(dump, Dump.BODY_AT, write_base64(get(dump, Dump.BODY_AT), event, size))
    return _DONE


@kernel
def write_annotation(dump: int, at: int, event: int) -> int:
    """Write the statement that caused rows, line by line; empty lines are left out."""
    at = write_word(dump, write_heading(dump, at, event), ZERO + Word.ANNOTATION)
    start, end = event + _HEADER, event + load32(event + 9) - get(dump, Dump.CHECKSUM)
    while start < end:
        stop = start
        while stop < end and load8(stop) != _NEWLINE and load8(stop) != _RETURN:
            stop += 1
        if stop > start:
            at = write_word(dump, at, ZERO + Word.LINE)
            copy_short(at, start, stop - start)
            at += stop - start
            store8(at, _NEWLINE)
            at += 1
        start = stop + 1
    return at


@kernel
def print_rows(dump: int, event: int, size: int, kind: int) -> int:
    """Print a rows event; with the last one of a statement, all of the statement."""
    end = event + size - get(dump, Dump.CHECKSUM)
    rows = rows_start(kind, event, end)
    if rows < 0 or rows == end or get(dump, Dump.PENDING):
        return _PYTHON
    table = find_table(dump, table_id_of(event))
    if table == 0:
        return _PYTHON
    operation = kind - (_ROWS_V2 if kind >= _ROWS_V2 else _ROWS_V1)
    bitmap = (get(table, Table.COUNT) + 7) >> 3
    masks = rows - bitmap * (2 if operation == 1 else 1)
    if not has_count(event, kind, end, get(table, Table.COUNT)):
        return _PYTHON
    if get(dump, Dump.BODY_AT) + 2 * size + _ROOM > get(dump, Dump.BODY_LIMIT):
        return _NO_ROOM
    if get(dump, Dump.HEAD_AT) + _ROOM > get(dump, Dump.HEAD_LIMIT):
        return _NO_ROOM
    is_last = load16(event + _HEADER + 6) & _STATEMENT_END
    if is_last and get(dump, Dump.SPILLED) == 0 and waiting_bytes(dump, size) > get(dump, Dump.OUT_LIMIT):
        return _NO_ROOM
    counted = count_or_write(dump, table, operation, masks, rows, end)
    if counted < 0:
        return -counted
    count = counted + (get(dump, Dump.ROW_COUNT) if get(dump, Dump.IN_ROWS) else 0)
    put(dump, Dump.ROW_COUNT, count)
    put(dump, Dump.IN_ROWS, 0 if is_last else 1)
    put(dump, Dump.OUT_AT, write_position(dump, get(dump, Dump.OUT_AT)))
    at = write_heading(dump, get(dump, Dump.HEAD_AT), event)
    at = write_unsigned(write_word(dump, at, Word.WRITE_ROWS + operation), get(table, Table.ID))
    if is_last:
        at = write_word(dump, at, ZERO + Word.STATEMENT_END)
    store8(at, _NEWLINE)
    put(dump, Dump.HEAD_AT, at + 1)
    if get(dump, Dump.ENCODES):
        put(dump, Dump.BODY_AT, write_base64(get(dump, Dump.BODY_AT), event, size))
    if not is_last:
        return _DONE
    put(dump, Dump.ANNOTATION, 0)
    if get(dump, Dump.SPILLED):
        return _END
    end_statement(dump)
    return _DONE


@kernel
def has_count(event: int, kind: int, end: int, count: int) -> bool:
    """Return whether a rows event has this many columns."""
    start = event + _HEADER + 8
    if kind >= _ROWS_V2:
        start += load16(start)
    found, _ = packed_count(start, end)
    return found == count


@kernel
def waiting_bytes(dump: int, size: int) -> int:
    """Return up to where the output would be written if the statement ended with an event of this size."""
    text = get(dump, Dump.HEAD_AT) - get(dump, Dump.HEAD) + get(dump, Dump.BODY_AT) - get(dump, Dump.BODY)
    return get(dump, Dump.OUT_AT) + text + get(dump, Dump.TAIL_LIMIT) - get(dump, Dump.TAIL) + 2 * size + _ROOM


@kernel
def count_or_write(dump: int, table: int, operation: int, masks: int, rows: int, end: int) -> int:
    """Count the rows of an event, or write them; return how many, or a negative status."""
    if get(dump, Dump.VERBOSE):
        if get(table, Table.COLUMNS) == 0:
            return -_PYTHON
        return write_rows(dump, table, operation, masks, rows, end)
    if not get(dump, Dump.COUNTS):
        return 0
    if get(table, Table.SIZES) == 0:
        return -_PYTHON
    count = get(table, Table.COUNT)
    second = masks + ((count + 7) >> 3) if operation == 1 else masks
    found = count_rows(get(table, Table.SIZES), count, masks, second, rows, end, ZERO + NO_PARTIAL_DOCUMENTS)
    return found if found >= 0 else -_PYTHON


@kernel
def end_statement(dump: int) -> None:
    """Write the headings, the events as base64, the rows, and how many there were."""
    at = take(dump, get(dump, Dump.OUT_AT), ZERO + Dump.HEAD)
    if get(dump, Dump.ENCODES):
        at = write_word(dump, at, ZERO + Word.BINLOG)
        at = write_word(dump, take(dump, at, ZERO + Dump.BODY), ZERO + Word.BINLOG_END)
    at = take(dump, at, ZERO + Dump.TAIL)
    if get(dump, Dump.COUNTS):
        at = write_unsigned(write_word(dump, at, ZERO + Word.ROW_COUNT), get(dump, Dump.ROW_COUNT))
        store8(at, _NEWLINE)
        at += 1
    put(dump, Dump.ROW_COUNT, 0)
    put(dump, Dump.OUT_AT, at)


@kernel
def take(dump: int, at: int, region: int) -> int:
    """Move the text of a region to the output."""
    start = get(dump, region)
    length = get(dump, region + 1) - start
    copy_short(at, start, length)
    put(dump, region + 1, start)
    return at + length
