"""The transactions before a log, as its first events report them."""

from __future__ import annotations

from collections.abc import Iterable

from binspark.event import Event, GtidList, PreviousGtids
from binspark.gtid import GtidSet, MariadbState
from binspark.transactions.grammar import Role, boundary_of

FileGtids = GtidSet | MariadbState

_BEFORE_TRANSACTIONS = (Role.OUTSIDE, Role.BREAKS, Role.JOINS)
"""What begins no transaction. Here an event that joins one joins none: IGNORABLE in place of START_ENCRYPTION."""


def find_gtids_before(events: Iterable[Event]) -> FileGtids | None:
    """Return what PREVIOUS_GTIDS or GTID_LIST of a log reports; None if no event before any transaction is one."""
    for event in events:
        if isinstance(event.body, PreviousGtids):
            return event.body.gtid_set
        if isinstance(event.body, GtidList):
            return MariadbState.of(event.body.gtids)
        if boundary_of(event).role not in _BEFORE_TRANSACTIONS:
            break
    return None
