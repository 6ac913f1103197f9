"""What transactions are called, many at a time: the first bytes of the events that begin them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
import numpy.typing as npt

from binspark.client.facts import Gtids
from binspark.frames import EventCode
from binspark.gtid import Gtid, GtidSet, MariadbGtid, MariadbPosition
from binspark.gtid.intervals import join
from binspark.kernels.starts import NAME_LENGTH

_TYPE = 4
_SERVER_ID = slice(5, 9)
_UUID = slice(20, 36)
_NUMBER = slice(36, 44)
_SEQUENCE = slice(19, 27)
_DOMAIN = slice(27, 31)


@dataclass(frozen=True, eq=False)
class Names:
    """The names of transactions in the order of the log, one row of `heads` each; tags are kept apart."""

    heads: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros((0, NAME_LENGTH), dtype=np.uint8))
    tagged: Mapping[int, Gtid] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.heads)

    def added_to(self, gtids: Gtids | None, count: int) -> Gtids | None:
        """Return GTIDs together with those of the first so many transactions. One without a name makes them unknown."""
        heads = self.heads[:count]
        if gtids is None or (heads[:, _TYPE] == EventCode.ANONYMOUS_GTID).any():
            return None
        return self._added_to_set(gtids, heads) if isinstance(gtids, GtidSet) else _advanced(gtids, heads)

    def _added_to_set(self, gtids: GtidSet, heads: npt.NDArray[np.uint8]) -> GtidSet:
        untagged = GtidSet.from_parts(_runs(heads[heads[:, _TYPE] == EventCode.GTID]))
        tagged = GtidSet.of(gtid for number, gtid in self.tagged.items() if number < len(heads))
        return gtids | untagged | tagged


def _runs(heads: npt.NDArray[np.uint8]) -> list[tuple[tuple[str, str], tuple[tuple[int, int], ...]]]:
    """Return the numbers of each UUID as runs."""
    uuids, numbers = _texts(heads, _UUID), _numbers(heads, _NUMBER, "<i8")
    parts = []
    for uuid in np.unique(uuids):
        own = np.sort(numbers[uuids == uuid])
        first = np.flatnonzero(np.diff(own, prepend=own[0] - 2) != 1)
        last = np.append(first[1:], len(own)) - 1
        runs = join((int(own[a]), int(own[b]) + 1) for a, b in zip(first, last, strict=True))
        parts.append(((str(UUID(bytes=uuid.tobytes())), ""), runs))
    return parts


def _advanced(position: MariadbPosition, heads: npt.NDArray[np.uint8]) -> MariadbPosition:
    """Return the position behind transactions: in each domain, the last of them."""
    domains = _numbers(heads, _DOMAIN, "<u4")
    for domain in np.unique(domains):
        last = heads[np.flatnonzero(domains == domain)[-1:]]
        server, sequence = _numbers(last, _SERVER_ID, "<u4")[0], _numbers(last, _SEQUENCE, "<u8")[0]
        position = position.advance(MariadbGtid(int(domain), int(server), int(sequence)))
    return position


def _texts(heads: npt.NDArray[np.uint8], part: slice) -> npt.NDArray[np.void]:
    return np.ascontiguousarray(heads[:, part]).view(f"V{part.stop - part.start}").ravel()


def _numbers(heads: npt.NDArray[np.uint8], part: slice, kind: str) -> npt.NDArray[np.integer]:
    return np.ascontiguousarray(heads[:, part]).view(kind).ravel()
