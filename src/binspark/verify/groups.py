"""Transactions as groups of events: each has an end, and is as long as it says.

GTID      MySQL and MariaDB name a transaction before its events
BEGIN     opens it (in MariaDB the GTID does); a statement that comes instead is the whole transaction
XID, XA_PREPARE, COMMIT, ROLLBACK, TRANSACTION_PAYLOAD, INCIDENT    end it
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from binspark.event import Event, LargeTransactionHeader, MariadbGtidEvent
from binspark.event.mariadb import MariadbGtidFlag
from binspark.frames import EventCode as E
from binspark.frames import type_name
from binspark.verify.checks import Check, Handler, LogKind, route
from binspark.verify.findings import Code, Findings, Severity

_OPENING = (b"BEGIN", b"XA START")
_CLOSING = (b"COMMIT", b"ROLLBACK")
_LONGEST_WORD = 16


@dataclass(slots=True)
class Group:
    """A transaction that is being read. `first` is its GTID event, or its BEGIN where there are no GTIDs."""

    first: Event
    is_open: bool
    suspect: bool = False


class Groups(Check):
    """Follows transactions, and hands every one that is complete to `completed`."""

    def __init__(self, kind: LogKind, findings: Findings, completed: Callable[[Event], None]) -> None:
        super().__init__(kind, findings)
        self.transactions = 0
        self._completed = completed
        self._group: Group | None = None
        self._announced: LargeTransactionHeader | None = None

    def handlers(self) -> dict[int, Handler]:
        closes = {} if self.kind.relay else route(self._interrupt, E.ROTATE, E.STOP)
        return {
            **route(self._begin, E.GTID, E.ANONYMOUS_GTID, E.GTID_TAGGED, E.MARIADB_GTID),
            **route(self._statement, E.QUERY, E.QUERY_COMPRESSED),
            **route(self._announce, E.LARGE_TRANSACTION_HEADER),
            **route(self._end, E.XID, E.XA_PREPARE, E.TRANSACTION_PAYLOAD, E.INCIDENT),
            **closes,
        }

    def damaged(self) -> None:
        self._announced = None
        if self._group:
            self._group.suspect = True

    @property
    def unfinished(self) -> Event | None:
        """The first event of a transaction that the log ends inside of."""
        return self._group.first if self._group else None

    def _begin(self, event: Event) -> None:
        self._interrupt(event)
        body = event.body
        is_open = isinstance(body, MariadbGtidEvent) and not body.gtid_flags & MariadbGtidFlag.STANDALONE
        self._group = Group(event, is_open)

    def _statement(self, event: Event) -> None:
        word = event.body.query[:_LONGEST_WORD].strip().upper()
        group = self._group
        if word.startswith(_OPENING) and (group is None or not group.is_open):
            self._group = Group(event, True) if group is None else group
            self._group.is_open = True
        elif group is None or not group.is_open or word in _CLOSING:
            self._end(event)

    def _announce(self, event: Event) -> None:
        """Remember where a large transaction is said to end. The header may stand before its GTID or behind it."""
        self._announced = event.body

    def _end(self, event: Event) -> None:
        group, self._group = self._group, None
        announced, self._announced = self._announced, None
        self.transactions += 1
        if group is None:
            return
        if not self.kind.relay and not group.suspect:
            if announced is None:
                self._check_length(group, event)
            else:
                self._check_announced_end(announced, group, event)
        self._completed(group.first)

    def _interrupt(self, event: Event) -> None:
        """A transaction begins, or the log ends: the one before must have ended."""
        group, self._group = self._group, None
        if group is None:
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
