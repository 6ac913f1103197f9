"""Rows of Arrow arrays as VARIANT: an object for each row, or the one document that it holds."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import call_writer, get, move_bytes, put, store8, store32, store64, unsigned_width
from binspark.kernels.objects.input import has_object, has_value, image_of, is_present
from binspark.kernels.objects.layout import Field, Outcome, Rows, Work
from binspark.kernels.variant.encoding import NULL, entry_of, header_size, write_header
from binspark.kernels.words import ZERO

_FIELD = 8 * int(Field.WIDTH)
_DONE, _NO_ROOM = int(Outcome.DONE), int(Outcome.NO_ROOM)
_ONE = ZERO + 1


@kernel
def write_variant_rows(rows: int) -> int:
    """Write an object for each row from the next one on; return why it stopped."""
    for row in range(get(rows, Rows.ROW), get(rows, Rows.ROWS)):
        at = get(rows, Rows.AT)
        if has_object(rows, row):
            at = write_object(rows, row, at)
            if at < 0:
                return at
        outcome = end_row(rows, row, at)
        if outcome < 0:
            return outcome
    return _DONE


@kernel
def write_documents(rows: int) -> int:
    """Write the document of each row from the next one on; return why it stopped."""
    field, limit = get(rows, Rows.FIELDS), get(rows, Rows.LIMIT)
    for row in range(get(rows, Rows.ROW), get(rows, Rows.ROWS)):
        at = get(rows, Rows.AT)
        if has_value(field, row):
            at = call_writer(get(field, Field.WRITER), field, row, at, limit)
            if at < 0:
                return at
        outcome = end_row(rows, row, at)
        if outcome < 0:
            return outcome
    return _DONE


@kernel
def end_row(rows: int, row: int, at: int) -> int:
    """Note where a row ends, and let its dictionary be written if it has one of its own."""
    work = get(rows, Rows.WORKSPACE)
    if work:
        outcome = call_writer(get(work, Work.DICTIONARY_WRITER), rows, row, at - get(rows, Rows.AT), work)
        if outcome < 0:
            return outcome
    store32(get(rows, Rows.OFFSETS) + 4 * (row + 1), at - get(rows, Rows.START))
    put(rows, Rows.AT, at)
    put(rows, Rows.ROW, row + 1)
    return _DONE


@kernel
def write_object(rows: int, row: int, start: int) -> int:
    """Write a row as an object. Its columns come in the order of their names, so their numbers are those of the keys.

    The values are written behind as much room as offsets of one byte take; if they need more, the values move.
    """
    limit = get(rows, Rows.LIMIT)
    if start > limit:
        return _NO_ROOM
    field, entries, key_bytes = get(rows, Rows.FIELDS), get(rows, Rows.ENTRIES), get(rows, Rows.KEY_BYTES)
    image = image_of(rows, row)
    values = start + header_size(get(rows, Rows.FIELD_COUNT), key_bytes, _ONE)
    at, count = values, ZERO
    for index in range(get(rows, Rows.FIELD_COUNT)):
        if is_present(image, index):
            store64(entries + 8 * count, entry_of(index, at - values))
            count += 1
            if has_value(field, row):
                at = call_writer(get(field, Field.WRITER), field, row, at, limit)
                if at < 0:
                    return at
            else:
                store8(at, NULL)
                at += 1
        field += _FIELD
    size = at - values
    offset_bytes = unsigned_width(size)
    header = header_size(count, key_bytes, offset_bytes)
    if start + header != values:
        move_bytes(start + header, values, size)
    write_header(start, entries, count, size, key_bytes, offset_bytes)
    return start + header + size
