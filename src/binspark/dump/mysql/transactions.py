"""Transactions that are selected by commit time or thread, which mysqlbinlog has no options for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binspark.columns.selection import Selection
from binspark.dump.mysql.frames import inner_frames
from binspark.dump.mysql.statements import starts_group
from binspark.event import decode_event
from binspark.frames import EventCode as E

if TYPE_CHECKING:
    from binspark.event import Event

_OUTSIDE = frozenset({E.FORMAT_DESCRIPTION, E.PREVIOUS_GTIDS, E.ROTATE, E.STOP, E.INCIDENT, E.IGNORABLE, E.SLAVE})
_GTIDS = frozenset({E.GTID, E.ANONYMOUS_GTID, E.GTID_TAGGED})
_MICROSECONDS = 1_000_000


class SelectedTransactions:
    """Holds back the first events of a transaction until its thread is known."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self.selects_all = (
            selection.thread_id is None and not selection.committed_from and selection.committed_before is None
        )
        self._held: list[Event] = []
        self._is_wanted: bool | None = True
        self._has_gtid = False

    def feed(self, event: Event) -> list[Event]:
        """Take an event; return the events that are now known to be selected."""
        if self.selects_all or event.type_code in _OUTSIDE:
            return [event]
        if event.type_code in _GTIDS:
            from binspark.transactions.transaction import commit_of  # few dumps select transactions

            self._has_gtid = True
            self._begin(commit_of(event)[1])
        elif not self._has_gtid and event.type_code == E.QUERY and starts_group(event.body.query):
            self._begin(event.header.timestamp * _MICROSECONDS)
        if self._is_wanted is not None:
            return [event] if self._is_wanted else []
        self._held.append(event)
        thread_id = _thread_of(event)
        if thread_id is None and event.type_code in _GTIDS:
            return []
        self._is_wanted = self._selection.wants_thread(thread_id)
        held, self._held = self._held, []
        return held if self._is_wanted else []

    def _begin(self, commit_time: int) -> None:
        self._held.clear()
        self._is_wanted = False
        if self._selection.wants_commit(commit_time):
            self._is_wanted = True if self._selection.thread_id is None else None


def _thread_of(event: Event) -> int | None:
    """Return the thread of a statement, or of the first one in a compressed transaction; None if there is none."""
    if event.type_code == E.TRANSACTION_PAYLOAD:
        first = next(inner_frames(event), None)
        return None if first is None else _thread_of(decode_event(first, event.file))
    return event.body.thread_id if event.type_code == E.QUERY else None
