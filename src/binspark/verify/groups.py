"""Transactions as groups of events: each has an end, and is as long as it says.

Where a transaction begins and ends is decided by `transactions.grammar`. A payload is a complete transaction here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from binspark.event import Event, LargeTransactionHeader
from binspark.frames import EventCode as E
from binspark.frames import type_name
from binspark.transactions.byte_tables import STARTS_NOTHING
from binspark.transactions.grammar import Progress, Role, boundary_of, breaks_transaction, interrupts, progress_after
from binspark.verify.checks import Check, Handler, LogKind, route
from binspark.verify.findings import Code, Findings, Severity


@dataclass(slots=True)
class Group:
    """A transaction that is being read. `first` is its first event: its GTID, or its BEGIN where there are no GTIDs."""

    first: Event
    progress: Progress = Progress.NONE
    suspect: bool = False

    @property
    def needs_end(self) -> bool:
        """Whether it is an error if the end is missing. Old servers rotate between the blocks of a LOAD DATA."""
        return self.progress is not Progress.PREPARED


class Groups(Check):
    """Follows transactions, and passes the first event of every complete one to `completed`."""

    def __init__(self, kind: LogKind, findings: Findings, completed: Callable[[Event], None]) -> None:
        super().__init__(kind, findings)
        self.transactions = 0
        self._completed = completed
        self._group: Group | None = None
        self._announced: LargeTransactionHeader | None = None

    def handlers(self) -> dict[int, Handler]:
        return {**route(self._follow, *E), **route(self._announce, E.LARGE_TRANSACTION_HEADER)}

    def damaged(self) -> None:
        self._announced = None
        if self._group:
            self._group.suspect = True

    @property
    def unfinished(self) -> Event | None:
        """The first event of a transaction that the log ends inside of."""
        return self._group.first if self._group and self._group.needs_end else None

    def _follow(self, event: Event) -> None:
        role, group = boundary_of(event).role, self._group
        if role is Role.BREAKS:
            if breaks_transaction(event, in_relay_log=self.kind.relay):
                self._interrupt(event)
            return
        if role in STARTS_NOTHING:
            return
        if group is not None and interrupts(role, group.progress):
            self._interrupt(event)
            group = None
        if group is None:
            group = self._group = Group(event)
        group.progress = progress_after(role, group.progress)
        if group.progress is Progress.NONE:
            self._end(group, event)

    def _announce(self, event: Event) -> None:
        """Remember where a large transaction is said to end. The header comes before its GTID or after it."""
        self._announced = event.body

    def _end(self, group: Group, last: Event) -> None:
        self._group = None
        announced, self._announced = self._announced, None
        self.transactions += 1
        if not self.kind.relay and not group.suspect:
            if announced is None:
                self._check_length(group, last)
            else:
                self._check_announced_end(announced, group, last)
        self._completed(group.first)

    def _interrupt(self, event: Event) -> None:
        """A transaction begins, or the log ends: the one before must have ended."""
        group, self._group = self._group, None
        if group is None or not group.needs_end:
            return
        if group.suspect:
            self._completed(group.first)
        else:
            first = group.first
            message = f"the transaction has no end; {event.type} at {event.offset} follows it"
            severity = Severity.INFO if self.kind.relay else Severity.ERROR
            self.findings.add(severity, Code.UNFINISHED_TRANSACTION, message, first.offset, first.type)

    def _check_length(self, group: Group, last: Event) -> None:
        first = group.first
        said = getattr(first.body, "transaction_length", None)
        length = last.end_offset - first.offset
        if said and said != length:
            message = f"the transaction is said to take {said} bytes, it takes {length}"
            self.findings.error(Code.TRANSACTION_LENGTH, message, first.offset, first.type)

    def _check_announced_end(self, said: LargeTransactionHeader, group: Group, last: Event) -> None:
        if (said.terminating_event_offset, said.terminating_event_type) == (last.offset, last.type_code):
            return
        message = (
            f"the transaction is said to end with {type_name(said.terminating_event_type)} at "
            f"{said.terminating_event_offset}, it ends with {last.type} at {last.offset}"
        )
        self.findings.error(Code.LARGE_TRANSACTION, message, group.first.offset, group.first.type)
