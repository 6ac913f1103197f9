"""Verify one file by itself: read it past all damage, and apply every check to its events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from binspark.errors import DecodeError, Encrypted, SourceError
from binspark.files.frame_scan import Hole, open_seekable
from binspark.files.sources import LogSource
from binspark.files.storage.store import LogFile
from binspark.frames import ChecksumAlgorithm, ChecksumState, Frame, LogFormat
from binspark.gtid import MariadbState
from binspark.os_errors import describe_os_error
from binspark.verify.checks import LogKind
from binspark.verify.findings import DEFAULT_LIMIT, Code, Findings, Severity
from binspark.verify.log_checks import Checks
from binspark.verify.report import FileReport
from binspark.verify.scan import LogScan

if TYPE_CHECKING:
    from binspark.verify.sound import SoundSkipper


@dataclass(frozen=True, slots=True)
class ChainFile:
    """A file, the name of the chain to which it belongs, and its number in it; None if its name has no number."""

    source: LogSource
    chain: str
    number: int | None

    @property
    def name(self) -> str:
        """The path or URI."""
        return self.source.name

    @property
    def base_name(self) -> str:
        """The name without the directory."""
        return Path(self.name).name

    @property
    def missing(self) -> bool:
        """Whether the file does not exist: an index may list such files."""
        return not self.source.exists()

    def numbered(self, number: int) -> str:
        """Return the name of the file with another number in this chain."""
        digits = len(self.name.rpartition(".")[2])
        return f"{Path(self.chain).name}.{number:0{digits}}"


_BULK_BYTES = 1 << 20
_COMPILING_BYTES = 1 << 24


def pays_in_bulk(size: int) -> bool:
    """Return whether loading kernels, or even compiling them, takes less time than they save in logs of a size."""
    if size < _BULK_BYTES or size >= _COMPILING_BYTES:
        return size >= _COMPILING_BYTES
    from binspark.verify.sound import is_compiled

    return is_compiled()


class FileCheck:
    """The verification of one file: what was read, and the findings.

    With `in_bulk`, events that are sound are skipped, which takes kernels; None does so if the file is large. The
    report is the same.
    """

    def __init__(self, file: ChainFile, limit: int = DEFAULT_LIMIT, *, in_bulk: bool | None = None) -> None:
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
        self._in_bulk = in_bulk
        self._skipper: SoundSkipper | None = None

    def run(self) -> None:
        """Read the file from its beginning to its end."""
        try:
            if self.file.missing:
                self.findings.error(Code.MISSING_FILE, "the index lists the file, but it does not exist")
                self.tail_lost = True
                return
            self._read()
        except Encrypted as error:
            self.findings.error(Code.ENCRYPTED, error.message)
            self.tail_lost = True
        except (SourceError, DecodeError) as error:  # of a decompressor: what it gives cannot be decoded further
            self._unreadable(error.message)
        except OSError as error:
            self._unreadable(describe_os_error(error))

    def report(self) -> FileReport:
        """Return the report, which includes findings about the chain that were added after `run`."""
        findings = self.findings
        kept = tuple(sorted(findings.kept, key=lambda finding: finding.position.offset or 0))
        severities = findings.by_severity
        return FileReport(
            file=self.file.name,
            bytes=self._bytes,
            sound_bytes=self._sound_bytes,
            events=self._events,
            transactions=self.checks.transactions.count if self.checks else 0,
            server_version=self.format.server_version if self.format else None,
            server_id=self.server_id,
            checksum=self.format.checksum.name.lower() if self.format else None,
            first_time=self._first_time,
            last_time=self._last_time,
            gtids_before=self.gtids_before(),
            gtids=self._gtids(),
            findings=kept,
            omitted=findings.omitted(),
            errors=severities[Severity.ERROR],
            warnings=severities[Severity.WARNING],
        )

    def _read(self) -> None:
        with open_seekable(self.file.source) as log:
            in_bulk = pays_in_bulk(log.size) if self._in_bulk is None else self._in_bulk
            scanner = LogScan(log, self.findings, partial(self._skip, log) if in_bulk else None)
            self._bytes = log.size
            for item in scanner.items():
                if isinstance(item, Hole):
                    self._note_damage()
                else:
                    self._take(item, self.checks or self._begin(item, relay=scanner.relay))
            self._sound_bytes = log.size if scanner.sound_bytes is None else scanner.sound_bytes
            self.tail_lost = scanner.tail_lost
        if self.tail_lost:
            self._note_damage()
        if self.checks:
            self.checks.finish()

    def _note_damage(self) -> None:
        if self.checks:
            self.checks.damaged()

    def _take(self, frame: Frame, checks: Checks) -> None:
        self._events += 1
        timestamp = frame.header.timestamp
        if timestamp != self._last_time and timestamp and frame.checksum is not ChecksumState.BAD:
            self._note_times(timestamp, timestamp)
        checks.check(frame)

    def _note_times(self, first: int, last: int) -> None:
        self._first_time = first if self._first_time is None else min(first, self._first_time)
        self._last_time = last if self._last_time is None else max(last, self._last_time)

    def _skip(self, log: LogFile, offset: int, log_format: LogFormat) -> int:
        """Skip what is sound from an offset on; return where it ends."""
        if self.checks is None or not self.checks.may_skip:
            return offset
        if self._skipper is None or self._skipper.format is not log_format:
            from binspark.verify.sound import SoundSkipper

            self._skipper = SoundSkipper(log, self.checks, log_format)
        for part in self._skipper.parts(offset):
            self._events += part.events
            if part.first_time:
                self._note_times(part.first_time, part.last_time)
            offset = part.end
        return offset

    def _begin(self, first: Frame, *, relay: bool) -> Checks:
        self.checks = Checks(LogKind.of(first, relay=relay), self.findings)
        self.format, self.server_id = first.format, first.header.server_id
        if first.format.checksum is not ChecksumAlgorithm.CRC32:
            self.findings.info(Code.NO_CHECKSUMS, "the events of this log have no checksums", first.offset)
        return self.checks

    def _unreadable(self, reason: str) -> None:
        self.findings.error(Code.UNREADABLE, reason)
        self.tail_lost = True

    def gtids_before(self) -> str:
        """Return the transactions of earlier files, as this one lists them; an empty text if it lists none."""
        if self.checks is None:
            return ""
        previous, listed = self.checks.mysql_gtids.previous, self.checks.mariadb_gtids.listed
        return str(previous) if previous else str(MariadbState.of((listed or {}).values()))

    def _gtids(self) -> str:
        if self.checks is None:
            return ""
        mysql, mariadb = self.checks.mysql_gtids.collected(), self.checks.mariadb_gtids.collected
        return str(mysql) if mysql else str(MariadbState.of(mariadb.values()))
