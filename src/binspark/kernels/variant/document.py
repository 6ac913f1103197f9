"""JSON text as VARIANT, in one pass: values are written first, and moved when the size of their header is known.

Keys get numbers in the order in which they are found. So the bytes are those that Spark's `parse_json` makes, except
that keys are ordered as UTF-8, as the encoding requires, and not as UTF-16.
"""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import (
    call_writer,
    get,
    load8,
    load32,
    load64,
    move_bytes,
    put,
    store8,
    store64,
    unsigned_width,
)
from binspark.kernels.objects.layout import MAX_DEPTH, Key, Level, Outcome, Work
from binspark.kernels.variant.encoding import (
    FALSE,
    MAX_SHORT_STRING,
    NULL,
    TRUE,
    entry_of,
    header_size,
    write_header,
    write_string,
    write_string_header,
)
from binspark.kernels.variant.strings import QUOTE, find_special
from binspark.kernels.words import ZERO

_WRONG, _NO_ROOM, _NO_WORKSPACE, _NO_DECODER = map(
    int, (Outcome.WRONG, Outcome.NO_ROOM, Outcome.NO_WORKSPACE, Outcome.NO_STRING_DECODER)
)
_OPEN_OBJECT, _CLOSE_OBJECT, _OPEN_ARRAY, _CLOSE_ARRAY = (ord(character) for character in "{}[]")
_COMMA, _COLON, _SPACE, _MINUS, _ZERO, _NINE, _E = (ord(character) for character in ",: -09e")
_TAB, _NEWLINE, _RETURN = 9, 10, 13
_NULL, _TRUE, _FALSE = (int.from_bytes(word, "little") for word in (b"null", b"true", b"fals"))
_TO_CLOSE = _CLOSE_ARRAY - _OPEN_ARRAY  # the same for objects
_LEVEL = 8 * int(Level.WIDTH)
_LONG_HEADER = 5
_KEY = 8 * int(Key.WIDTH)
_LOW_32 = 0xFFFF_FFFF


def write_document(work: int, at: int, text: int, length: int) -> int:
    """Write a document; return the address after it, or an outcome. The keys are added to the dictionary."""
    put(work, Work.END, text + length)
    at = write_values(work, at, text, text + length)
    if at == _WRONG:
        put(work, Work.SOURCE, get(work, Work.SOURCE) - text)
    return at


@kernel
def write_values(work: int, at: int, source: int, end: int) -> int:
    """Write the value that a text is."""
    limit, level, entries = get(work, Work.LIMIT), get(work, Work.LEVELS), get(work, Work.ENTRIES)
    deepest = level + _LEVEL * MAX_DEPTH
    put(level, Level.OPENER, 0)
    while True:
        source = skip_spaces(source, end)
        put(work, Work.SOURCE, source)
        if at > limit:
            return _NO_ROOM
        if source == end:
            return _WRONG
        byte = load8(source)
        goes_on = byte in (_OPEN_OBJECT, _OPEN_ARRAY)
        if goes_on:
            if level == deepest:
                return _WRONG
            level += _LEVEL
            put(level, Level.OPENER, byte)
            put(level, Level.FIRST, entries)
            put(level, Level.START, at)
            source = skip_spaces(source + 1, end)
            goes_on = source == end or load8(source) != byte + _TO_CLOSE
        else:
            at = write_scalar(work, at, byte, source, end)
            if at < 0:
                return at
            source = get(work, Work.SOURCE)
        while not goes_on:
            source = skip_spaces(source, end)
            put(work, Work.SOURCE, source)
            opener = get(level, Level.OPENER)
            if opener == 0:
                return at if source == end else _WRONG
            byte = load8(source) if source < end else 0
            if byte == opener + _TO_CLOSE:
                at = call_writer(get(work, Work.CONTAINER_CLOSER), work, at, level, entries)
                if at < 0:
                    return at
                entries = get(level, Level.FIRST)
                level -= _LEVEL
            elif byte == _COMMA:
                goes_on = True
            else:
                return _WRONG
            source += 1
        if entries == get(work, Work.ENTRIES_END):
            return _NO_WORKSPACE
        key = ZERO
        if get(level, Level.OPENER) == _OPEN_OBJECT:
            key = call_writer(get(work, Work.KEY_READER), work, skip_spaces(source, end), 0, 0)
            if key < 0:
                return key
            source = skip_spaces(get(work, Work.SOURCE), end)
            put(work, Work.SOURCE, source)
            if source == end or load8(source) != _COLON:
                return _WRONG
            source += 1
        store64(entries, entry_of(key, at - get(level, Level.START)))
        entries += 8


