"""Two sides compared: what only one of them has, and what both have with other contents or in another order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Self

import numpy as np

from binspark.columns.selection import Operations, Selection
from binspark.diff.contents import Contents, Differences, TransactionAt, differences
from binspark.diff.match import UNMATCHED, match_records, moved_transactions
from binspark.diff.records import SKIPPED, GtidSources, RecordFile
from binspark.diff.sides import ReadSide, Side

_NO_CONTENTS = Contents()


class FindingKind(StrEnum):
    """How two sides differ in a transaction."""

    ONLY_IN_A = "only in A"
    ONLY_IN_B = "only in B"
    DIFFERENT = "different"
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference: where the transaction is on each side that has it."""

    kind: FindingKind
    a: TransactionAt | None
    b: TransactionAt | None


@dataclass(slots=True)
class Summary:
    """How many transactions were compared, and how they differ.

    by_gtid      whether transactions with GTIDs were matched by them; those without are matched by their contents
    older        those of one side from before the first log of the other, which are not compared
    incomplete   transactions that are cut off at the end of a log, which are not compared
    """

    by_gtid: bool
    transactions_a: int = 0
    transactions_b: int = 0
    rows_a: int = 0
    rows_b: int = 0
    only_in_a: int = 0
    only_in_b: int = 0
    different: int = 0
    order: int = 0
    older: int = 0
    incomplete: int = 0

    @property
    def is_equal(self) -> bool:
        """Whether no difference was found."""
        return not (self.only_in_a or self.only_in_b or self.different or self.order)


class Comparison:
    """Compares two sides. `findings` yields the differences; then `summary` is complete."""

    def __init__(self, a: Side, b: Side, selection: Selection) -> None:
        self._sides = (a, b)
        self._selection = selection
        self._sources = GtidSources()
        self._open = ExitStack()
        self.summary = Summary(by_gtid=True)

    def findings(self) -> Iterator[Finding]:
        """Read both sides and yield the differences: in the order of side A, then what only B has."""
        a, b = (self._read(side) for side in self._sides)
        mysql, mariadb = self._sources.families
        by_gtid = a.counts.has_gtids and b.counts.has_gtids and not (mysql and mariadb)
        summary = self.summary = Summary(by_gtid, incomplete=a.counts.incomplete + b.counts.incomplete)
        summary.transactions_a, summary.rows_a = _totals(a.records)
        summary.transactions_b, summary.rows_b = _totals(b.records)
        found = match_records(a.records, b.records, by_gtid=by_gtid)
        moved = np.zeros(len(found.partner), dtype=np.bool_)
        moved[moved_transactions(found.partner)] = True
        for number in np.flatnonzero((found.partner == UNMATCHED) | found.different | moved).tolist():
            partner = int(found.partner[number])
            at_a = self._at(a, number)
            if partner == UNMATCHED:
                if b.had(at_a.gtid):
                    summary.older += 1
                else:
                    summary.only_in_a += 1
                    yield Finding(FindingKind.ONLY_IN_A, at_a, None)
                continue
            at_b = self._at(b, partner)
            if found.different[number]:
                summary.different += 1
                yield Finding(FindingKind.DIFFERENT, at_a, at_b)
            if moved[number]:
                summary.order += 1
                yield Finding(FindingKind.ORDER, at_a, at_b)
        for number in np.flatnonzero(found.in_a == UNMATCHED).tolist():
            at_b = self._at(b, number)
            if a.had(at_b.gtid):
                summary.older += 1
            else:
                summary.only_in_b += 1
                yield Finding(FindingKind.ONLY_IN_B, None, at_b)

    def details(self, finding: Finding) -> Differences:
        """Read the transactions of a finding again, and return the rows and statements that they do not share."""
        contents = [
            _NO_CONTENTS if at is None else side.contents(at, self._selection)
            for side, at in zip(self._sides, (finding.a, finding.b), strict=True)
        ]
        return differences(*contents)

    def _read(self, side: Side) -> ReadSide:
        records = self._open.enter_context(RecordFile())
        read = side.read(records, self._sources, self._selection)
        if _selects_contents(self._selection):
            for _, block in records.blocks():
                block["source"][(block["rows"] == 0) & (block["statements"] == 0)] = SKIPPED
        return read

    def _at(self, side: ReadSide, number: int) -> TransactionAt:
        record = side.records[number]
        return TransactionAt(
            self._sources.text(int(record["source"]), int(record["number"])),
            side.counts.files[int(record["file"])],
            int(record["start"]),
            int(record["end"]),
            int(record["time"]),
            int(record["server"]),
            int(record["rows"]),
            int(record["statements"]),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._open.close()


def _selects_contents(selection: Selection) -> bool:
    """Return whether some rows are not compared; then transactions without any that are do not count."""
    by_table = selection.tables is not None or bool(selection.excluded)
    return by_table or selection.operations is not Operations.ALL or selection.where is not None


def _totals(records: RecordFile) -> tuple[int, int]:
    """Return how many transactions, and rows in them, are compared."""
    transactions = rows = 0
    for _, block in records.blocks():
        compared = block["source"] != SKIPPED
        transactions += int(compared.sum())
        rows += int(block["rows"][compared].sum(dtype=np.int64))
    return transactions, rows
