"""How many rows a condition selects of what transactions change, which a kernel has listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from binspark.columns.log_scan import Numbers
from binspark.columns.metadata import Metadata
from binspark.columns.reader import TableBatch
from binspark.columns.selection import Selection
from binspark.columns.transaction_batch import ClosedTransactions
from binspark.errors import BinlogError
from binspark.files.batches import source_batches
from binspark.files.condition_rows import RowsAhead, condition_reader, make_readable_twice
from binspark.files.damage import OnDamage
from binspark.files.sources import LogSource
from binspark.files.windows import by_window
from binspark.kernels.layout import Operation
from binspark.kernels.list_layout import ChangeNumber as C
from binspark.kernels.list_layout import TransactionNumber as N
from binspark.schema.history import SchemaHistory

_METADATA = frozenset({Metadata.LOG_POS, Metadata.OP})
_OPERATIONS = len(Operation)
_NO_OFFSET = (1 << 63) - 1
_NONE = np.zeros(0, dtype=np.int64)


class ConditionChanges:
    """Reads the rows of one log after the other that a selection with a condition selects, and counts them.

    They are read as far as transactions are asked for, in the order of the log.
    """

    def __init__(self, selection: Selection, history: SchemaHistory) -> None:
        self._reader = condition_reader(selection, history, _METADATA)
        self._tables: dict[str, int] = {}
        self._ahead = RowsAhead()
        self._carried = _NONE

    def begin_source(self, log: LogSource, on_damage: OnDamage | None = None) -> None:
        """Begin a log file. What is left of the last one belongs to the transaction that was in progress at its end."""
        make_readable_twice(log)
        self._ahead.read_until(lambda: False)
        self._carried = self._ahead.numbers
        self._ahead = RowsAhead(self._rows(source_batches(log, self._reader, on_damage)))

    def counted(self, closed: ClosedTransactions) -> Numbers:
        """Return how many rows of each change are selected, of transactions up to `limit`."""
        starts, ends = closed.rows[N.START], closed.rows[N.END]
        ahead, end = self._ahead, int(ends[-1])
        ahead.read_until(lambda: len(ahead.positions) > 0 and bool(ahead.positions[-1] >= end))
        first = 1 if self._is_carried(closed) else 0
        owners = np.searchsorted(starts[first:], ahead.positions, side="right") - 1 + first
        inside = (owners >= first) & (ahead.positions < ends[np.maximum(owners, 0)])
        keys = self._change_keys(closed, owners[inside], ahead.numbers[inside])
        if first:
            keys = np.concatenate((self._change_keys(closed, np.zeros_like(self._carried), self._carried), keys))
            self._carried = _NONE
        left = ahead.positions >= end
        ahead.positions, ahead.numbers = ahead.positions[left], ahead.numbers[left]
        changes = closed.changes
        wanted = _key(closed, changes[C.TRANSACTION], changes[C.TABLE], changes[C.OPERATION])
        found, counts = np.unique(keys, return_counts=True)
        at = np.searchsorted(found, wanted)
        at[at == len(found)] = 0
        return np.where(found[at] == wanted, counts[at], 0) if len(found) else np.zeros_like(wanted)

    @property
    def limit(self) -> int:
        """The offset up to which rows are known."""
        return _NO_OFFSET if self._ahead.error is None else self._ahead.error.position.offset or 0

    def error_in(self, closed: ClosedTransactions) -> BinlogError | None:
        """Return why the rows of some of the transactions are not known; None if all are."""
        return self._ahead.error if bool((closed.rows[N.END] > self.limit).any()) else None

    def _is_carried(self, closed: ClosedTransactions) -> bool:
        """Return whether the first transaction began in an earlier log."""
        files = closed.rows[N.FILE]
        return bool(files[0] != len(closed.files) - 1)

    def _change_keys(self, closed: ClosedTransactions, owners: Numbers, keys: Numbers) -> Numbers:
        """Return a number for the change that each row belongs to, by its transaction, and its table and operation."""
        numbers = {".".join(name): number for number, name in enumerate(closed.tables)}
        tables = np.array([numbers.get(name, len(numbers)) for name in self._tables], dtype=np.int64)
        if not len(keys):
            return _NONE
        return _key(closed, owners, tables[keys // _OPERATIONS], keys % _OPERATIONS)

    def _rows(self, batches: Iterable[TableBatch]) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield the positions of rows, in the order of the log, and numbers for their tables and operations."""
        for group in by_window(batches):
            positions = np.concatenate([found.origin(Metadata.LOG_POS).to_numpy() for found in group])
            keys = np.concatenate([self._keys_of(found) for found in group])
            order = np.argsort(positions, kind="stable")
            yield positions[order], keys[order]

    def _keys_of(self, found: TableBatch) -> Numbers:
        table = self._tables.setdefault(found.table.name, len(self._tables))
        column = found.origin(Metadata.OP)
        words = [Operation[word.upper()] for word in column.dictionary.to_pylist()]
        operations = np.array(words, dtype=np.int64)[column.indices.to_numpy()]
        keys: Numbers = _OPERATIONS * table + operations
        return keys


def _key(closed: ClosedTransactions, transactions: Numbers, tables: Numbers, operations: Numbers) -> Numbers:
    key: Numbers = (transactions * (len(closed.tables) + 1) + tables) * _OPERATIONS + operations
    return key
