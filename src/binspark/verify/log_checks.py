"""All checks of one log, and which of them see an event."""

from __future__ import annotations

from binspark.event import Event, MariadbGtidEvent
from binspark.frames import ChecksumState, Frame
from binspark.transactions.byte_tables import IDENTIFYING_CODES
from binspark.verify.checks import Check, Fragments, Handler, LoadFiles, LogEnds, LogicalClock, LogKind
from binspark.verify.event_check import EventCheck
from binspark.verify.findings import Findings
from binspark.verify.gtids import MariadbGtids, MysqlGtids
from binspark.verify.sound_part import SoundPart
from binspark.verify.transactions import Transactions


class Checks:
    """All checks of one log, made when its first event has shown what kind of log it is."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        self.kind = kind
        self._events = EventCheck(kind, findings)
        self.ends = LogEnds(kind, findings)
        self.transactions = Transactions(kind, findings, self._complete)
        self.mysql_gtids = MysqlGtids(kind, findings)
        self.mariadb_gtids = MariadbGtids(kind, findings)
        self.clock = LogicalClock(kind, findings)
        self._all: tuple[Check, ...] = (
            self.ends,
            self.transactions,
            self.mysql_gtids,
            self.mariadb_gtids,
            self.clock,
            Fragments(kind, findings),
            LoadFiles(kind, findings),
        )
        self._handlers: dict[int, list[Handler]] = {}
        for check in self._all:
            for code, handler in check.handlers().items():
                self._handlers.setdefault(code, []).append(handler)

    def check(self, frame: Frame) -> None:
        """Check one event. The contents of a damaged event are ignored."""
        event = None if frame.checksum is ChecksumState.BAD else self._events.decode(frame)
        if event is None:
            self.damaged()
            return
        for handler in self._handlers.get(frame.type_code, ()):
            handler(event)

    @property
    def may_skip(self) -> bool:
        """Whether events that are sound may be skipped from here on."""
        # the first check is False after most events
        return self.transactions.may_skip and all(check.may_skip for check in self._all)

    def skip(self, part: SoundPart) -> bool:
        """Skip a part of the log whose events are sound; return False if a check would report something of it."""
        if not all(check.accepts(part) for check in self._all):
            return False
        for check in self._all:
            check.skip(part)
        return True

    def damaged(self) -> None:
        """Report to all checks that events before the next one are damaged or lost."""
        for check in self._all:
            check.damaged()

    def finish(self) -> None:
        """Report to all checks that the log ends."""
        for check in self._all:
            check.finish()

    def _complete(self, first: Event) -> None:
        if isinstance(first.body, MariadbGtidEvent):
            self.mariadb_gtids.complete(first)
        elif first.type_code in IDENTIFYING_CODES:
            self.mysql_gtids.complete(first)
