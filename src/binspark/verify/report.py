"""The result of verify: a report for each file, and a summary of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

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
class Summary:
    """Totals over all files."""

    files: int = 0
    events: int = 0
    transactions: int = 0
    bytes: int = 0
    errors: int = 0
    warnings: int = 0

    def add(self, report: FileReport) -> Self:
        """Return the totals with one more file."""
        return type(self)(
            self.files + 1,
            self.events + report.events,
            self.transactions + report.transactions,
            self.bytes + report.bytes,
            self.errors + report.errors,
            self.warnings + report.warnings,
        )

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
