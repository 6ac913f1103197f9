"""The checks of one log: sequences of events other than transactions and GTIDs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from binspark.event import (
    Event,
    FormatDescription,
    PartialRowData,
    Rotate,
)
from binspark.frames import EventCode as E
from binspark.frames import Family, Frame, HeaderFlag
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.verify.findings import Code, Findings
from binspark.verify.sound_part import SoundPart

Handler = Callable[[Event], None]

# The first version of MySQL that writes positions in the log to all headers. Before, events that a transaction had kept
# in its cache were written with their positions in the cache: up to 5.0.46 and 5.1.17, as far as logs show.
_ABSOLUTE_POSITIONS_SINCE = (5, 3, 0)


@dataclass(frozen=True, slots=True)
class LogKind:
    """What kind of log it is, according to its first event.

    A relay log is a replica's copy of its source's log, with the positions, logical clock and rotations of the source.

    has_positions           whether each header contains where the next event begins in this file
    has_relative_positions  whether headers inside a transaction may contain it relative to the transaction's cache
    has_in_use              whether the server marks the log as in use while it writes it
    """

    family: Family
    relay: bool
    has_positions: bool
    has_relative_positions: bool
    has_in_use: bool

    @classmethod
    def of(cls, first: Frame, *, relay: bool) -> LogKind:
        """Return the kind of the log that begins with this event."""
        log_format = first.format
        is_early = log_format.is_v4 and log_format.server_version_numbers < _ABSOLUTE_POSITIONS_SINCE
        return cls(
            log_format.family,
            relay,
            has_positions=log_format.is_v4 and not relay,
            has_relative_positions=is_early,
            has_in_use=log_format.is_v4,
        )


def route(handler: Handler, *type_codes: int) -> dict[int, Handler]:
    """Register one handler for several event types."""
    return dict.fromkeys(type_codes, handler)


class Check:
    """A check of some types of events."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        self.kind = kind
        self.findings = findings

    def handlers(self) -> dict[int, Handler]:
        """Return the function to call for each event type."""
        raise NotImplementedError

    @property
    def may_skip(self) -> bool:
        """Whether events that are sound may be skipped from here on: nothing is in progress or expected."""
        return True

    def accepts(self, _part: SoundPart, /) -> bool:
        """Return whether this check would report nothing of a part of the log whose events are sound."""
        return True

    def skip(self, _part: SoundPart, /) -> None:
        """Note the events of a part that all checks accept."""

    def damaged(self) -> None:
        """Note that one or more events before the next one are damaged or lost."""

    def finish(self) -> None:
        """Note that the log ends here."""


class LogicalClock(Check):
    """Checks `last_committed` and `sequence_number` of every transaction.

    last          the last sequence_number
    gap_expected  whether any greater one may follow, because transactions before it are damaged or lost
    """

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self.last = 0
        self.gap_expected = False

    def handlers(self) -> dict[int, Handler]:
        """Return handlers of events that begin transactions of MySQL; relay logs have the clock of their source."""
        if self.kind.relay:
            return {}
        return route(self._tick, E.GTID, E.ANONYMOUS_GTID, E.GTID_TAGGED)

    def damaged(self) -> None:
        """Expect a gap in the sequence."""
        self.gap_expected = True

    def skip(self, part: SoundPart, /) -> None:
        """Continue with the clock after a part."""
        self.last, self.gap_expected = part.last_sequence_number, part.gap_expected

    def _tick(self, event: Event) -> None:
        number, depends_on = event.body.sequence_number, event.body.last_committed
        if not number:
            return
        if depends_on >= number:
            message = f"last_committed is {depends_on}, expected less than sequence_number {number}"
            self.findings.error(Code.CLOCK_ORDER, message, event.offset, event.type)
        if number <= self.last:
            message = f"sequence_number {number} follows {self.last}, expected a greater one"
            self.findings.error(Code.CLOCK_ORDER, message, event.offset, event.type)
        elif number != self.last + 1 and not self.gap_expected:
            missing = number - self.last - 1
            message = f"sequence_number {number} follows {self.last}: {missing} transactions are missing"
            self.findings.warning(Code.CLOCK_GAP, message, event.offset, event.type)
        self.last = number
        self.gap_expected = False


