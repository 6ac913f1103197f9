"""Compares the versions of rows that are current with the rows of their mirrored table, at one position of the mirror.

A mirror that runs meanwhile commits versions right before their table. What differs is read once more, at a later
position: another process may be repairing the table, first its versions and then its rows.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from binspark.errors import SchemaError
from binspark.mirror.check.compare import difference_of, portions
from binspark.mirror.check.key_ranges import KeyRange, all_keys
from binspark.mirror.check.listing import Listing
from binspark.mirror.check.mirror_rows import MirrorRows
from binspark.mirror.check.repair_versions import VersionRepair
from binspark.mirror.check.report import DifferenceKind, TableReport
from binspark.mirror.check.row_text import RowText, row_text
from binspark.mirror.check.settings import CheckSettings
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.schema.version_table import versions_name
from binspark.mirror.targets.target import CommitConflict, Target, TargetTable

_ATTEMPTS = 20
_POLL_SECONDS = 0.25


def check_versions(
    target: Target, table: TargetTable, mirrored: MirroredTable, settings: CheckSettings
) -> TableReport | None:
    """Compare the versions of a table's rows with the table; None if its mirror does not keep any."""
    name, cut = versions_name(mirrored.name), target.cuts.last()
    if cut is None or name not in dict(cut.versions) or not mirrored.key:
        return None
    repair = VersionRepair.of(target, mirrored, settings.columns)
    if repair is None:
        return None
    report = TableReport(name)
    try:
        _VersionCheck(target, table, repair, settings).run(report)
    except SchemaError as error:
        report.problem = str(error)
    return report


class _VersionCheck:
    """Compares the versions of one table."""

    def __init__(self, target: Target, table: TargetTable, repair: VersionRepair, settings: CheckSettings) -> None:
        self._target = target
        self._repair = repair
        self._settings = settings
        self._text: RowText = row_text(repair.table, mariadb=False)
        self._rows = MirrorRows(table, repair.table, self._text)
        self._versions = MirrorRows(repair.versions, repair.table, self._text, repair.stored())

    def run(self, report: TableReport) -> None:
        """Compare all versions that are current; what is found is added to the report."""
        if not self._is_at_one_position(report):
            return
        within = all_keys(self._rows.rows)
        rows, versions = self._rows.sums(within), self._versions.sums(within)
        report.rows, report.ranges = rows.rows, 1
        for wanted in portions(rows.differing(versions), rows, versions):
            before = self._differing(within, wanted)
            if before and not self._is_at_one_position(report):
                return
            now = self._differing(within, wanted) if before else {}
            certain = {key: kind for key, kind in now.items() if key in before}
            report.undecided += len(now) - len(certain)
            self._add(report, within, certain)
            if certain and self._settings.repair:
                report.repaired += self._repaired(within, certain, report)
            else:
                report.differing += len(certain)

    def _differing(self, within: KeyRange, wanted: Sequence[int]) -> dict[bytes, DifferenceKind]:
        rows, versions = self._rows.listed(within, wanted), self._versions.listed(within, wanted)
        return {key: _kind(key, rows, versions) for key in rows.differing(versions)}

    def _add(self, report: TableReport, within: KeyRange, differing: dict[bytes, DifferenceKind]) -> None:
        """Add what is different to a report, for the first rows."""
        room = max(0, self._settings.listed - len(report.differences))
        listed = dict(list(differing.items())[:room])
        if listed:
            rows, versions = self._rows.values(within, listed), self._versions.values(within, listed)
            report.differences += [
                difference_of(self._text, kind, rows.get(key), versions.get(key)) for key, kind in listed.items()
            ]

    def _repaired(self, within: KeyRange, differing: dict[bytes, DifferenceKind], report: TableReport) -> int:
        """Let versions that differ end, and those of the rows begin; return how many there are."""
        for attempt in range(1, _ATTEMPTS + 1):
            stored = list(self._versions.rows_at(within, differing))
            current = list(self._rows.rows_at(within, differing))
            try:
                self._repair.replace(stored, current, self._settings.limits, self._versions.version)
                break
            except CommitConflict:
                if attempt == _ATTEMPTS or not self._is_at_one_position(report):
                    raise
        self._versions.refresh()
        return len(differing)

    def _is_at_one_position(self, report: TableReport) -> bool:
        """Read table and versions as they are at the same position, and return whether they are, after some time."""
        deadline = time.monotonic() + self._settings.wait_seconds
        while True:
            versions, rows, cut = self._versions.refresh(), self._rows.refresh(), self._target.cuts.last()
            if versions.state is not None and rows.state is not None:
                one, other = versions.state.position, rows.state.position
                numbers = {(self._repair.table.name, rows.version), (self._repair.versions.name, versions.version)}
                is_cut = cut is not None and numbers <= set(cut.versions)
                if is_cut or (one.reaches(other) and other.reaches(one)):
                    return True
                if time.monotonic() > deadline:
                    where = f"they are at {one.describe()}, and their table is at {other.describe()}"
                    report.problem = f"{where}: start the mirror with --scd2, or wait longer with --check-seconds"
                    return False
            time.sleep(_POLL_SECONDS)


def _kind(key: bytes, rows: Listing, versions: Listing) -> DifferenceKind:
    own, others = len(rows.hashes(key)), len(versions.hashes(key))
    if own == others:
        return DifferenceKind.DIFFERENT
    return DifferenceKind.MISSING if own > others else DifferenceKind.EXTRA
