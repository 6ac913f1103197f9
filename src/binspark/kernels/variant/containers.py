"""Arrays and objects of documents: what stands before their elements, which are written by then."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import get, load8, load64, move_bytes, store64, unsigned_width
from binspark.kernels.objects.layout import Key, Level, Outcome, Work
from binspark.kernels.variant.encoding import header_size, write_header
from binspark.kernels.words import ZERO

_KEY = 8 * int(Key.WIDTH)
_NO_ROOM = int(Outcome.NO_ROOM)
_OPEN_OBJECT = ord("{")
_LOW_32 = 0xFFFF_FFFF


def close_container(work: int, at: int, level: int, entries_end: int) -> int:
    """Put before the elements of an array or object what tells where they are; return the address behind them."""
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
    """Sort the members of an object by their keys, and those of the same key by their place; Shell's sort."""
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
    """Tell whether one member of an object stands before another, in the order of their keys' bytes."""
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
