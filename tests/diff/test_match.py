"""Matching transactions: the same pairs as a plain model finds, in parts of any size."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.diff import match
from binspark.diff.match import UNMATCHED, match_records, moved_transactions
from binspark.diff.records import RECORD, SKIPPED, RecordFile

Sample = list[tuple[int, int, int]]
samples = st.lists(st.tuples(st.sampled_from([0, 1, 2, SKIPPED]), st.integers(0, 4), st.integers(0, 3)), max_size=30)


def stored(sample: Sample) -> RecordFile:
    records = np.zeros(len(sample), dtype=RECORD)
    for number, (source, gtid, digest) in enumerate(sample):
        records[number]["source"], records[number]["number"], records[number]["first"] = source, gtid, digest
    file = RecordFile()
    file.append(records)
    return file


def model(a: Sample, b: Sample, *, by_gtid: bool) -> list[int | None]:
    """Return for each transaction of A which one of B it is; None for those that are skipped."""
    waiting: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for number, (source, gtid, digest) in enumerate(b):
        if source != SKIPPED:
            waiting[(source, gtid) if by_gtid and source else (0, -1, digest)].append(number)
    found: list[int | None] = []
    for source, gtid, digest in a:
        there = waiting[(source, gtid) if by_gtid and source else (0, -1, digest)]
        found.append(None if source == SKIPPED else there.pop(0) if there else UNMATCHED)
    return found


@given(a=samples, b=samples, by_gtid=st.booleans(), part=st.integers(1, 50))
def test_matches_are_those_of_the_model(a: Sample, b: Sample, by_gtid: bool, part: int) -> None:
    with pytest.MonkeyPatch.context() as patch, stored(a) as in_a, stored(b) as in_b:
        patch.setattr(match, "_PART", part)
        found = match_records(in_a, in_b, by_gtid=by_gtid)
    expected = model(a, b, by_gtid=by_gtid)
    assert [None if a[n][0] == SKIPPED else int(p) for n, p in enumerate(found.partner)] == expected
    for number, partner in enumerate(expected):
        if partner is not None and partner != UNMATCHED:
            assert found.in_a[partner] == number
            assert bool(found.different[number]) == (a[number][2] != b[partner][2])
    assert sum(found.in_a >= 0) == sum(partner not in (None, UNMATCHED) for partner in expected)


@given(st.permutations(list(range(12))))
def test_without_those_that_moved_the_order_is_the_same(partners: list[int]) -> None:
    moved = set(moved_transactions(np.array(partners, dtype=np.int64)).tolist())
    left = [partner for number, partner in enumerate(partners) if number not in moved]
    assert left == sorted(left)
    assert bool(moved) == (partners != sorted(partners))


@pytest.mark.parametrize(
    ("partners", "moved"),
    [
        ([], []),
        ([5], []),
        ([0, UNMATCHED, 1, 2], []),
        ([4, 0, 1, 2, 3], [0]),
        ([1, 2, 3, 4, 0], [4]),
        ([1, 0, 2, 4, 5, 3], [0, 5]),
    ],
)
def test_as_few_as_possible_have_moved(partners: list[int], moved: list[int]) -> None:
    found = moved_transactions(np.array(partners, dtype=np.int64)).tolist()
    assert len(found) == len(moved)
