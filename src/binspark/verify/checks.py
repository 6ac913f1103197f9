"""Things that are spread over several events: rows events in fragments, and the files of LOAD DATA."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from binspark.errors import DecodeError, Unsupported
from binspark.event import (
    Event,
    FormatDescription,
    PartialRowData,
    Rotate,
    TransactionPayload,
    UnknownEvent,
    decode_event,
    inner_events,
)
from binspark.frames import ChecksumState, EventCode, Family, Frame, HeaderFlag, type_name
from binspark.frames import EventCode as E
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.verify.findings import Code, Findings, Severity

Handler = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class LogKind:
    """What kind of log it is, as its first event tells.

    A relay log is a replica's copy of its source's log: positions, clock and the ends of files are the source's.
    """

    family: Family
    version: int
    relay: bool

    @classmethod
    def of(cls, first: Frame) -> LogKind:
        """Tell the kind of a log by its first event."""
        return cls(first.format.family, first.format.version, bool(first.header.flags & HeaderFlag.RELAY_LOG))


def route(handler: Handler, *type_codes: int) -> dict[int, Handler]:
    """Say that a handler looks at these types of events."""
    return dict.fromkeys(type_codes, handler)


class Check:
    """Looks at some types of events. `handlers` says which, by type code."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        self.kind = kind
        self.findings = findings

    def handlers(self) -> dict[int, Handler]:
        """Return who looks at which type of event."""
        raise NotImplementedError

    def damaged(self) -> None:
        """Take note that an event, or more, before the next one cannot be trusted."""

    def finish(self) -> None:
        """Take note that the log ends here."""


class LogicalClock(Check):
    """Checks `last_committed` and `sequence_number` of every transaction."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self._last = 0
        self._gap_expected = False

    def handlers(self) -> dict[int, Handler]:
        if self.kind.relay:
            return {}
        return route(self._tick, E.GTID, E.ANONYMOUS_GTID, E.GTID_TAGGED)

    def damaged(self) -> None:
        self._gap_expected = True

    def _tick(self, event: Event) -> None:
        number, depends_on = event.body.sequence_number, event.body.last_committed
        if not number:
            return
        if depends_on >= number:
            message = f"transaction {number} of the file is said to depend on {depends_on}, which is not before it"
            self.findings.error(Code.CLOCK_ORDER, message, event.offset, event.type)
        if number <= self._last:
            message = f"sequence number {number} comes after {self._last}"
            self.findings.error(Code.CLOCK_ORDER, message, event.offset, event.type)
        elif number != self._last + 1 and not self._gap_expected:
            message = f"sequence number {number} comes after {self._last}: {number - self._last - 1} are missing"
            self.findings.warning(Code.CLOCK_GAP, message, event.offset, event.type)
        self._last = number
        self._gap_expected = False


_U32 = 1 << 32
_CHECKSUM_LENGTH = 4


class Contents:
    """Decodes frames and reports what is wrong with them."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        self._findings = findings
        self._kind = kind
        self._has_positions = kind.version >= 4 and not kind.relay
        self._zero_allowed = kind.family is Family.MARIADB

    def decode(self, frame: Frame) -> Event | None:
        """Return the event of a frame, or None if it does not decode."""
        self._check_position(frame)
        try:
            event = decode_event(frame, self._findings.file)
        except DecodeError as error:
            self._report(error, Code.DECODE, frame)
            return None
        self._check_known(event, event.checksum)
        if type(event.body) is TransactionPayload:
            self._check_payload(event)
        return event

    def _check_position(self, frame: Frame) -> None:
        """Compare the next position with where the next event begins.

        It is 0 in events that a source made up for its replicas, and in those of MariaDB servers that write a
        transaction before they know where it will stand.
        """
        said = frame.header.next_position
        if not self._has_positions or said == frame.end_offset % _U32:
            return
        if said == 0 and (self._zero_allowed or frame.header.flags & HeaderFlag.ARTIFICIAL):
            return
        message = f"the next event is said to begin at {said}, it begins at {frame.end_offset}"
        self._findings.error(Code.POSITION, message, frame.offset, type_name(frame.type_code))

    def _check_known(self, event: Event, checksum: ChecksumState) -> None:
        """Report what is not known. Where a checksum holds, a later server wrote it; otherwise it may be damage."""
        if type(event.body) is UnknownEvent:
            self._report_unknown(event, checksum)
        if event.extra and not _is_second_checksum(event):
            message = f"{len(event.extra)} bytes at the end of the event are not known: 0x{event.extra[:16].hex()}"
            severity = Severity.INFO if checksum is ChecksumState.OK else Severity.WARNING
            self._findings.add(severity, Code.EXTRA_BYTES, message, event.offset, event.type)

    def _report_unknown(self, event: Event, checksum: ChecksumState) -> None:
        message = f"events of type {event.header.type_code} are not known"
        if event.header.flags & HeaderFlag.IGNORABLE:
            self._findings.info(Code.UNKNOWN_IGNORABLE_EVENT, message, event.offset, event.type)
            return
        severity = Severity.WARNING if checksum is ChecksumState.OK else Severity.ERROR
        self._findings.add(severity, Code.UNKNOWN_EVENT, message, event.offset, event.type)

    def _check_payload(self, event: Event) -> None:
        try:
            for inner in inner_events(event):
                self._check_known(inner, event.checksum)
        except DecodeError as error:
            self._report(error, Code.PAYLOAD, event.frame)

    def _report(self, error: DecodeError, code: Code, frame: Frame) -> None:
        if isinstance(error, Unsupported):
            self._findings.warning(Code.UNSUPPORTED, error.message, frame.offset, type_name(frame.type_code))
        else:
            self._findings.error(code, error.message, frame.offset, type_name(frame.type_code))


