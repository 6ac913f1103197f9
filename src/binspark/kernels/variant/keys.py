"""The dictionary of keys that comes with every VARIANT: read, found by hashing, written down."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import (
    call_writer,
    get,
    load8,
    load64,
    load_big_endian,
    put,
    store8,
    store32,
    store64,
    store_unsigned,
    unsigned_width,
)
from binspark.kernels.objects.layout import Key, Outcome, Rows, Work
from binspark.kernels.text import copy_short, equal_bytes, few_bytes
from binspark.kernels.variant.strings import QUOTE, find_special
from binspark.kernels.words import ZERO, high_product, low_product

_DONE, _WRONG, _NO_ROOM, _NO_META_ROOM = map(int, (Outcome.DONE, Outcome.WRONG, Outcome.NO_ROOM, Outcome.NO_META_ROOM))
_NO_WORKSPACE, _NO_DECODER, _ASK_PYTHON = map(
    int, (Outcome.NO_WORKSPACE, Outcome.NO_STRING_DECODER, Outcome.ASK_PYTHON)
)
_KEY = 8 * int(Key.WIDTH)
_VERSION = 1
_SIGN = -(1 << 63)
_LOW_32 = 0xFFFF_FFFF


def read_key(work: int, source: int, _unused: int, _unused_too: int) -> int:
    """Return the number of a key in the text of a document."""
    end = get(work, Work.END)
    put(work, Work.SOURCE, source)
    if source == end or load8(source) != QUOTE:
        return _WRONG
    source += 1
    special = find_special(source, end)
    if special < end and load8(special) == QUOTE:
        put(work, Work.SOURCE, special + 1)
        return key_number(work, source, special - source)
    decoder, text = get(work, Work.STRING_DECODER), get(work, Work.TEXT_AT)
    if decoder == 0:
        return _NO_DECODER
    text_end = call_writer(decoder, work, text, get(work, Work.TEXT_LIMIT), source)
    if text_end < 0:
        return _NO_WORKSPACE if text_end == _NO_ROOM else text_end
    put(work, Work.TEXT_AT, text_end)
    return key_number(work, text, text_end - text)


@kernel
def add_lasting_keys(work: int, lengths: int, texts: int, count: int) -> None:
    """Put keys into an empty workspace that every dictionary begins with. There is room for them."""
    put(work, Work.GENERATION, 0)
    put(work, Work.KEY_COUNT, 0)
    for index in range(count):
        length = get(lengths, index)
        key_number(work, texts, length)
        texts += length
    put(work, Work.LASTING_KEYS, get(work, Work.KEY_COUNT))


@kernel
def begin_dictionary(work: int) -> None:
    """Forget all keys but the lasting ones, and the numbers for Python."""
    put(work, Work.GENERATION, get(work, Work.GENERATION) + 1)
    put(work, Work.KEY_COUNT, get(work, Work.LASTING_KEYS))
    put(work, Work.TEXT_AT, get(work, Work.TEXT_START))
    put(work, Work.DOUBLE_COUNT, 0)


@kernel
def key_number(work: int, text: int, length: int) -> int:
    """Return the number of a key, which is a new one if it is not in the dictionary; NO_WORKSPACE if it is full."""
    slots, mask = get(work, Work.SLOTS), get(work, Work.SLOT_MASK)
    generation, keys = get(work, Work.GENERATION), get(work, Work.KEYS)
    slot = hash_of(text, length, get(work, Work.SEED)) & mask
    while True:
        entry = load64(slots + 8 * slot)
        if entry == 0 or (entry >> 32 != generation and entry >> 32 != 0):
            break
        number = (entry & _LOW_32) - 1
        key = keys + _KEY * number
        if get(key, Key.LENGTH) == length and equal_bytes(get(key, Key.ADDRESS), text, length):
            return number
        slot = (slot + 1) & mask
    number = get(work, Work.KEY_COUNT)
    if number == get(work, Work.KEY_CAPACITY):
        return _NO_WORKSPACE
    store64(slots + 8 * slot, generation << 32 | number + 1)
    put(work, Work.KEY_COUNT, number + 1)
    set_key(keys + _KEY * number, text, length)
    return number


@kernel
def set_key(key: int, text: int, length: int) -> None:
    """Remember a key, and its first eight bytes, with zeros where it is shorter."""
    put(key, Key.ADDRESS, text)
    put(key, Key.LENGTH, length)
    if length >= 8:
        put(key, Key.RANK, load64(text))
    else:
        put(key, Key.RANK, few_bytes(text, length) & (1 << 8 * length) - 1 if length else ZERO)
    put(key, Key.RANK, load_big_endian(key + 8 * Key.RANK, 8) ^ _SIGN)


@kernel
def hash_of(text: int, length: int, seed: int) -> int:
    """Return a hash of a key. Whoever does not know the seed cannot find many keys with the same one."""
    mixed = seed ^ length
    at = 0
    while length - at >= 8:
        mixed ^= load64(text + at)
        mixed = low_product(mixed, seed) ^ high_product(mixed, seed)
        at += 8
    if at < length:
        mixed ^= few_bytes(text + at, length - at)
    return low_product(mixed, seed) ^ high_product(mixed, seed)


def write_dictionary(rows: int, row: int, value_size: int, work: int) -> int:
    """Write the dictionary of a row whose documents are written, unless Python must help with them first.

    A row that has no value has no dictionary.
    """
    if get(work, Work.DOUBLE_COUNT) > get(work, Work.DOUBLE_ANSWERS):
        return _ASK_PYTHON
    at = get(rows, Rows.META_AT)
    if value_size:
        size, width = dictionary_size(work)
        if at + size > get(rows, Rows.META_LIMIT):
            return _NO_META_ROOM
        write_keys(work, at, width)
        at += size
    put(rows, Rows.META_AT, at)
    store32(get(rows, Rows.META_OFFSETS) + 4 * (row + 1), at - get(rows, Rows.META_START))
    put(work, Work.DOUBLE_ANSWERS, 0)
    begin_dictionary(work)
    return _DONE


@kernel
def dictionary_size(work: int) -> tuple[int, int]:
    """Return how many bytes the dictionary takes, and how many each number in it."""
    count, keys = get(work, Work.KEY_COUNT), get(work, Work.KEYS)
    total = ZERO
    for number in range(count):
        total += get(keys + _KEY * number, Key.LENGTH)
    width = unsigned_width(max(total, count))
    return 1 + width * (count + 2) + total, width


@kernel
def write_keys(work: int, at: int, width: int) -> None:
    """Write the dictionary: version and width, number of keys, offsets of the keys, their text."""
    count, keys = get(work, Work.KEY_COUNT), get(work, Work.KEYS)
    store8(at, _VERSION | (width - 1) << 6)
    store_unsigned(at + 1, count, width)
    offsets = at + 1 + width
    text = offsets + width * (count + 1)
    offset = ZERO
    for number in range(count):
        key = keys + _KEY * number
        length = get(key, Key.LENGTH)
        store_unsigned(offsets + width * number, offset, width)
        copy_short(text + offset, get(key, Key.ADDRESS), length)
        offset += length
    store_unsigned(offsets + width * count, offset, width)
