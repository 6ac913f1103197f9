"""Which transaction of one side is which of the other: by GTID, or by contents where there is none."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from binspark.diff.records import ANONYMOUS, SKIPPED, RecordFile, Records

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

UNMATCHED = -1
IGNORED = -2
_PART = 1 << 21
"""About how many records are sorted at a time."""


class Matches:
    """The result: for each transaction of side A which one of side B it is, and for B which are of A.

    partner    the number of the transaction in B, UNMATCHED, or IGNORED for one that is not compared
    different  whether their contents differ
    in_a       the same as `partner`, for the transactions of B
    """

    def __init__(self, count_a: int, count_b: int) -> None:
        self.partner: Numbers = np.full(count_a, UNMATCHED, dtype=np.int64)
        self.different: Flags = np.zeros(count_a, dtype=np.bool_)
        self.in_a: Numbers = np.full(count_b, UNMATCHED, dtype=np.int64)


def match_records(a: RecordFile, b: RecordFile, *, by_gtid: bool) -> Matches:
    """Match all transactions.

    The second transaction with the same GTID, or with the same contents, matches the second one of the other side.
    """
    found = Matches(a.count, b.count)
    parts = -(-(a.count + b.count) // _PART)
    for part in range(parts):
        _match_part(
            _Keys(a, found.partner, part, parts, by_gtid=by_gtid),
            _Keys(b, found.in_a, part, parts, by_gtid=by_gtid),
            found,
        )
    return found


class _Keys:
    """Those records of a side whose keys belong to a part: a record is in one part, with all that have its key."""

    def __init__(self, records: RecordFile, matched: Numbers, part: int, parts: int, *, by_gtid: bool) -> None:
        numbers, chosen = [np.empty(0, dtype=np.int64)], []
        keys = [np.empty((0, 3), dtype=np.uint64)]
        for start, block in records.blocks():
            skipped = block["source"] == SKIPPED
            if part == 0:
                matched[start : start + len(block)][skipped] = IGNORED
            found = _keys_of(block, by_gtid=by_gtid)
            own = np.flatnonzero(~skipped & ((found[:, 0] * np.uint64(31) + found[:, 1]) % np.uint64(parts) == part))
            numbers.append(own + start)
            keys.append(found[own])
            chosen.append(np.stack([block["first"][own], block["second"][own]], axis=1))
        self.numbers = np.concatenate(numbers)
        self.keys = np.concatenate(keys)
        self.digests = np.concatenate([np.empty((0, 2), dtype=np.uint64), *chosen])


def _keys_of(block: Records, *, by_gtid: bool) -> npt.NDArray[np.uint64]:
    has_gtid = (block["source"] != ANONYMOUS) & by_gtid
    keys = np.zeros((len(block), 3), dtype=np.uint64)
    keys[:, 0] = np.where(has_gtid, block["source"], 0)
    keys[:, 1] = np.where(has_gtid, block["number"], block["first"])
    keys[:, 2] = np.where(has_gtid, 0, block["second"])
    return keys


def _match_part(a: _Keys, b: _Keys, found: Matches) -> None:
    keys = np.concatenate([a.keys, b.keys])
    if not len(a.keys) or not len(b.keys):
        return
    side = np.repeat(np.array([0, 1]), [len(a.keys), len(b.keys)])
    at = np.concatenate([np.arange(len(a.keys)), np.arange(len(b.keys))])
    order = np.lexsort((at, side, keys[:, 2], keys[:, 1], keys[:, 0]))
    sorted_keys, sorted_side = keys[order], side[order]
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = (sorted_keys[1:] != sorted_keys[:-1]).any(axis=1) | (sorted_side[1:] != sorted_side[:-1])
    starts = np.flatnonzero(begins)
    occurrence = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    again = np.lexsort((sorted_side, occurrence, sorted_keys[:, 2], sorted_keys[:, 1], sorted_keys[:, 0]))
    keys, side, at, occurrence = sorted_keys[again], sorted_side[again], at[order][again], occurrence[again]
    same = (keys[1:] == keys[:-1]).all(axis=1) & (occurrence[1:] == occurrence[:-1]) & (side[1:] > side[:-1])
    first, second = at[:-1][same], at[1:][same]
    in_a, in_b = a.numbers[first], b.numbers[second]
    found.partner[in_a] = in_b
    found.in_a[in_b] = in_a
    found.different[in_a] = (a.digests[first] != b.digests[second]).any(axis=1)


def moved_transactions(partner: Numbers) -> Numbers:
    """Return the transactions of side A that are at another point of the order in side B, as few as explain it.

    Where transactions are in another order, either those that come late in A are moved, or those that come early: the
    fewer of them. Those that are on one side only do not count.
    """
    numbers = np.flatnonzero(partner >= 0)
    there = partner[numbers]
    if (there[1:] > there[:-1]).all():
        return np.empty(0, dtype=np.int64)
    late = there < np.maximum.accumulate(there)
    early = there > np.minimum.accumulate(there[::-1])[::-1]
    disordered = late | early
    borders = np.flatnonzero(np.diff(disordered.astype(np.int8), prepend=0, append=0))
    blocks = np.searchsorted(borders[::2], np.flatnonzero(disordered), "right") - 1
    lates = np.bincount(blocks, late[disordered], minlength=len(borders) // 2)
    earlies = np.bincount(blocks, early[disordered], minlength=len(borders) // 2)
    by_late = (lates <= earlies)[blocks]
    moved = np.where(by_late, late[disordered], early[disordered])
    result: Numbers = numbers[np.flatnonzero(disordered)[moved]]
    return result