def _is_second_checksum(event: Event) -> bool:
    """MySQL ends an INCIDENT with two checksums: one made in its cache, one in the log."""
    return event.type_code == EventCode.INCIDENT and len(event.extra) == _CHECKSUM_LENGTH


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


class Fragments(Check):
    """MariaDB's PARTIAL_ROW_DATA: fragments 1 to n follow each other, with nothing between them."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self._last: Event | None = None
        self._may_miss = False

    def handlers(self) -> dict[int, Handler]:
        return {**route(self._other, *E), **route(self._fragment, E.PARTIAL_ROW_DATA)}

    def damaged(self) -> None:
        self._last = None
        self._may_miss = True

    def finish(self) -> None:
        self._expect(None)

    def _other(self, _event: Event) -> None:
        if self._last is not None:
            self._expect(None)

    def _fragment(self, event: Event) -> None:
        if not self._may_miss:
            self._expect(event)
        self._may_miss = False
        body: PartialRowData = event.body
        self._last = None if body.sequence_number >= body.total_fragments else event

    def _expect(self, event: Event | None) -> None:
        """Compare the next fragment, or that there is none, with what the last one asks for."""
        last, self._last = self._last, None
        wanted = (last.body.total_fragments, last.body.sequence_number + 1) if last else None
        found = (event.body.total_fragments, event.body.sequence_number) if event else None
        if found == wanted or (wanted is None and found is not None and found[1] == 1):
            return
        place = event or last
        assert place is not None
        message = f"expected {_name(wanted)} of a rows event, found {_name(found)}"
        self.findings.error(Code.FRAGMENTS, message, place.offset, place.type)


def _name(fragment: tuple[int, int] | None) -> str:
    return f"fragment {fragment[1]} of {fragment[0]}" if fragment else "no fragment"


class LoadFiles(Check):
    """The files of LOAD DATA: a first block, more blocks, and then the statement that loads or forgets the file.

    Old servers wrote them outside of transactions, so that a rotation could come between: the rest may stand in the
    file before or after.
    """

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        super().__init__(kind, findings)
        self._begun: dict[int, tuple[int, str]] = {}
        self._may_miss = False

    def handlers(self) -> dict[int, Handler]:
        return {
            **route(self._begin, E.BEGIN_LOAD_QUERY, E.CREATE_FILE),
            **route(self._append, E.APPEND_BLOCK),
            **route(self._end, E.EXECUTE_LOAD_QUERY, E.EXEC_LOAD, E.DELETE_FILE),
        }

    def damaged(self) -> None:
        self._may_miss = True

    def finish(self) -> None:
        for file_id, (offset, event_type) in self._begun.items():
            message = f"file {file_id} of LOAD DATA begins here, and is neither loaded nor deleted in this log"
            self.findings.warning(Code.LOAD_FILE, message, offset, event_type)

    def _begin(self, event: Event) -> None:
        self._begun[event.body.file_id] = (event.offset, event.type)

    def _append(self, event: Event) -> None:
        if event.body.file_id not in self._begun and not self._may_miss:
            self._report_unknown(event)

    def _end(self, event: Event) -> None:
        if self._begun.pop(event.body.file_id, None) is None and not self._may_miss:
            self._report_unknown(event)

    def _report_unknown(self, event: Event) -> None:
        message = f"file {event.body.file_id} of LOAD DATA does not begin in this log"
        self.findings.warning(Code.LOAD_FILE, message, event.offset, event.type)
