"""Checksums of rows, a bucket at a time: the order of rows does not matter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from binspark.mirror.check.row_text import Hashes

_WORD = 1 << 64


@dataclass(frozen=True, slots=True)
class BucketSums:
    """How many rows each bucket has, and the hashes of its rows combined.

    With a key, hashes are combined by XOR, as `BIT_XOR` does. Without one, a row may be there several times, and two
    would cancel each other: they are added up.
    """

    counts: npt.NDArray[np.int64]
    sums: Hashes
    keyed: bool

    @classmethod
    def empty(cls, buckets: int, *, keyed: bool) -> BucketSums:
        """Return the sums of no rows."""
        return cls(np.zeros(buckets, dtype=np.int64), np.zeros(buckets, dtype=np.uint64), keyed)

    @property
    def rows(self) -> int:
        """The number of rows in all buckets."""
        return int(self.counts.sum())

    def add_rows(self, buckets: npt.NDArray[np.int64], hashes: Hashes) -> None:
        """Add rows, given by their buckets and hashes."""
        np.add.at(self.counts, buckets, 1)
        if self.keyed:
            np.bitwise_xor.at(self.sums, buckets, hashes)
        else:
            np.add.at(self.sums, buckets, hashes)

    def add_sums(self, rows: Iterable[tuple[int, int, int]]) -> None:
        """Add what a server has combined: bucket, number of rows, combined hashes."""
        for bucket, count, combined in rows:
            self.counts[bucket] += count
            word = np.uint64(combined % _WORD)
            self.sums[bucket] = self.sums[bucket] ^ word if self.keyed else np.add(self.sums[bucket], word)

    def differing(self, other: BucketSums) -> list[int]:
        """Return the buckets that are not equal."""
        found = (self.counts != other.counts) | (self.sums != other.sums)
        return [int(bucket) for bucket in np.flatnonzero(found)]
