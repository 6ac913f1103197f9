"""The result of verify: a report for each file, and a summary of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from binspark.files.sources import log_order
from binspark.verify.findings import Finding


class Verdict(StrEnum):
    """The result for one file: no finding, only warnings, or errors."""

    INTACT = "intact"
    DOUBTFUL = "doubtful"
    NOT_INTACT = "not intact"


@dataclass(frozen=True, slots=True)
class FileReport:
    """The report about one file.

    sound_bytes  how many bytes come before the first damage
    checksum     the algorithm of the events' checksums: "crc32" or "none"
    first_time   the earliest timestamp of an event, in seconds since 1970; `last_time` is the latest
    gtids_before the transactions of earlier files, as this one lists them: PREVIOUS_GTIDS, or MariaDB's GTID_LIST
    gtids        the transactions in the file: a MySQL GTID set, or the last MariaDB GTID of each domain and server
    findings     the findings, at most a limit for each code
    omitted      for each code with more findings than the limit, how many are not in `findings`
    errors       how many errors were found, omitted ones included; `warnings` likewise
    """

    file: str
    bytes: int
    sound_bytes: int
    events: int
    transactions: int
    server_version: str | None
    server_id: int | None
    checksum: str | None
    first_time: int | None
    last_time: int | None
    gtids_before: str
    gtids: str
    findings: tuple[Finding, ...]
    omitted: tuple[tuple[str, int], ...]
    errors: int
    warnings: int

    @property
    def verdict(self) -> Verdict:
        """The worst severity that was found."""
        if self.errors:
            return Verdict.NOT_INTACT
        return Verdict.DOUBTFUL if self.warnings else Verdict.INTACT


@dataclass(frozen=True, slots=True)
class Extent:
    """What one chain of files covers: from the start of its first file to the end of its last one.

    gtids_before   transactions that are in none of the files, because they are in earlier ones
    """

    first: str
    last: str
    end: int
    gtids_before: str


@dataclass(frozen=True, slots=True)
class Summary:
    """Totals over all files, and what each chain of them covers."""

    files: int = 0
    events: int = 0
    transactions: int = 0
    bytes: int = 0
    errors: int = 0
    warnings: int = 0
    extents: tuple[Extent, ...] = ()

    def add(self, report: FileReport) -> Self:
        """Return the totals with one more file; the files of a chain come one after the other."""
        return type(self)(
            self.files + 1,
            self.events + report.events,
            self.transactions + report.transactions,
            self.bytes + report.bytes,
            self.errors + report.errors,
            self.warnings + report.warnings,
            self._extended(report),
        )

    def _extended(self, report: FileReport) -> tuple[Extent, ...]:
        last = self.extents[-1] if self.extents else None
        if last is not None and log_order(last.last)[0] == log_order(report.file)[0]:
            return (*self.extents[:-1], replace(last, last=report.file, end=report.bytes))
        return (*self.extents, Extent(report.file, report.file, report.bytes, report.gtids_before))

    @property
    def ok(self) -> bool:
        """Whether there is no error; warnings do not count."""
        return self.errors == 0


@dataclass(frozen=True, slots=True)
class Report:
    """The reports of all files, in the order in which they were verified."""

    files: tuple[FileReport, ...]
    summary: Summary

    @classmethod
    def of(cls, files: Iterable[FileReport]) -> Self:
        """Collect the reports of files."""
        collected = tuple(files)
        summary = Summary()
        for report in collected:
            summary = summary.add(report)
        return cls(collected, summary)

    @property
    def ok(self) -> bool:
        """Whether there is no error in any file; warnings do not count."""
        return self.summary.ok

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all files."""
        return tuple(finding for report in self.files for finding in report.findings)
