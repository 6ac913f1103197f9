"""Verify one file by itself: read it past all damage, and let every check look at its events."""

from __future__ import annotations

from binspark.errors import SourceError
from binspark.event import Event, MariadbGtidEvent
from binspark.frames import ChecksumAlgorithm, ChecksumState, Frame, LogFormat
from binspark.gtid import MariadbState
from binspark.transactions.byte_tables import IDENTIFYING_CODES
from binspark.verify.chain_files import ChainFile
from binspark.verify.checks import Check, Contents, Ends, Fragments, Handler, LoadFiles, LogicalClock, LogKind
from binspark.verify.findings import DEFAULT_LIMIT, Code, Findings, Severity
from binspark.verify.groups import Groups
from binspark.verify.mariadb_gtids import MariadbGtids
from binspark.verify.mysql_gtids import MysqlGtids
from binspark.verify.report import FileReport
from binspark.verify.scan import Lost, Scanner, open_log


class Checks:
    """All checks of one log; made when its first event tells what kind of log it is."""

    def __init__(self, kind: LogKind, findings: Findings) -> None:
        self.kind = kind
        self.contents = Contents(kind, findings)
        self.ends = Ends(kind, findings)
        self.groups = Groups(kind, findings, self._complete)
        self.mysql_gtids = MysqlGtids(kind, findings)
        self.mariadb_gtids = MariadbGtids(kind, findings)
        self._all: tuple[Check, ...] = (
            self.ends,
            self.groups,
            self.mysql_gtids,
            self.mariadb_gtids,
            LogicalClock(kind, findings),
            Fragments(kind, findings),
            LoadFiles(kind, findings),
        )
        self._handlers: dict[int, list[Handler]] = {}
        for check in self._all:
            for code, handler in check.handlers().items():
                self._handlers.setdefault(code, []).append(handler)

    def look_at(self, frame: Frame) -> None:
        """Check one event. What a damaged event says is not believed."""
        event = None if frame.checksum is ChecksumState.BAD else self.contents.decode(frame)
        if event is None:
            self.damaged()
            return
        for handler in self._handlers.get(frame.type_code, ()):
            handler(event)

    def damaged(self) -> None:
        """Tell all checks that something before the next event is not known."""
        for check in self._all:
            check.damaged()

    def finish(self) -> None:
        """Tell all checks that the log ends."""
        for check in self._all:
            check.finish()

    def _complete(self, first: Event) -> None:
        if isinstance(first.body, MariadbGtidEvent):
            self.mariadb_gtids.complete(first)
        elif first.type_code in IDENTIFYING_CODES:
            self.mysql_gtids.complete(first)


class FileCheck:
    """One file: what was read of it, and what was found."""

    def __init__(self, file: ChainFile, limit: int = DEFAULT_LIMIT) -> None:
        self.file = file
        self.findings = Findings(file.name, limit)
        self.checks: Checks | None = None
        self.format: LogFormat | None = None
        self.server_id: int | None = None
        self.tail_lost = False
        self._bytes = 0
        self._sound_bytes = 0
        self._events = 0
        self._first_time: int | None = None
        self._last_time: int | None = None

    def run(self) -> None:
        """Read the file from its beginning to its end."""
        try:
            if self.file.missing:
                self.findings.error(Code.MISSING_FILE, "the index lists the file, but it is not there")
                self.tail_lost = True
                return
            self._read()
        except SourceError as error:
            self._unreadable(error.message)
        except OSError as error:
            self._unreadable(error.strerror or str(error))

    def report(self) -> FileReport:
        """Return the report as it is now; findings about the chain may have been added."""
        findings = self.findings
        kept = tuple(sorted(findings.kept, key=lambda finding: finding.position.offset or 0))
        severities = findings.by_severity
        return FileReport(
            file=self.file.name,
            bytes=self._bytes,
            sound_bytes=self._sound_bytes,
            events=self._events,
            transactions=self.checks.groups.transactions if self.checks else 0,
            server_version=self.format.server_version if self.format else None,
            server_id=self.server_id,
            checksum=self.format.checksum.name.lower() if self.format else None,
            first_time=self._first_time,
            last_time=self._last_time,
            gtids=self._gtids(),
            findings=kept,
            omitted=findings.omitted(),
            errors=severities[Severity.ERROR],
            warnings=severities[Severity.WARNING],
        )

    def _read(self) -> None:
        with open_log(self.file.source) as log:
            scanner = Scanner(log, self.findings)
            self._bytes = log.size
            for piece in scanner.pieces():
                self._take(piece)
            self._sound_bytes = log.size if scanner.sound_bytes is None else scanner.sound_bytes
            self.tail_lost = scanner.tail_lost
        if self.checks and self.tail_lost:
            self.checks.damaged()
        if self.checks:
            self.checks.finish()

    def _take(self, piece: Frame | Lost) -> None:
        if isinstance(piece, Lost):
            if self.checks:
                self.checks.damaged()
            return
        checks = self.checks or self._begin(piece)
        self._events += 1
        timestamp = piece.header.timestamp
        if timestamp and piece.checksum is not ChecksumState.BAD:
            self._first_time = timestamp if self._first_time is None else min(timestamp, self._first_time)
            self._last_time = timestamp if self._last_time is None else max(timestamp, self._last_time)
        checks.look_at(piece)

    def _begin(self, first: Frame) -> Checks:
        self.checks = Checks(LogKind.of(first), self.findings)
        self.format, self.server_id = first.format, first.header.server_id
        if first.format.checksum is not ChecksumAlgorithm.CRC32:
            self.findings.info(Code.NO_CHECKSUMS, "the events have no checksums", first.offset)
        return self.checks

    def _unreadable(self, reason: str) -> None:
        self.findings.error(Code.UNREADABLE, reason)
        self.tail_lost = True

    def _gtids(self) -> str:
        if self.checks is None:
            return ""
        mysql, mariadb = self.checks.mysql_gtids.collected(), self.checks.mariadb_gtids.collected
        return str(mysql) if mysql else str(MariadbState.of(mariadb.values()))
