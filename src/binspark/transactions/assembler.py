"""Events into transactions, one event at a time, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from binspark.event import Event, FormatDescription, StartV3
from binspark.frames import HeaderFlag
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.transactions.draft import CountRows, Draft, FirstEvent, MappedTables
from binspark.transactions.grammar import (
    Boundary,
    Ending,
    Progress,
    Role,
    begins_another,
    boundary_of,
    breaks_transaction,
    progress_after,
)
from binspark.transactions.transaction import Transaction

DEFAULT_TEXT_LIMIT = 4096

Watcher = Callable[[int, Event], None]


class Ended(NamedTuple):
    """A transaction that has ended, and why."""

    draft: Draft
    ending: Ending

    @property
    def transaction(self) -> Transaction:
        """The transaction as a value."""
        return self.draft.finished(self.ending)


class Assembler:
    """Finds where transactions begin and end, by the rules of `grammar`.

    It keeps counts of the transaction in progress, never its events. To get those, pass a `watcher`: it is called with
    the transaction's number and each event that belongs to it, as soon as that is known. `text_limit` is how many bytes
    of statements a transaction keeps. Rows are counted with `count_rows` (see `columns.row_counts`), if it is given.
    `tables` remembers table maps; a dictionary does unless the caller needs them, too.

    Events may come from one log after another. Events inside a payload come after it, as `read_events` yields them; if
    they do not come, a payload is a transaction whose events are unknown.
    """

    def __init__(
        self,
        *,
        text_limit: int = DEFAULT_TEXT_LIMIT,
        watcher: Watcher | None = None,
        count_rows: CountRows | None = None,
        tables: MappedTables | None = None,
    ) -> None:
        self.draft: Draft | None = None
        """The transaction in progress. A reader that adds some events by itself may put it back here."""
        self._text_limit = text_limit
        self._watcher = watcher
        self._count_rows = count_rows
        self._tables: MappedTables = {} if tables is None else tables
        self._number = 0
        self._in_relay_log = False

    @property
    def is_open(self) -> bool:
        """Whether a transaction is in progress. One in a payload is complete with it."""
        return self.draft is not None and not self.draft.payload_closed

    def feed(self, event: Event) -> list[Transaction]:
        """Take an event and return the transactions that have ended: usually none or one, at most two."""
        return [ended.transaction for ended in self.step(event)]

    def finish(self) -> list[Transaction]:
        """Close the transaction in progress: there are no more events."""
        return [ended.transaction for ended in self.end()]

    def step(self, event: Event) -> list[Ended]:
        """Take an event and return the drafts of the transactions that have ended."""
        boundary = boundary_of(event)
        ended: list[Ended] = []
        cut = self._cut_by(event, boundary.role)
        if cut is not None:
            ended += self._close(cut)
        self._note_log(event)
        if self._belongs(boundary.role):
            ending = self._add(event, boundary)
            if ending is not None:
                ended += self._close(ending)
        return ended

    def end(self) -> list[Ended]:
        """Close the transaction in progress, and return its draft."""
        payload = self.draft is not None and self.draft.payload_closed
        return self._close(Ending.PAYLOAD if payload else Ending.UNFINISHED)

    def _cut_by(self, event: Event, role: Role) -> Ending | None:
        """Return why the transaction in progress had ended before this event, None if it continues."""
        draft = self.draft
        if draft is None:
            return None
        if draft.payload_closed and event.inner is None:
            return Ending.PAYLOAD
        if role is Role.BREAKS and breaks_transaction(event, in_relay_log=self._in_relay_log):
            return Ending.CRASH
        if event.file != draft.end_file and not self._in_relay_log:
            return Ending.CRASH
        return Ending.INTERRUPTED if begins_another(role, draft.progress) else None

    def _note_log(self, event: Event) -> None:
        if event.offset == FIRST_EVENT_OFFSET and isinstance(event.body, FormatDescription | StartV3):
            self._in_relay_log = bool(event.header.flags & HeaderFlag.RELAY_LOG)

    def _belongs(self, role: Role) -> bool:
        if role is Role.JOINS:
            return self.draft is not None
        return role is not Role.OUTSIDE and role is not Role.BREAKS

    def _add(self, event: Event, boundary: Boundary) -> Ending | None:
        """Add an event to its transaction; return why that ends with it, None if it continues."""
        draft = self.draft
        if draft is None:
            self._tables.clear()
            first = FirstEvent.of(event)
            draft = self.draft = Draft(self._number, first, self._text_limit, self._tables, self._count_rows)
            self._number += 1
        draft.add(event, boundary.role)
        if self._watcher is not None:
            self._watcher(draft.number, event)
        if boundary.role is not Role.WRAPS:  # the events inside decide, if they come
            draft.progress = progress_after(boundary.role, draft.progress)
        if boundary.ending is None or draft.progress is not Progress.NONE:
            return None
        return draft.statement_ending if boundary.ending is Ending.STATEMENT else boundary.ending

    def _close(self, ending: Ending) -> list[Ended]:
        draft, self.draft = self.draft, None
        return [] if draft is None else [Ended(draft, ending)]


def transactions(events: Iterable[Event], *, text_limit: int = DEFAULT_TEXT_LIMIT) -> Iterator[Transaction]:
    """Yield the transactions of one or more logs.

    >>> for transaction in transactions(read_events("binlog.000024")):  # doctest: +SKIP
    ...     print(transaction.gtid, transaction.ending)
    """
    assembler = Assembler(text_limit=text_limit)
    for event in events:
        yield from assembler.feed(event)
    yield from assembler.finish()
