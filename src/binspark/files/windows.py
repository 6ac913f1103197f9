"""Rows of logs in the order of the log: when kernels pay, and batches of one window after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from binspark.columns.selection import Selection
from binspark.errors import BinlogError, DecodeError, SourceError
from binspark.files.sources import LogSource
from binspark.values.options import Undecodable

if TYPE_CHECKING:
    from binspark.columns.reader import TableBatch

BULK_BYTES = 1 << 17
"""From this size on, logs are read in bulk."""

COMPILING_BYTES = 8 << 20
"""The same where kernels must be compiled first."""


def pays_in_bulk(sources: Iterable[LogSource], selection: Selection) -> bool:
    """Return whether loading kernels, or even compiling them, takes less time than they save."""
    if selection.where is not None:
        return True  # conditions are evaluated on columns
    if selection.options.undecodable is Undecodable.BINARY:
        return False  # columns do not distinguish undecodable text from text
    size = _size_of(sources)
    if size is None or size >= COMPILING_BYTES:
        return True
    return size >= BULK_BYTES and _is_compiled()


def by_window(batches: Iterable[TableBatch]) -> Iterator[list[TableBatch]]:
    """Yield the batches of one window after the other; what comes before an error before it is raised."""
    group: list[TableBatch] = []
    try:
        for found in batches:
            if group and group[0].window != found.window:
                yield group
                group = []
            group.append(found)
    except BinlogError:
        if group:
            yield group
        raise
    if group:
        yield group


def _size_of(sources: Iterable[LogSource]) -> int | None:
    try:
        return sum(source.size() for source in sources)
    except (SourceError, DecodeError):
        return None  # standard input, or what is reported when it is opened


def _is_compiled() -> bool:
    from binspark.columns.reader import is_decoder_compiled
    from binspark.kernels import cache

    cache.enable()
    return is_decoder_compiled()