class LogEnds(Check):
    """Checks how a log begins and ends.

    in_use       whether the log is marked as in use: the server has not closed it
    after_start  whether the server began the log when it started, not by a rotation
    ended        whether the log ends with ROTATE or STOP
    end_lost     whether the last event is damaged, so that it is unknown how the log ends
    rotate       the ROTATE that ends the log
    end_offset   the offset of the ROTATE or STOP that ends the log
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
        """Return handlers of every event, because none may follow the end."""
        return {
            **route(self._follow, *E),
            **route(self._describe, E.FORMAT_DESCRIPTION),
            **route(self._rotate, E.ROTATE),
            **route(self._stop, E.STOP),
            **route(self._incident, E.INCIDENT),
        }

    @property
    def may_skip(self) -> bool:
        """Whether the log has not ended."""
        return not self.ended

    def skip(self, _part: SoundPart, /) -> None:
        """Note that events follow."""
        self.end_lost = False

    def damaged(self) -> None:
        """Note that the end may be lost."""
        self.end_lost = True

    def _describe(self, event: Event) -> None:
        self._follow(event)
        if event.offset == FIRST_EVENT_OFFSET:
            body: FormatDescription = event.body
            self.in_use = bool(event.header.flags & HeaderFlag.BINLOG_IN_USE)
            self.after_start = body.create_timestamp != 0

    def _rotate(self, event: Event) -> None:
        """Note the end of the log. A relay log has the rotations of its source, too, which do not end it."""
        self._follow(event)
        own = bool(event.header.flags & HeaderFlag.RELAY_LOG) if self.kind.relay else not event.artificial
        if not own:
            return
        self.ended, self.rotate, self.end_offset = True, event.body, event.offset
        if event.body.position != FIRST_EVENT_OFFSET:
            message = f"ROTATE names position {event.body.position} of the next file, expected {FIRST_EVENT_OFFSET}"
            self.findings.error(Code.ROTATE_POSITION, message, event.offset, event.type)

    def _stop(self, event: Event) -> None:
        self._follow(event)
        self.ended, self.end_offset = True, event.offset

    def _incident(self, event: Event) -> None:
        self._follow(event)
        message = f"the server lost events: {event.body.message or 'no reason given'}"
        self.findings.error(Code.INCIDENT, message, event.offset, event.type)

    def _follow(self, event: Event) -> None:
        self.end_lost = False
        if self.ended and not self.kind.relay:
            message = f"{event.type} follows, although the log ends with the ROTATE or STOP at {self.end_offset}"
            self.findings.error(Code.AFTER_END, message, event.offset, event.type)
            self.ended, self.rotate = False, None


class Fragments(Check):
    """Checks MariaDB's PARTIAL_ROW_DATA: fragments 1 to n of a rows event follow each other directly."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self._last: Event | None = None
        self._after_damage = False

    def handlers(self) -> dict[int, Handler]:
        """Return handlers of every event, because none may come between two fragments."""
        return {**route(self._other, *E), **route(self._fragment, E.PARTIAL_ROW_DATA)}

    @property
    def may_skip(self) -> bool:
        """Whether no fragment is expected."""
        return self._last is None

    def damaged(self) -> None:
        """Accept any fragment as the next one."""
        self._last = None
        self._after_damage = True

    def finish(self) -> None:
        """Report fragments that are missing at the end."""
        self._expect(None)

    def _other(self, _event: Event) -> None:
        if self._last is not None:
            self._expect(None)

    def _fragment(self, event: Event) -> None:
        if not self._after_damage:
            self._expect(event)
        self._after_damage = False
        body: PartialRowData = event.body
        self._last = None if body.sequence_number >= body.total_fragments else event

    def _expect(self, event: Event | None) -> None:
        """Compare the next fragment, None if there is none, with the one that must follow the last."""
        last, self._last = self._last, None
        expected = (last.body.total_fragments, last.body.sequence_number + 1) if last else None
        found = (event.body.total_fragments, event.body.sequence_number) if event else None
        if found == expected or (expected is None and found is not None and found[1] == 1):
            return
        at = event or last
        assert at is not None
        message = f"expected {_name(expected)} of a rows event, found {_name(found)}"
        self.findings.error(Code.FRAGMENTS, message, at.offset, at.type)


def _name(fragment: tuple[int, int] | None) -> str:
    return f"fragment {fragment[1]} of {fragment[0]}" if fragment else "no fragment"


class LoadFiles(Check):
    """Checks the files of LOAD DATA: a first block, more blocks, then the event that loads or deletes the file.

    Old servers wrote them outside of transactions, so that a rotation could come between them: the rest may be in the
    log before or after.
    """

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self._begun: dict[int, tuple[int, str]] = {}
        self._after_damage = False

    def handlers(self) -> dict[int, Handler]:
        """Return handlers of the events that contain blocks of files, load or delete them."""
        return {
            **route(self._begin, E.BEGIN_LOAD_QUERY, E.CREATE_FILE),
            **route(self._append, E.APPEND_BLOCK),
            **route(self._end, E.EXECUTE_LOAD_QUERY, E.EXEC_LOAD, E.DELETE_FILE),
        }

    def damaged(self) -> None:
        """Accept blocks whose beginning may be lost."""
        self._after_damage = True

    def finish(self) -> None:
        """Report files that are neither loaded nor deleted."""
        for file_id, (offset, event_type) in self._begun.items():
            message = f"the LOAD DATA file with id {file_id} begins here, but is neither loaded nor deleted in this log"
            self.findings.warning(Code.LOAD_FILE, message, offset, event_type)

    def _begin(self, event: Event) -> None:
        self._begun[event.body.file_id] = (event.offset, event.type)

    def _append(self, event: Event) -> None:
        if event.body.file_id not in self._begun and not self._after_damage:
            self._report_no_begin(event)

    def _end(self, event: Event) -> None:
        if self._begun.pop(event.body.file_id, None) is None and not self._after_damage:
            self._report_no_begin(event)

    def _report_no_begin(self, event: Event) -> None:
        message = f"the LOAD DATA file with id {event.body.file_id} does not begin in this log"
        self.findings.warning(Code.LOAD_FILE, message, event.offset, event.type)
