"""Scan a log for verify: every frame that can be read, and a finding for everything that cannot."""

from __future__ import annotations

from collections.abc import Iterator

from binspark.files.frame_scan import Cause, FrameScanner, Hole, Skip
from binspark.files.storage.store import LogFile
from binspark.frames import ChecksumState, Frame, type_name
from binspark.frames.checksum import checksum_mismatch
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.verify.findings import Code, Findings

_CODES = {
    Cause.BAD_MAGIC: Code.BAD_MAGIC,
    Cause.NOT_A_LOG: Code.NOT_A_LOG,
    Cause.ENCRYPTED: Code.ENCRYPTED,
    Cause.TRUNCATED: Code.TRUNCATED,
    Cause.JOINED: Code.AFTER_END,
}


class LogScan:
    """Scans one log.

    sound_bytes   how many bytes come before the first damage; None as long as there is none
    tail_lost     whether the end of the log could not be read
    """

    def __init__(self, log: LogFile, findings: Findings, skip: Skip | None = None) -> None:
        self.tail_lost = False
        self.sound_bytes: int | None = None
        self._log = log
        self._findings = findings
        self._scanner = FrameScanner(log, skip)

    @property
    def relay(self) -> bool:
        """Whether this is a relay log, known after its first event."""
        return self._scanner.relay

    def items(self) -> Iterator[Frame | Hole]:
        """Yield every event that can be read, and every hole between them."""
        bad = ChecksumState.BAD
        for item in self._scanner.scan():
            if isinstance(item, Hole):
                self._report_hole(item)
            elif item.checksum is bad:
                self._report_checksum(item)
            yield item

    def _report_checksum(self, frame: Frame) -> None:
        name = type_name(frame.type_code)
        self._report(Code.CHECKSUM, checksum_mismatch(frame.data, name).message, frame.offset, name)

    def _report_hole(self, hole: Hole) -> None:
        self.tail_lost = hole.end == self._log.size
        self._report(*self._described(hole), hole.start)

    def _described(self, hole: Hole) -> tuple[Code, str]:
        message, size = hole.error.message, hole.end - hole.start
        if hole.cause is Cause.DAMAGED:
            if hole.end == self._log.size:
                return Code.UNREADABLE_TAIL, f"the last {size} bytes cannot be read: {message}"
            code = Code.HOLE if hole.start > FIRST_EVENT_OFFSET else Code.BAD_FORMAT
            return code, f"{size} bytes ({hole.start} to {hole.end}) cannot be read: {message}"
        if hole.cause is Cause.TRUNCATED and hole.start > FIRST_EVENT_OFFSET:
            message = f"{message}; cut to {hole.start} bytes, the log ends with a complete event"
        return _CODES[hole.cause], message

    def _report(self, code: Code, message: str, offset: int, event: str | None = None) -> None:
        self._findings.error(code, message, offset, event)
        self.sound_bytes = offset if self.sound_bytes is None else min(offset, self.sound_bytes)
