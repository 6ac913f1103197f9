"""Some rows of one side, by their keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from binspark.mirror.snapshot.select import Literals


class ListedRow(NamedTuple):
    """What is known of a key: the sorted hashes of its rows; more than one if there is no key, or by mistake."""

    hashes: tuple[int, ...]
    literals: Literals


@dataclass(slots=True)
class Listing:
    """Rows by the canonical texts of their keys."""

    rows: dict[bytes, ListedRow] = field(default_factory=dict)

    def add(self, key: bytes, value: int, literals: Literals) -> None:
        """Add a row."""
        known = self.rows.get(key)
        hashes = (value,) if known is None else tuple(sorted((*known.hashes, value)))
        self.rows[key] = ListedRow(hashes, literals)

    def hashes(self, key: bytes) -> tuple[int, ...]:
        """Return the hashes of the rows with a key; empty if there is none."""
        known = self.rows.get(key)
        return () if known is None else known.hashes

    def differing(self, other: Listing) -> list[bytes]:
        """Return the keys that do not have the same rows in both listings, in order."""
        return sorted(key for key in self.rows.keys() | other.rows.keys() if self.hashes(key) != other.hashes(key))


def literals_of(keys: Iterable[bytes], *listings: Listing) -> list[Literals]:
    """Return keys as SQL literals, from whichever listing has them."""
    return [next(listing.rows[key].literals for listing in listings if key in listing.rows) for key in keys]
