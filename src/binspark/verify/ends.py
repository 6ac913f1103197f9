"""How a log begins and ends: marked as in use, after a start of the server or a rotation, with ROTATE or STOP."""

from __future__ import annotations

from binspark.event import Event, FormatDescription, Rotate
from binspark.frames import EventCode as E
from binspark.frames import HeaderFlag
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.verify.check import Check, Handler, LogKind, route
from binspark.verify.codes import Code
from binspark.verify.finding import Findings


class Ends(Check):
    """Remembers the first and the last events.

    in_use          the server had not closed the log
    after_start     the server began the log when it started, not by a rotation
    ended           the log ends with ROTATE or STOP
    end_lost        the last event is damaged, so that nobody knows whether it ended the log
    rotate          the ROTATE that ends it
    """

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self.in_use = False
        self.after_start = False
        self.ended = False
        self.end_lost = False
        self.rotate: Rotate | None = None
        self.end_offset = 0

    def handlers(self) -> dict[int, Handler]:
        return {
            **route(self._follow, *E),
            **route(self._describe, E.FORMAT_DESCRIPTION),
            **route(self._rotate, E.ROTATE),
            **route(self._stop, E.STOP),
            **route(self._incident, E.INCIDENT),
        }

    def damaged(self) -> None:
        self.end_lost = True

    def _describe(self, event: Event) -> None:
        self._follow(event)
        if event.offset == FIRST_EVENT_OFFSET:
            body: FormatDescription = event.body
            self.in_use = bool(event.header.flags & HeaderFlag.BINLOG_IN_USE)
            self.after_start = body.create_timestamp != 0

    def _rotate(self, event: Event) -> None:
        """A relay log holds its source's rotations too; only its own ones end it."""
        self._follow(event)
        own = bool(event.header.flags & HeaderFlag.RELAY_LOG) if self.kind.relay else not event.artificial
        if not own:
            return
        self.ended, self.rotate, self.end_offset = True, event.body, event.offset
        if event.body.position != FIRST_EVENT_OFFSET:
            message = (
                f"the next file is said to begin at position {event.body.position}, files begin at {FIRST_EVENT_OFFSET}"
            )
            self.findings.error(Code.ROTATE_POSITION, message, event.offset, event.type)

    def _stop(self, event: Event) -> None:
        self._follow(event)
        self.ended, self.end_offset = True, event.offset

    def _incident(self, event: Event) -> None:
        self._follow(event)
        message = f"the server lost events: {event.body.message or 'it does not say why'}"
        self.findings.error(Code.INCIDENT, message, event.offset, event.type)

    def _follow(self, event: Event) -> None:
        self.end_lost = False
        if self.ended and not self.kind.relay:
            message = f"{event.type} follows the event that ended the log, at {self.end_offset}"
            self.findings.error(Code.AFTER_END, message, event.offset, event.type)
            self.ended, self.rotate = False, None
