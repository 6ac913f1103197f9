"""Logs into records: the transactions, their statements by Python, their rows by kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.changes.statements import statement_tables
from binspark.columns.batches import TableBatch
from binspark.columns.metadata import Metadata
from binspark.columns.selection import Operations, Selection
from binspark.columns.transaction_batch import ClosedTransactions, selected, selects_changes, transaction_numbers
from binspark.columns.transaction_list import TransactionReader
from binspark.diff.records import RECORD, SKIPPED, GtidSources, RecordFile, Records
from binspark.documents.digests import Digests, row_digests, text_digest
from binspark.event import (
    AppendBlock,
    BeginLoadQuery,
    CreateFile,
    Event,
    ExecuteLoadQuery,
    Incident,
    Intvar,
    Load,
    Query,
    Rand,
    UserVar,
    XaPrepare,
)
from binspark.transactions.grammar import Ending, Role, boundary_of

_TRUNCATE = "truncate"
_ORDER = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], dtype=np.uint64)


@dataclass(slots=True)
class SideCounts:
    """What was found while a side was read, besides its records."""

    files: list[str]
    has_gtids: bool = False
    has_anonymous: bool = False
    incomplete: int = 0


class Scanner:
    """Reads the transactions of one part of a log after the other, then the rows in them.

    records   what is known of each transaction
    counts    what is known of the side
    """

    def __init__(self, records: RecordFile, sources: GtidSources, selection: Selection) -> None:
        self.records = records
        self.counts = SideCounts([])
        self._sources = sources
        self._selection = selection
        self._of_transactions = replace(
            selection, tables=None, excluded=frozenset(), operations=Operations.ALL, where=None
        )
        self._wants_statements = selection.operations is Operations.ALL and selection.where is None
        self._statements: list[tuple[int, tuple[int, int]]] = []
        self._bounds: tuple[int, int | None] = (0, None)
        self.reader = _StatementReader(self, self._statement)

    def select_part(self, start: int, stop: int | None) -> None:
        """Set which transactions of the next part count: those that begin from one offset on, and before another."""
        self._bounds = (start, stop)

    def batches(self, closed: ClosedTransactions) -> Iterator[pa.RecordBatch]:
        """Take transactions that have ended: this is the target of a `TransactionReader`."""
        numbers = transaction_numbers(closed)
        records = np.zeros(closed.count, dtype=RECORD)
        split = [self._sources.split(gtid) for gtid in closed.gtids.to_pylist()]
        records["source"], records["number"] = np.array(split, dtype=np.uint64).T
        for name, values in numbers.items():
            records[name] = values
        named = records["source"] > 0
        self.counts.has_gtids |= bool(named.any())
        self.counts.has_anonymous |= not named.all()
        complete = closed.complete
        self.counts.incomplete += int((~complete).sum())
        records["source"][~(complete & self._wanted(closed, records))] = SKIPPED
        self.records.append(records)
        self.counts.files = list(closed.files)
        return iter(())

    def _wanted(self, closed: ClosedTransactions, records: Records) -> npt.NDArray[np.bool_]:
        selection, (start, stop) = self._selection, self._bounds
        wanted = selected(self._of_transactions, closed) & (records["start"] >= start)
        wanted &= records["time"] >= selection.start_time
        if selection.stop_time:
            wanted &= records["time"] < selection.stop_time
        return wanted if stop is None else wanted & (records["start"] < stop)

    def _statement(self, event: Event) -> None:
        """Keep the digest of an event that is not a row but makes a difference."""
        if not self._wants_statements:
            return
        contents = _contents(event)
        if contents is None or not self._is_about_selected(event.body):
            return
        self._statements.append((event.offset, text_digest(*contents)))

    def _is_about_selected(self, body: Any) -> bool:
        if not selects_changes(self._selection):
            return True
        if isinstance(body, Load):
            return self._selection.wants(f"{body.schema}.{body.table}")
        return isinstance(body, Query) and any(map(self._selection.wants, statement_tables(body.query, body.schema)))

    def add_statements(self, begin: int) -> None:
        """Add the statements that were read since the last call to the transactions from a number on."""
        statements, self._statements[:] = list(self._statements), []
        if statements and begin < self.records.count:
            offsets = np.array([offset for offset, _ in statements], dtype=np.int64)
            digests = np.array([digest for _, digest in statements], dtype=np.uint64)
            part = self.records.part(begin, self.records.count)
            _add(part, np.array(part["start"]), offsets, digests, "statements", in_order=True)


class RowAdder:
    """Adds the digests of rows to the records of a part of a log, whose transactions are known."""

    def __init__(self, records: RecordFile, begin: int, end: int) -> None:
        first = max(begin - 1, 0)  # in a relay log, a transaction may continue in the next file
        self._records = records.part(first, end)
        self._starts = np.array(self._records["start"])
        if first < begin:
            self._starts[0] = -1

    def add(self, found: TableBatch) -> None:
        """Add the rows of a batch."""
        if not len(self._records):
            return
        positions = found.origin(Metadata.LOG_POS).to_numpy(zero_copy_only=False)
        digests = row_digests(found)
        operations = found.origin(Metadata.OP)
        is_row = np.array(operations.dictionary.to_pylist())[operations.indices.to_numpy()] != _TRUNCATE
        _add(self._records, self._starts, positions[is_row], digests[is_row], "rows")


def _add(
    records: Records,
    starts: npt.NDArray[np.int64],
    positions: npt.NDArray[np.int64],
    digests: Digests,
    counter: str,
    *,
    in_order: bool = False,
) -> None:
    """Add digests at ascending positions to the transactions in which they are.

    The sum does not depend on the order of rows: batches have the rows of one table each. That of statements counts.
    """
    if not len(positions):
        return
    owners = np.searchsorted(starts, positions, "right") - 1
    groups = np.flatnonzero(np.diff(owners, prepend=-2))
    counts = np.diff(groups, append=len(owners))
    if in_order:
        numbers = np.arange(len(owners)) - np.repeat(groups, counts)
        digests = (digests ^ (digests >> np.uint64(31))) * (2 * numbers[:, None].astype(np.uint64) + _ORDER)
    sums = np.add.reduceat(digests, groups, axis=0)
    owners = owners[groups]
    known = owners >= 0
    if in_order:  # statements of a transaction in progress, which has no record yet, follow the last one
        ends = records["end"][owners]
        known &= (positions[groups] < ends) | (ends <= starts[owners])
    owners, sums, counts = owners[known], sums[known], counts[known]
    records["first"][owners] += sums[:, 0]
    records["second"][owners] += sums[:, 1]
    records[counter][owners] += counts.astype(np.uint32)


class _StatementReader(TransactionReader):
    """Lists transactions, and hands out each event that the kernel leaves to Python."""

    def __init__(self, target: Scanner, on_event: Callable[[Event], None]) -> None:
        super().__init__(target)
        self._on_event = on_event

    def _take(self, event: Event) -> Iterator[pa.RecordBatch]:
        self._on_event(event)
        return super()._take(event)


def _contents(event: Event) -> tuple[str | bytes, ...] | None:
    """Return what of an event must be the same in two logs; None if nothing must."""
    body = event.body
    describe = _CONTENTS.get(type(body))
    if describe is not None:
        return describe(body)
    return _of_query(event) if isinstance(body, Query) else None


def _of_query(event: Event) -> tuple[str | bytes, ...] | None:
    query: Query = event.body
    boundary = boundary_of(event)
    is_xa = query.query.lstrip()[:2].upper() == b"XA"
    if (boundary.role is Role.BEGINS or boundary.ending is Ending.COMMIT) and not is_xa:
        return None
    return "statement", query.schema, query.query


def _of_load(load: ExecuteLoadQuery) -> tuple[str | bytes, ...]:
    """Return what counts of LOAD DATA: not the name of the file, which is another one on each server."""
    return "load", load.schema, load.query[: load.file_name_start], load.query[load.file_name_end :]


_CONTENTS: dict[type, Callable[[Any], tuple[str | bytes, ...]]] = {
    ExecuteLoadQuery: _of_load,
    Load: lambda load: ("load", repr(replace(load, thread_id=0, execution_time=0))),
    CreateFile: lambda load: ("load", repr(replace(load, thread_id=0, execution_time=0, file_id=0))),
    BeginLoadQuery: lambda block: ("block", block.block),
    AppendBlock: lambda block: ("block", block.block),
    Intvar: lambda variable: ("variable", repr(variable)),
    Rand: lambda variable: ("variable", repr(variable)),
    UserVar: lambda variable: ("variable", repr(variable)),
    XaPrepare: lambda prepare: ("xa", prepare.name),
    Incident: lambda incident: ("incident", repr(incident)),
}
