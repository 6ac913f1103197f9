"""Which rows of a log a condition selects. Conditions are about columns, so a log is read a second time for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from binspark.columns.metadata import Metadata
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Operations, Selection
from binspark.files.windows import by_window
from binspark.kernels import cache
from binspark.schema.history import SchemaHistory

Numbers = npt.NDArray[np.int64]
_METADATA = frozenset({Metadata.LOG_POS, Metadata.LOG_ROW})


def condition_reader(selection: Selection, history: SchemaHistory) -> BatchReader:
    """Return what reads the rows of logs that a selection with a condition selects, without their values.

    It has a history of its own, which begins with what is known of tables before the logs.
    """
    cache.enable()
    wanted = replace(
        selection,
        columns=(),
        metadata_columns=_METADATA,
        in_windows=True,
        diffs=True,
        operations=selection.operations & ~Operations.TRUNCATE,
    )
    return BatchReader(wanted, SchemaHistory(history.base, lower_case_names=history.lower_case_names))


def condition_rows(batches: Iterable[TableBatch]) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield where the rows of batches are, in the order of the log: positions of events, and numbers of rows in them.

    Rows inside a payload have its position, and are numbered throughout. One event may be in two results.
    """
    for group in by_window(batches):
        positions = np.concatenate([_numbers(found, Metadata.LOG_POS) for found in group])
        rows = np.concatenate([_numbers(found, Metadata.LOG_ROW) for found in group])
        order = np.lexsort((rows, positions))
        yield positions[order], rows[order]


def _numbers(found: TableBatch, name: Metadata) -> Numbers:
    numbers: Numbers = found.origin(name).to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers
