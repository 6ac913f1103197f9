"""The order of key bytes: sorting them, and finding some among others.

Comparing bytes one pair at a time is slow. All keys of a batch usually share a prefix, and the eight bytes after it,
taken as a number, decide almost every comparison; Arrow compares the few keys that are still equal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_WORD = 8


class Matches(NamedTuple):
    """Where keys are among others: the index of the first key that is not smaller, and whether it is the same."""

    indices: np.ndarray
    found: np.ndarray


def sorted_order(keys: pa.Array) -> np.ndarray | None:
    """Return the indices that put keys in order, equal keys as they are; None if they are in order."""
    count = len(keys)
    if count < 2:  # noqa: PLR2004 (nothing to sort)
        return None
    ends = pc.min_max(keys)
    words = _words(keys, _common_prefix(ends["min"].as_py(), ends["max"].as_py()))
    rising = words[1:] >= words[:-1]
    if rising.all() and _is_sorted(keys, words):
        return None
    order = np.argsort(words)
    ranked = words[order]
    is_tie = np.zeros(count, bool)
    is_tie[1:] = ranked[1:] == ranked[:-1]
    is_tie[:-1] |= is_tie[1:]
    ties = np.flatnonzero(is_tie)
    if len(ties):
        tied = np.sort(order[ties])
        ascending = pc.array_sort_indices(keys.take(pa.array(tied)))
        order[ties] = tied[np.asarray(ascending)]
    return order


def is_sorted(keys: pa.Array) -> bool:
    """Return whether keys are in order; equal keys are."""
    return not pc.any(pc.less(keys[1:], keys[:-1]), min_count=0).as_py()


def is_rising(keys: pa.Array) -> bool:
    """Return whether each key is greater than the one before it."""
    return not pc.any(pc.less_equal(keys[1:], keys[:-1]), min_count=0).as_py()


def starts_of_groups(keys: pa.Array) -> np.ndarray:
    """Return the indices at which a key begins that is not the one before it."""
    if not len(keys):
        return np.zeros(0, np.int64)
    changes = np.asarray(pc.not_equal(keys[1:], keys[:-1]))
    return np.concatenate([np.zeros(1, np.int64), np.flatnonzero(changes) + 1])


def find(wanted: pa.Array, keys: pa.Array) -> Matches:
    """Return where each of the wanted keys is among keys. Both are in order."""
    if not len(wanted) or not len(keys):
        return Matches(np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool))
    smallest = min(wanted[0].as_py(), keys[0].as_py())
    largest = max(wanted[-1].as_py(), keys[-1].as_py())
    skip = _common_prefix(smallest, largest)
    wanted_words, words = _words(wanted, skip), _words(keys, skip)
    low = np.searchsorted(words, wanted_words, "left")
    high = np.searchsorted(words, wanted_words, "right")
    open_ = np.flatnonzero(low < high)
    while len(open_):
        middle = (low[open_] + high[open_]) // 2
        is_smaller = np.asarray(pc.less(keys.take(pa.array(middle)), wanted.take(pa.array(open_))))
        low[open_[is_smaller]] = middle[is_smaller] + 1
        high[open_[~is_smaller]] = middle[~is_smaller]
        open_ = open_[low[open_] < high[open_]]
    found = np.zeros(len(wanted), bool)
    inside = np.flatnonzero(low < len(keys))
    found[inside] = np.asarray(pc.equal(keys.take(pa.array(low[inside])), wanted.take(pa.array(inside))))
    return Matches(low, found)


def first_not_less(keys: pa.Array, bound: bytes | None) -> int:
    """Return the index of the first key that is not less than a bound; the number of keys for None. Keys are sorted."""
    low, high = 0, len(keys)
    while bound is not None and low < high:
        middle = (low + high) // 2
        if keys[middle].as_py() < bound:
            low = middle + 1
        else:
            high = middle
    return high


def _is_sorted(keys: pa.Array, words: np.ndarray) -> bool:
    return bool((words[1:] > words[:-1]).all()) or is_sorted(keys)


def _common_prefix(smallest: bytes, largest: bytes) -> int:
    """Return how many bytes all keys between two share."""
    shared = 0
    for one, other in zip(smallest, largest, strict=False):
        if one != other:
            break
        shared += 1
    return shared


def _words(keys: pa.Array, skip: int) -> np.ndarray:
    """Return the eight bytes after a common prefix of keys as numbers; shorter keys are filled up with zeros."""
    count = len(keys)
    offsets = np.frombuffer(keys.buffers()[1], np.int32, count + 1, 4 * keys.offset).astype(np.int64)
    data = keys.buffers()[2]
    content = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    begins, ends = offsets[:-1] + skip, offsets[1:]
    width = int(offsets[1] - offsets[0])
    if (np.diff(offsets) == width).all():
        rows = content[offsets[0] : offsets[0] + count * width].reshape(count, width)
        part = rows[:, skip : skip + _WORD]
        filled = np.zeros((count, _WORD), np.uint8)
        filled[:, : part.shape[1]] = part
        return filled.view(">u8").ravel().astype(np.uint64)
    words = np.zeros(count, np.uint64)
    for position in range(_WORD):
        at = begins + position
        byte = np.where(at < ends, content[np.minimum(at, len(content) - 1)], 0).astype(np.uint64)
        words = (words << np.uint64(8)) | byte
    return words
