"""What the events say that transactions begin with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from binspark.event import Event, GtidEvent, GtidTagged, MariadbGtidEvent
from binspark.event.mariadb import MariadbGtidExtraFlag, MariadbGtidFlag
from binspark.transactions.transaction import Ending, Identity

ANONYMOUS = Identity()


def identity_of(event: Event) -> Identity:
    """Return what an event identifies its transaction as; any event but a GTID identifies nothing."""
    reader = _READERS.get(type(event.body))
    return ANONYMOUS if reader is None else reader(event)


def ending_of_statement(body: Any) -> Ending:
    """Return the ending that a single statement means under this GTID."""
    if not isinstance(body, MariadbGtidEvent):
        return Ending.STATEMENT
    extra = body.extra_flags or 0
    return next((ending for flag, ending in _ALTERS.items() if extra & flag), Ending.STANDALONE)


def begins_implicitly(body: Any) -> bool:
    """Whether a GTID stands for a BEGIN too: MariaDB's do, unless they say that one statement is all."""
    return isinstance(body, MariadbGtidEvent) and not body.gtid_flags & MariadbGtidFlag.STANDALONE


def _mysql(event: Event) -> Identity:
    body: GtidEvent | GtidTagged = event.body
    gtid = body.gtid
    return Identity(
        gtid=None if gtid is None else str(gtid),
        tag=None if gtid is None else gtid.tag or None,
        immediate_commit_timestamp=body.immediate_commit_timestamp,
        original_commit_timestamp=body.original_commit_timestamp,
        declared_length=body.transaction_length,
        last_committed=body.last_committed,
        sequence_number=body.sequence_number,
        gtid_flags=body.gtid_flags,
    )


def _mariadb(event: Event) -> Identity:
    body: MariadbGtidEvent = event.body
    return Identity(
        gtid=str(body.gtid(event.header.server_id)),
        domain_id=body.domain_id,
        commit_id=body.commit_id,
        gtid_flags=body.gtid_flags,
    )


_READERS: dict[type, Callable[[Event], Identity]] = {
    GtidEvent: _mysql,
    GtidTagged: _mysql,
    MariadbGtidEvent: _mariadb,
}

_ALTERS = {
    MariadbGtidExtraFlag.START_ALTER: Ending.START_ALTER,
    MariadbGtidExtraFlag.COMMIT_ALTER: Ending.COMMIT_ALTER,
    MariadbGtidExtraFlag.ROLLBACK_ALTER: Ending.ROLLBACK_ALTER,
}
