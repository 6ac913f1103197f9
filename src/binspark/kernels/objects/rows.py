"""Rows of Arrow arrays as JSON text, one object a row, as `values.as_json` writes them."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import call_writer, get, put, store8, store16, store32
from binspark.kernels.objects.input import has_object, has_value, image_of, is_present
from binspark.kernels.objects.layout import Field, Outcome, Rows
from binspark.kernels.text import copy_short

_FIELD = 8 * int(Field.WIDTH)
_DONE, _NO_ROOM = int(Outcome.DONE), int(Outcome.NO_ROOM)
_OPEN, _CLOSE = ord("{"), ord("}")
_NULL, _COMMA = (int.from_bytes(text, "little") for text in (b"null", b", "))


@kernel
def write_json_rows(rows: int) -> int:
    """Write an object for each row from the next one on; return why it stopped."""
    for row in range(get(rows, Rows.ROW), get(rows, Rows.ROWS)):
        at = get(rows, Rows.AT)
        if has_object(rows, row):
            at = write_object(rows, row, at)
            if at < 0:
                return at
        put(rows, Rows.AT, at)
        put(rows, Rows.ROW, row + 1)
        store32(get(rows, Rows.OFFSETS) + 4 * (row + 1), at - get(rows, Rows.START))
    return _DONE


@kernel
def write_object(rows: int, row: int, at: int) -> int:
    """Write a row as an object, its columns in their order."""
    limit, field, image = get(rows, Rows.LIMIT), get(rows, Rows.FIELDS), image_of(rows, row)
    if at > limit:
        return _NO_ROOM
    store8(at, _OPEN)
    at += 1
    is_first = True
    for index in range(get(rows, Rows.FIELD_COUNT)):
        if is_present(image, index):
            name_length = get(field, Field.NAME_LENGTH)
            if at + name_length > limit:
                return _NO_ROOM
            if not is_first:
                store16(at, _COMMA)
                at += 2
            is_first = False
            copy_short(at, get(field, Field.NAME), name_length)
            at += name_length
            if has_value(field, row):
                at = call_writer(get(field, Field.WRITER), field, row, at, limit)
                if at < 0:
                    return at
            else:
                store32(at, _NULL)
                at += 4
        field += _FIELD
    store8(at, _CLOSE)
    return at + 1