@kernel
def skip_spaces(source: int, end: int) -> int:
    """Return the address of the next character that is not white space."""
    while source < end:
        byte = load8(source)
        if byte > _SPACE or byte not in (_SPACE, _NEWLINE, _RETURN, _TAB):
            break
        source += 1
    return source


@kernel
def write_scalar(work: int, at: int, byte: int, source: int, end: int) -> int:
    """Write a value that is not an array or object and begins with `byte`."""
    if byte == QUOTE:
        return write_json_string(work, at, source + 1, end)
    if byte == _MINUS or _ZERO <= byte <= _NINE:
        return call_writer(get(work, Work.NUMBER_WRITER), work, at, source, end)
    left = end - source
    word = load32(source) if left >= 4 else 0
    is_false = word == _FALSE and left >= 5 and load8(source + 4) == _E
    put(work, Work.SOURCE, source + 4 + is_false)
    if word == _NULL:
        store8(at, NULL)
    elif word == _TRUE:
        store8(at, TRUE)
    elif is_false:
        store8(at, FALSE)
    else:
        put(work, Work.SOURCE, source)
        return _WRONG
    return at + 1


@kernel
def write_json_string(work: int, at: int, source: int, end: int) -> int:
    """Write a string, given the address after its first quote."""
    special, limit = find_special(source, end), get(work, Work.LIMIT)
    if special < end and load8(special) == QUOTE:
        put(work, Work.SOURCE, special + 1)
        return _NO_ROOM if at + special - source > limit else write_string(at, source, special - source)
    decoder, text = get(work, Work.STRING_DECODER), at + _LONG_HEADER
    if decoder == 0:
        return _NO_DECODER
    text_end = call_writer(decoder, work, text, limit, source)
    if text_end < 0:
        return text_end
    length = text_end - text
    at = write_string_header(at, length)
    if length <= MAX_SHORT_STRING:
        move_bytes(at, text, length)
    return at + length


def close_container(work: int, at: int, level: int, entries_end: int) -> int:
    """Write the header of an array or object before its elements, which move; return the address after them."""
    entries, start = get(level, Level.FIRST), get(level, Level.START)
    size, count, key_bytes = at - start, (entries_end - entries) >> 3, ZERO
    if get(level, Level.OPENER) == _OPEN_OBJECT:
        count, largest_key = sort_members(get(work, Work.KEYS), entries, count)
        key_bytes = unsigned_width(largest_key)
    offset_bytes = unsigned_width(size)
    header = header_size(count, key_bytes, offset_bytes)
    if at + header > get(work, Work.LIMIT):
        return _NO_ROOM
    move_bytes(start + header, start, size)
    write_header(start, entries, count, size, key_bytes, offset_bytes)
    return at + header


@kernel
def sort_members(keys: int, entries: int, count: int) -> tuple[int, int]:
    """Sort members by their keys, and keep the last of those with the same key.

    Return how many are left, and the largest number of their keys.
    """
    sort_entries(keys, entries, count)
    kept, largest = ZERO, ZERO
    for index in range(count):
        entry = load64(entries + 8 * index)
        if kept and load64(entries + 8 * (kept - 1)) >> 32 == entry >> 32:
            kept -= 1
        store64(entries + 8 * kept, entry)
        kept += 1
        largest = max(largest, entry >> 32)
    return kept, largest


@kernel
def sort_entries(keys: int, entries: int, count: int) -> None:
    """Sort the members of an object by their keys, those of the same key by their order in the text; Shell's sort."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for index in range(gap, count):
            entry = load64(entries + 8 * index)
            at = index
            while at >= gap and comes_before(keys, entry, load64(entries + 8 * (at - gap))):
                store64(entries + 8 * at, load64(entries + 8 * (at - gap)))
                at -= gap
            store64(entries + 8 * at, entry)
        gap //= 3


@kernel
def comes_before(keys: int, left: int, right: int) -> bool:
    """Return whether one member of an object comes before another, in the order of their keys' bytes."""
    left_key, right_key = keys + _KEY * (left >> 32), keys + _KEY * (right >> 32)
    left_rank, right_rank = get(left_key, Key.RANK), get(right_key, Key.RANK)
    if left_rank != right_rank:
        return left_rank < right_rank
    if left_key == right_key:
        return left & _LOW_32 < right & _LOW_32
    return text_comes_before(left_key, right_key)


@kernel
def text_comes_before(left: int, right: int) -> bool:
    """Compare two keys byte by byte."""
    left_length, right_length = get(left, Key.LENGTH), get(right, Key.LENGTH)
    left_text, right_text = get(left, Key.ADDRESS), get(right, Key.ADDRESS)
    for at in range(min(left_length, right_length)):
        difference = load8(left_text + at) - load8(right_text + at)
        if difference:
            return difference < 0
    return left_length < right_length
