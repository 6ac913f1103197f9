"""GTIDs of very many transactions in sets of GTIDs: for kernels, and for columns."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
import numpy.typing as npt

from binspark.columns.selection import SelectedGtids
from binspark.gtid import GtidSet, MariadbGtid

if TYPE_CHECKING:
    import pyarrow as pa

_MAX_LISTED = 64  # up to this number, looking through all of them takes less time than asking Python
_INTERVAL = Struct("<16sqq")


def packed_intervals(gtids: SelectedGtids | None) -> bytes | None:
    """Return the intervals of a GTID set for kernels, which read no tags; None if Python must decide."""
    if gtids is None:
        return b""
    if not isinstance(gtids, GtidSet):
        return None
    listed = [
        _INTERVAL.pack(UUID(uuid).bytes, start, stop)
        for (uuid, tag), intervals in gtids.parts
        for start, stop in intervals
        if not tag
    ]
    return b"".join(listed) if len(listed) <= _MAX_LISTED else None


def is_in_gtids(gtids: pa.Array, chosen: SelectedGtids) -> npt.NDArray[np.bool_]:
    """Return which GTIDs, as text, are in a set; NULL is in none."""
    found = np.zeros(len(gtids), dtype=np.bool_)
    if not isinstance(chosen, GtidSet):
        texts = gtids.to_pylist()
        found[:] = [text is not None and ":" not in text and MariadbGtid.parse(text) in chosen for text in texts]
        return found
    import pyarrow as pa
    import pyarrow.compute as pc

    for (uuid, tag), intervals in chosen.parts:
        source = f"{uuid}:{tag}:" if tag else f"{uuid}:"
        starts = pc.starts_with(gtids, source).fill_null(False)
        rows = np.flatnonzero(starts.to_numpy(zero_copy_only=False))
        rest = pc.utf8_slice_codeunits(gtids.take(pa.array(rows)), len(source))
        is_number = pc.invert(pc.match_substring(rest, ":")).to_numpy(zero_copy_only=False)  # others have a tag
        numbers = rest.filter(pa.array(is_number)).cast(pa.int64()).to_numpy(zero_copy_only=False)
        bounds = np.array(intervals, dtype=np.int64)
        at = np.searchsorted(bounds[:, 0], numbers, side="right") - 1
        found[rows[is_number]] = (at >= 0) & (numbers < bounds[np.maximum(at, 0), 1])
    return found
