"""Changes that a log has although they were rolled back: a transaction, to a savepoint, or as a prepared one of XA.

Servers since 5.5 log the rows of tables without transactions at once, in a transaction of their own. So what is rolled
back in the log are rows of tables with transactions, which are not in the tables:

ROLLBACK              MariaDB, if the transaction has created or dropped a temporary table
ROLLBACK TO           MariaDB, if the transaction has changed a table without transactions
XA ROLLBACK           of a prepared transaction, whose rows are in the log where it was prepared
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple, Protocol

from binspark.event import Event, Query
from binspark.event.xa import XaPrepare
from binspark.schema.changes import RolledBackRows
from binspark.schema.table import TableName
from binspark.transactions.grammar import Ending, Role, boundary_of_text

_SAVEPOINT = re.compile(
    rb"\s*(?:(SAVEPOINT)|(ROLLBACK)(?:\s+WORK)?\s+TO(?:\s+SAVEPOINT)?|(RELEASE)\s+SAVEPOINT)\s+(.+?)\s*;?\s*",
    re.IGNORECASE | re.DOTALL,
)
_XA = re.compile(
    rb"\s*XA\s+(?:START|BEGIN|END|COMMIT|ROLLBACK)\s+(.*?)(?:\s+ONE\s+PHASE)?\s*", re.IGNORECASE | re.DOTALL
)
_FOLLOWED = frozenset({Ending.ROLLBACK, Ending.XA_COMMIT, Ending.XA_ROLLBACK})
_MAX_STATEMENT = 1024
_MAX_SAVEPOINTS = 1000


class SavepointAction(Enum):
    """What a statement does with a savepoint."""

    SET = 1
    ROLLBACK = 2
    RELEASE = 3


def savepoint_in(statement: bytes) -> tuple[SavepointAction, str] | None:
    """Return what a statement does with a savepoint, and its name as servers compare it; None for other statements.

    >>> savepoint_in(b"ROLLBACK TO `Before`")
    (<SavepointAction.ROLLBACK: 2>, 'before')
    """
    match = _SAVEPOINT.fullmatch(statement) if len(statement) <= _MAX_STATEMENT else None
    if match is None or match.lastindex is None:
        return None
    action = next(action for action in SavepointAction if match[action.value])
    return action, match[4].decode(errors="backslashreplace").strip('`"').lower()


def xid_in(statement: bytes) -> str:
    """Return the identifier of an XA transaction in a statement, empty if there is none."""
    match = _XA.fullmatch(statement)
    return "" if match is None else match[1].decode(errors="backslashreplace")


def normalized_xid(xid: str) -> str:
    """Return an identifier so that equal ones are the same text."""
    return re.sub(r"\s", "", xid).lower()


class TransactionBytes(Protocol):
    """The bytes of transactions in one log."""

    def transaction_start(self, offset: int) -> int:
        """Return where the transaction of the event at an offset begins."""
        ...

    def tables_between(self, begin: int, end: int) -> frozenset[TableName]:
        """Return the tables of the TABLE_MAPs between two offsets, at each of which an event begins."""
        ...

    def event_at(self, offset: int) -> Event | None:
        """Return the event at an offset, None if the bytes end there."""
        ...


class _Savepoint(NamedTuple):
    file: str
    offset: int


def is_followed(event: Event) -> bool:
    """Return whether a `RollbackFollower` needs a statement."""
    boundary = boundary_of_text(event.body.query) if isinstance(event.body, Query) else None
    return boundary is not None and (boundary.role is Role.INSIDE or boundary.ending in _FOLLOWED)


class RollbackFollower:
    """Takes the statements of a log in their order, and returns the tables of which they roll back rows in the log."""

    def __init__(self) -> None:
        self._savepoints: dict[str, _Savepoint] = {}
        self._prepared: dict[str, frozenset[TableName]] = {}

    def feed(self, event: Event, log: TransactionBytes) -> RolledBackRows | None:
        """Take a statement; BEGIN and COMMIT may be left out."""
        text: bytes = event.body.query
        boundary = boundary_of_text(text)
        match boundary.ending:
            case Ending.ROLLBACK:
                return _rolled_back(log.tables_between(log.transaction_start(event.offset), event.offset), event)
            case Ending.XA_COMMIT:
                self._prepared.pop(normalized_xid(xid_in(text)), None)
            case Ending.XA_ROLLBACK:
                return _rolled_back(self._prepared.pop(normalized_xid(xid_in(text)), None), event)
        if boundary.role is not Role.INSIDE:
            return None
        found = savepoint_in(text)
        if found is None:
            self._end_xa(event, log)
            return None
        return self._follow_savepoint(event, log, *found)

    def _end_xa(self, event: Event, log: TransactionBytes) -> None:
        """Take XA END; what follows it says if the transaction is prepared, or committed at once."""
        following = log.event_at(event.end_offset)
        if following is not None and isinstance(following.body, XaPrepare) and not following.body.one_phase:
            begin = log.transaction_start(event.offset)
            self._prepared[normalized_xid(following.body.name)] = log.tables_between(begin, event.offset)

    def _follow_savepoint(
        self, event: Event, log: TransactionBytes, action: SavepointAction, name: str
    ) -> RolledBackRows | None:
        if action is SavepointAction.SET:
            if len(self._savepoints) >= _MAX_SAVEPOINTS:  # forgotten ones count as the begin of their transaction
                self._savepoints.clear()
            self._savepoints[name] = _Savepoint(event.file, event.offset)
        if action is not SavepointAction.ROLLBACK:
            return None
        begin, savepoint = log.transaction_start(event.offset), self._savepoints.get(name)
        if savepoint is not None and savepoint.file == event.file:
            begin = max(begin, savepoint.offset)
        return _rolled_back(log.tables_between(begin, event.offset), event)


def _rolled_back(tables: frozenset[TableName] | None, event: Event) -> RolledBackRows:
    text = event.body.query[:_MAX_STATEMENT].decode(errors="backslashreplace")
    return RolledBackRows(
        None if tables is None else tuple(sorted(tables)), f"the log has rows of it that were rolled back: {text}"
    )
