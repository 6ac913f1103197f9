"""The checks of each event by itself."""

from __future__ import annotations

from binspark.errors import DecodeError, Unsupported
from binspark.event import Event, EventDecoder, TransactionPayload, UnknownEvent, inner_events
from binspark.frames import ChecksumState, EventCode, Family, Frame, HeaderFlag, type_name
from binspark.frames.format import CHECKSUM_LENGTH
from binspark.verify.checks import LogKind
from binspark.verify.findings import Code, Findings, Severity

_U32 = 1 << 32


class EventCheck:
    """Decodes each frame, and checks the event by itself."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        self._findings = findings
        self._kind = kind
        self._decoder = EventDecoder(findings.file)
        self._position_before = 0

    def decode(self, frame: Frame) -> Event | None:
        """Return the event of a frame, or None if it does not decode."""
        self._check_position(frame)
        try:
            event = self._decoder.decode(frame)
        except DecodeError as error:
            self._report(error, Code.DECODE, frame)
            return None
        self._check_known(event, event.checksum)
        if type(event.body) is TransactionPayload:
            self._check_payload(event)
        return event

    def _check_position(self, frame: Frame) -> None:
        """Compare the next position with where the next event begins.

        It is 0 in the artificial events that a source sends to its replicas, and inside transactions of MariaDB servers
        that write events to a cache before their position in the log is known.
        """
        said = frame.header.next_position
        if said == frame.end_offset % _U32 or not self._kind.has_positions:
            return
        if said == 0 and (self._kind.family is Family.MARIADB or frame.header.flags & HeaderFlag.ARTIFICIAL):
            return
        if self._kind.has_relative_positions and self._is_relative(frame):
            return
        message = f"the next position in the header is {said}, expected {frame.end_offset}, where the event ends"
        self._findings.error(Code.POSITION, message, frame.offset, type_name(frame.type_code))

    def _is_relative(self, frame: Frame) -> bool:
        """Return whether a next position counts from the beginning of the transaction's cache.

        It is the size of the first event there, and continues the one before it in the others.
        """
        said, before = frame.header.next_position, self._position_before
        self._position_before = said
        return said in (len(frame.data), before + len(frame.data))

    def _check_known(self, event: Event, checksum: ChecksumState) -> None:
        """Report what is unknown: with a correct checksum it is of a later server, otherwise it may be damage."""
        if type(event.body) is UnknownEvent:
            self._report_unknown(event, checksum)
        if event.extra and not _is_known_extra(event):
            message = f"{len(event.extra)} unknown bytes after the last known field: 0x{event.extra[:16].hex()}"
            severity = Severity.INFO if checksum is ChecksumState.OK else Severity.WARNING
            self._findings.add(severity, Code.EXTRA_BYTES, message, event.offset, event.type)

    def _report_unknown(self, event: Event, checksum: ChecksumState) -> None:
        message = f"unknown event type {event.header.type_code}"
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


def _is_known_extra(event: Event) -> bool:
    """Return whether extra bytes are known ones.

    MySQL writes a second checksum after INCIDENT, one in its cache and one in the log. LOAD may have a zero byte after
    the name of its file.
    """
    if event.type_code == EventCode.LOAD:
        return event.extra == b"\0"
    return event.type_code == EventCode.INCIDENT and len(event.extra) == CHECKSUM_LENGTH
