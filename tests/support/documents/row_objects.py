"""Logs read twice, for rows as objects: in bulk as batches, and one row at a time by the reference."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from binspark.changes.change import Change
from binspark.changes.reader import ChangeReader
from binspark.columns.options import ColumnOptions, ZeroDates
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Operations, Selection
from binspark.documents.row_objects import PresentColumns
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableSchema
from binspark.values.value import ABSENT, Row
from tests.support.columns.reference import log_events

ROWS = Operations.INSERT | Operations.UPDATE | Operations.DELETE


@dataclass(frozen=True)
class Images:
    """Row images of one table: as Arrow arrays, and as the reference decodes them. None: there is no such image."""

    table: TableSchema
    arrays: list[pa.Array]
    rows: list[Row | None]

    @property
    def valid(self) -> np.ndarray:
        return np.array([row is not None for row in self.rows], dtype=bool)

    @property
    def present_columns(self) -> PresentColumns:
        """Which columns are in the rows; none are in rows that do not exist."""
        present = [tuple(value is not ABSENT for value in row or ()) for row in self.rows]
        known = sorted({image for image in present if image}) or [(True,) * len(self.table.columns)]
        numbers = [known.index(image) if image else 0 for image in present]
        return PresentColumns(np.array(numbers, dtype=np.int32), np.array(known, dtype=bool))


def images_of_log(
    log: bytes, zero_dates: ZeroDates, bulk: SchemaHistory | None = None, plain: SchemaHistory | None = None
) -> Iterator[Images]:
    """Yield the new images of every batch of a log (of what is deleted, the old ones), then the old images."""
    selection = Selection(before=True, operations=ROWS, options=ColumnOptions(zero_dates=zero_dates))
    changes = changes_of_log(log, plain)
    for item in BatchReader(selection, bulk).read(io.BytesIO(log).readinto):
        rows = [changes[item.table.name].pop(0) for _ in range(item.batch.num_rows)]
        assert {change.table_schema for change in rows} == {item.table}
        yield Images(item.table, item.values, [change.after_image or change.before_image for change in rows])
        yield Images(item.table, item.before.flatten(), [change.before_image for change in rows])
    assert not any(changes.values())


def changes_of_log(log: bytes, history: SchemaHistory | None) -> dict[str, list[Change]]:
    reader = ChangeReader(Selection(operations=ROWS), history)
    changes: dict[str, list[Change]] = {}
    for event in log_events(log):
        for change in reader.feed(event):
            changes.setdefault(change.table_schema.name, []).append(change)
    return changes


def sliced(arrays: Sequence[pa.Array], first: int) -> list[pa.Array]:
    return [array.slice(first) for array in arrays]
