"""The transactions of a log: each has an end, and the length that it announces.

Where a transaction begins and ends is decided by `transactions.grammar`. A payload is a complete transaction here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from binspark.event import Event, LargeTransactionHeader
from binspark.frames import EventCode as E
from binspark.frames import type_name
from binspark.transactions.byte_tables import IDENTIFYING_CODES, STARTS_NOTHING
from binspark.transactions.grammar import (
    Progress,
    Role,
    begins_another,
    boundary_of,
    breaks_transaction,
    progress_after,
)
from binspark.verify.checks import Check, Handler, LogKind, route
from binspark.verify.findings import Code, Findings, Severity
from binspark.verify.sound_part import SoundPart

_PARTS_OF_ROWS = (Role.PREPARES, Role.ROWS)


@dataclass(slots=True)
class _Transaction:
    """A transaction in progress. `first` is its first event: its GTID, or its BEGIN where there are no GTIDs."""

    first: Event
    progress: Progress = Progress.NONE
    suspect: bool = False

    @property
    def needs_end(self) -> bool:
        """Whether it is an error if the end is missing. Old servers rotate between the blocks of a LOAD DATA."""
        return self.progress is not Progress.PREPARED


class Transactions(Check):
    """Follows transactions, counts the complete ones, and passes the first event of each to `completed`."""

    def __init__(self, kind: LogKind, findings: Findings, completed: Callable[[Event], None]) -> None:
        super().__init__(kind, findings)
        self.count = 0
        self._completed = completed
        self._current: _Transaction | None = None
        self._announced: LargeTransactionHeader | None = None
        self._has_gtids = False
        self._may_miss_begin = False

    def handlers(self) -> dict[int, Handler]:
        """Return handlers of every event: the grammar says which role it plays."""
        return {**route(self._follow, *E), **route(self._announce, E.LARGE_TRANSACTION_HEADER)}

    @property
    def may_skip(self) -> bool:
        """Whether no transaction is in progress, announced, or possibly without its beginning."""
        return self._current is None and self._announced is None and not self._may_miss_begin

    def skip(self, part: SoundPart, /) -> None:
        """Count the transactions of a part."""
        self.count += part.transactions
        self._has_gtids = self._has_gtids or part.has_gtid_events

    def damaged(self) -> None:
        """Expect the transaction in progress, or the beginning of the next one, to be incomplete."""
        self._announced = None
        if self._current:
            self._current.suspect = True
        else:
            self._may_miss_begin = True

    @property
    def in_progress(self) -> Event | None:
        """The first event of the transaction that has begun and not ended."""
        return self._current.first if self._current else None

    @property
    def unfinished(self) -> Event | None:
        """The first event of the transaction in which the log ends."""
        return self._current.first if self._current and self._current.needs_end else None

    def _follow(self, event: Event) -> None:
        role, transaction = boundary_of(event).role, self._current
        if role is Role.BREAKS:
            if breaks_transaction(event, in_relay_log=self.kind.relay):
                self._interrupt(event)
            return
        if role in STARTS_NOTHING:
            return
        if transaction is not None and begins_another(role, transaction.progress):
            self._interrupt(event)
            transaction = None
        if transaction is None:
            transaction = self._current = self._begin(event, role)
        transaction.progress = progress_after(role, transaction.progress)
        if transaction.progress is Progress.NONE:
            self._end(transaction, event)

    def _begin(self, event: Event, role: Role) -> _Transaction:
        """Begin a transaction. After damage, rows without a GTID are the rest of one, in a log that has GTIDs."""
        self._has_gtids = self._has_gtids or event.type_code in IDENTIFYING_CODES
        is_rest = self._may_miss_begin and self._has_gtids and role in _PARTS_OF_ROWS
        self._may_miss_begin = False
        return _Transaction(event, Progress.BEGUN, suspect=True) if is_rest else _Transaction(event)

    def _announce(self, event: Event) -> None:
        """Keep the announced end of a large transaction. The header comes before its GTID or after it."""
        self._announced = event.body

    def _end(self, transaction: _Transaction, last: Event) -> None:
        self._current = None
        announced, self._announced = self._announced, None
        self.count += 1
        if not self.kind.relay and not transaction.suspect:
            if announced is None:
                self._check_length(transaction, last)
            else:
                self._check_announced_end(announced, transaction, last)
        self._completed(transaction.first)

    def _interrupt(self, event: Event) -> None:
        """Report a transaction in progress although another begins or the log ends."""
        transaction, self._current = self._current, None
        if transaction is None or not transaction.needs_end:
            return
        if transaction.suspect:
            self._completed(transaction.first)
        else:
            first = transaction.first
            message = f"the transaction has no end: {event.type} at {event.offset} follows"
            severity = Severity.INFO if self.kind.relay else Severity.ERROR
            self.findings.add(severity, Code.UNFINISHED_TRANSACTION, message, first.offset, first.type)

    def _check_length(self, transaction: _Transaction, last: Event) -> None:
        first = transaction.first
        said = getattr(first.body, "transaction_length", None)
        length = last.end_offset - first.offset
        if said and said != length:
            message = f"the transaction length in {first.type} is {said}, but the transaction has {length} bytes"
            self.findings.error(Code.TRANSACTION_LENGTH, message, first.offset, first.type)

    def _check_announced_end(self, said: LargeTransactionHeader, transaction: _Transaction, last: Event) -> None:
        if (said.terminating_event_offset, said.terminating_event_type) == (last.offset, last.type_code):
            return
        message = (
            f"the announced end is {type_name(said.terminating_event_type)} at {said.terminating_event_offset}, "
            f"but the transaction ends with {last.type} at {last.offset}"
        )
        self.findings.error(Code.LARGE_TRANSACTION, message, transaction.first.offset, transaction.first.type)
