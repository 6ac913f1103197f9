"""Whether it pays to let kernels find what is selected of logs."""

from __future__ import annotations

from collections.abc import Sequence

from binspark.errors import DecodeError, SourceError
from binspark.files.contents import can_count_in_bulk
from binspark.files.sources import LogSource
from binspark.files.windows import BULK_BYTES, COMPILING_BYTES
from binspark.kernels import cache
from binspark.kernels.compiler import is_kept
from binspark.kernels.event_filter import select_events
from binspark.kernels.transaction_list import list_transactions


def can_select_in_bulk(sources: Sequence[LogSource]) -> bool:
    """Return whether kernels can read logs, and loading or even compiling them takes less time than they save."""
    try:
        size = sum(source.size() for source in sources)
    except (SourceError, DecodeError):
        return False  # standard input, or what is reported when it is opened
    if size < BULK_BYTES:
        return False
    cache.enable()
    if size < COMPILING_BYTES and not (is_kept(select_events) and is_kept(list_transactions)):
        return False
    return all(map(can_count_in_bulk, sources))
