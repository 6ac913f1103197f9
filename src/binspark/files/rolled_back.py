"""Which rows of logs were rolled back, by the statements in them and the bytes of their transactions."""

from __future__ import annotations

from collections.abc import Sequence

from binspark.columns.starts import LogBytes
from binspark.event import Event, EventDecoder
from binspark.files.header_scan import HeaderScanner, open_scanner
from binspark.files.splits import PlannedLog
from binspark.frames import Framer
from binspark.frames.header import HEADER, HEADER_LENGTH, Header
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.kernels.walk import Look
from binspark.schema.changes import RolledBackRows
from binspark.schema.history import is_rollback
from binspark.schema.table import TableName
from binspark.transactions.rollbacks import RollbackFollower, is_followed

_FIRST_WINDOW = 1 << 16


def rolled_back_rows(
    log: PlannedLog, statements: Sequence[Event], follower: RollbackFollower
) -> dict[int, RolledBackRows]:
    """Return what the statements of a log roll back, by their offsets. A log is opened only if one of them may.

    In a log that has to be read from its beginning, tables are not searched for.
    """
    followed = [event for event in statements if is_followed(event)]
    if not followed:
        return {}
    if not log.can_split:
        unknown = RolledBackRows(None, f"{log.name} has rows that were rolled back")
        return {event.offset: unknown for event in followed if is_rollback(event.body)}
    with open_scanner(log) as scanner:
        transactions = _Transactions(scanner)
        found = ((event.offset, follower.feed(event, transactions)) for event in followed)
        return {offset: change for offset, change in found if change is not None}


class _Transactions:
    """The transactions of an open log, for `RollbackFollower`."""

    def __init__(self, scanner: HeaderScanner) -> None:
        self._scanner = scanner
        self._bytes = LogBytes(scanner.file.read_at, scanner.log.size, scanner.head.format)

    def transaction_start(self, offset: int) -> int:
        """Return where the transaction of the event at an offset begins: the last one that begins before it."""
        window, first = _FIRST_WINDOW, offset
        while first > FIRST_EVENT_OFFSET:
            first = max(FIRST_EVENT_OFFSET, offset - window)
            last, at = None, self._bytes.find_start(first, offset)
            while at is not None:
                last, at = at, self._bytes.find_start(at + 1, offset)
            if last is not None:
                return last
            window *= 4
        return FIRST_EVENT_OFFSET

    def tables_between(self, begin: int, end: int) -> frozenset[TableName]:
        """Return the tables of the TABLE_MAPs between two offsets, at each of which an event begins."""
        maps = self._scanner.events(Look.TABLE_MAPS, begin, end)
        return frozenset(TableName(event.body.schema, event.body.table) for event in maps)

    def event_at(self, offset: int) -> Event | None:
        """Return the event at an offset, None if the log ends there."""
        read_at = self._scanner.file.read_at
        if offset + HEADER_LENGTH > self._scanner.log.size:
            return None
        header = Header._make(HEADER.struct.unpack(read_at(offset, HEADER_LENGTH)))
        frame = next(Framer(self._scanner.head.format, offset).feed(read_at(offset, header.event_size)), None)
        return None if frame is None else EventDecoder(self._scanner.log.name).decode(frame)
