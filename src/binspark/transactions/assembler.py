"""Events into transactions, one event at a time, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from binspark.event import Event, FormatDescription, StartV3
from binspark.frames import HeaderFlag
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.transactions.draft import Draft
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


class Assembler:
    """Finds where transactions begin and end, by the rules of `grammar`.

    It keeps counts of the transaction in progress, never its events. To get those, pass a `watcher`: it is called with
    the transaction's number and each event that belongs to it, as soon as that is known. `text_limit` is how many bytes
    of statements a transaction keeps.

    Events may come from one log after another. Events inside a payload come after it, as `read_events` yields them; if
    they do not come, a payload is a transaction whose events are unknown.
    """

    def __init__(self, *, text_limit: int = DEFAULT_TEXT_LIMIT, watcher: Watcher | None = None) -> None:
        self._text_limit = text_limit
        self._watcher = watcher
        self._draft: Draft | None = None
        self._number = 0
        self._in_relay_log = False

    @property
    def is_open(self) -> bool:
        """Whether a transaction is in progress. One in a payload is complete with it."""
        return self._draft is not None and not self._draft.payload_closed

    def feed(self, event: Event) -> list[Transaction]:
        """Take an event and return the transactions that have ended: usually none or one, at most two."""
        boundary = boundary_of(event)
        ended: list[Transaction] = []
        cut = self._cut_by(event, boundary.role)
        if cut is not None:
            ended += self._close(cut)
        self._note_log(event)
        if self._belongs(boundary.role):
            ending = self._add(event, boundary)
            if ending is not None:
                ended += self._close(ending)
        return ended

    def finish(self) -> list[Transaction]:
        """Close the transaction in progress: there are no more events."""
        payload = self._draft is not None and self._draft.payload_closed
        return self._close(Ending.PAYLOAD if payload else Ending.UNFINISHED)

    def _cut_by(self, event: Event, role: Role) -> Ending | None:
        """Return why the transaction in progress had ended before this event, None if it continues."""
        draft = self._draft
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
            return self._draft is not None
        return role is not Role.OUTSIDE and role is not Role.BREAKS

    def _add(self, event: Event, boundary: Boundary) -> Ending | None:
        """Add an event to its transaction; return why that ends with it, None if it continues."""
        draft = self._draft
        if draft is None:
            draft = self._draft = Draft(self._number, event, self._text_limit)
            self._number += 1
        draft.add(event, boundary.role)
        if self._watcher is not None:
            self._watcher(draft.number, event)
        if boundary.role is not Role.WRAPS:  # the events inside decide, if they come
            draft.progress = progress_after(boundary.role, draft.progress)
        if boundary.ending is None or draft.progress is not Progress.NONE:
            return None
        return draft.statement_ending if boundary.ending is Ending.STATEMENT else boundary.ending

    def _close(self, ending: Ending) -> list[Transaction]:
        draft, self._draft = self._draft, None
        return [] if draft is None else [draft.finished(ending)]


def transactions(events: Iterable[Event], *, text_limit: int = DEFAULT_TEXT_LIMIT) -> Iterator[Transaction]:
    """Yield the transactions of one or more logs.

    >>> for transaction in transactions(read_events("binlog.000024")):  # doctest: +SKIP
    ...     print(transaction.gtid, transaction.ending)
    """
    assembler = Assembler(text_limit=text_limit)
    for event in events:
        yield from assembler.feed(event)
    yield from assembler.finish()
