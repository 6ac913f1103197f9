"""`--require-row-format`: events that a log in row format does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binspark.dump.mysql.statements import ends_group, starts_group
from binspark.errors import Unsupported
from binspark.frames import EventCode

if TYPE_CHECKING:
    from binspark.event import Event, Query

_OF_STATEMENTS = frozenset(
    {
        EventCode.INTVAR,
        EventCode.RAND,
        EventCode.USER_VAR,
        EventCode.BEGIN_LOAD_QUERY,
        EventCode.APPEND_BLOCK,
        EventCode.DELETE_FILE,
        EventCode.EXECUTE_LOAD_QUERY,
    }
)
_TEMPORARY_TABLES = (b"CREATE TEMPORARY TABLE", b"DROP TEMPORARY TABLE")
_IN_TRANSACTION = (b"SAVEPOINT", b"XA END", b"XA PREPARE", b"CREATE TABLE")
_MAX_KEYWORDS = 22


class RowFormatCheck:
    """Follows transactions, in which a log in row format has no statements but those that control them."""

    def __init__(self) -> None:
        self._in_transaction = False

    def check(self, event: Event) -> None:
        """Raise `Unsupported` for an event that was not logged in row format."""
        if event.type_code in _OF_STATEMENTS:
            raise _violation(event)
        if event.type_code in (EventCode.XID, EventCode.XA_PREPARE):
            self._in_transaction = False
        if event.type_code == EventCode.QUERY:
            self._check_query(event)

    def _check_query(self, event: Event) -> None:
        query: Query = event.body
        start = query.query[:_MAX_KEYWORDS].upper()
        starts, ends = starts_group(query.query), ends_group(query.query)
        is_control = starts or ends or start.startswith(_IN_TRANSACTION)
        if start.startswith(_TEMPORARY_TABLES) or (self._in_transaction and not is_control):
            raise _violation(event)
        self._in_transaction = (self._in_transaction or starts) and not ends


def _violation(event: Event) -> Unsupported:
    return Unsupported("the event was not logged in row format, which --require-row-format asks for", event.position)
