"""Changed rows of a batch with digests of their keys, by which they are found again later in the logs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from binspark.columns.metadata import Metadata
from binspark.columns.reader import TableBatch
from binspark.documents.digests import value_digests
from binspark.kernels.layout import Operation
from binspark.sql.statements import key_of

Place = tuple[int, int, int]
"""Where a change is: the number of its log, the position of its event, the number of its row."""

_MAX_SHOWN = 60


class KeyedRows:
    """Rows of one table, with the digests of their keys; of all values where the table has no key."""

    def __init__(self, log: int, found: TableBatch, positions: Sequence[int], rows: Sequence[int]) -> None:
        self._log, self._found, self._positions, self._rows = log, found, positions, rows
        self.table = table = found.table
        self.operations: list[int] = found.origin(Metadata.OP).indices.to_pylist()
        self._key = key_of(table)
        self.has_key = bool(self._key)
        indexes = self._key or tuple(index for index, column in enumerate(table.columns) if not column.generated)
        self._is_update = np.array(self.operations) == Operation.UPDATE
        old = [self._old(index) for index in indexes]
        new = [self._new(index, values) for index, values in zip(indexes, old, strict=True)]
        self._old_digests, self._new_digests = (value_digests(each, len(positions), table.name) for each in (old, new))
        self.old_words: list[int] = self._old_digests[:, 0].tolist()
        self.new_words: list[int] = self._new_digests[:, 0].tolist()

    def _old(self, index: int) -> pa.Array:
        """Return the values of a column before the change; of an insert, those after it."""
        return pc.if_else(pa.array(self._is_update), self._found.before.field(index), self._found.values[index])

    def _new(self, index: int, old: pa.Array) -> pa.Array:
        """Return the values of a column after the change: the old ones where an update does not contain new ones."""
        images = self._found.images
        if images is None or images.complete:
            return self._found.values[index]
        is_old = self._is_update & ~images.after[images.numbers, index]
        return pc.if_else(pa.array(is_old), old, self._found.values[index])

    def place(self, number: int) -> Place:
        """Return where a row is."""
        return self._log, self._positions[number], self._rows[number]

    def old_key(self, number: int) -> tuple[int, int]:
        """Return the digest of the key before the change; of an insert, after it."""
        first, second = self._old_digests[number].tolist()
        return first, second

    def new_key(self, number: int) -> tuple[int, int]:
        """Return the digest of the key after the change; of a delete, before it."""
        first, second = self._new_digests[number].tolist()
        return first, second

    def by(self, number: int) -> str:
        """Return the transaction of a row, for messages."""
        gtid = self._found.origin(Metadata.GTID)[number].as_py()
        return gtid or f"the transaction at position {self._positions[number]}"

    def changed(self, number: int) -> list[int]:
        """Return the columns that an update has changed."""
        before, after, images = self._found.before, self._found.values, self._found.images
        present = range(len(after)) if images is None else np.flatnonzero(images.after[images.numbers[number]]).tolist()
        diffs = {column for row, column in self._found.diffs if row == number}
        return [
            index for index in present if index in diffs or not before.field(index)[number].equals(after[index][number])
        ]

    def shown(self, number: int) -> str:
        """Return a row for messages."""
        if not self._key:
            return f"{self.table.name} (a row without a key)"
        names, values = self.table.column_names, self._found.values
        parts = (f"{names[index]} = {_shown(values[index][number].as_py())}" for index in self._key)
        return f"{self.table.name} ({', '.join(parts)})"


def _shown(value: object) -> str:
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
