"""Which of the transactions that a kernel has listed are selected: `wants_transaction` in bulk."""

from __future__ import annotations

import numpy as np

from binspark.changes.statements import statement_tables
from binspark.columns.selection import Operations, Selection
from binspark.columns.transaction_batch import (
    ClosedTransactions,
    Flags,
    has_changes,
    selected_by_origin,
    selected_changes,
    selects_changes,
)
from binspark.kernels.list_layout import TransactionNumber as N


def wanted_transactions(selection: Selection, closed: ClosedTransactions, start: int = 0) -> Flags:
    """Return which transactions are selected; `start` is where their log is read from."""
    times = closed.rows[N.TIMESTAMP]
    wanted = selected_by_origin(selection, closed)
    wanted &= (closed.rows[N.START] >= start) & (times >= selection.start_time)
    if selection.stop_time:
        wanted &= times < selection.stop_time
    if selects_changes(selection):
        wanted &= _touch(selection, closed, wanted)
    return wanted


def _touch(selection: Selection, closed: ClosedTransactions, candidates: Flags) -> Flags:
    """Return which of the candidates change selected tables, or have statements that name them."""
    touch = has_changes(closed, selected_changes(selection, closed))
    if selection.operations is not Operations.ALL:
        return touch
    has_any = has_changes(closed, np.ones(closed.changes.shape[1], dtype=np.bool_))
    names_none = np.full(closed.count, fill_value=selection.tables is None)
    for number, notes in closed.notes.items():
        if number >= closed.count or touch[number] or not candidates[number]:
            continue
        texts = (*notes.texts, *(() if notes.ddl is None else (notes.ddl,)))
        named = {table for text in texts for table in statement_tables(text, closed.schema_of(number))}
        touch[number] = any(map(selection.wants, named))
        names_none[number] &= not named
    return touch | (names_none & ~has_any)
