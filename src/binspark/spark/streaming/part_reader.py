"""What reads a part of logs, a split or a range of a server's logs, with the schemas that the driver has sent along."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from binspark.schema.history import SchemaHistory
from binspark.schema.notices import SchemaNotice

if TYPE_CHECKING:
    from binspark.files.splits import Split
    from binspark.spark.streaming.range_reader import ServerRange
    from binspark.spark.views.base import LogReader

_HISTORIES = 4


def reader_of(
    part: Split | ServerRange, history: bytes, on_notice: Callable[[SchemaNotice], None] | None = None
) -> LogReader:
    """Return what reads a part. Readers add to a history, so each gets a copy of its own.

    `on_notice` is called with what the rows show, and the statements in a range of a server: once for each table as
    long as a worker has this history.
    """
    known = _unpacked(history)
    known.on_notice = on_notice
    from binspark.files.splits import Split

    if isinstance(part, Split):
        from binspark.files.split_reader import SplitReader

        return SplitReader(known)
    from binspark.spark.streaming.range_reader import RangeReader

    return RangeReader(SchemaHistory.after(known))


@lru_cache(maxsize=_HISTORIES)
def packed_history(history: SchemaHistory) -> bytes:
    """Return a history as bytes, to be sent along with parts."""
    return zlib.compress(pickle.dumps(history), 1)


@lru_cache(maxsize=_HISTORIES)
def _unpacked(packed: bytes) -> SchemaHistory:
    history: SchemaHistory = pickle.loads(zlib.decompress(packed))  # noqa: S301 (the driver made it)
    return history
