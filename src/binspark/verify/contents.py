"""What single events say: their positions, whether they decode, whether binspark knows all of them."""

from __future__ import annotations

from binspark.errors import DecodeError, Unsupported
from binspark.event import Event, TransactionPayload, UnknownEvent, decode_event, inner_events
from binspark.frames import ChecksumState, EventCode, Family, Frame, HeaderFlag, type_name
from binspark.verify.check import LogKind
from binspark.verify.codes import Code
from binspark.verify.finding import Findings, Severity

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
