"""Problems of a server's settings that its logs show, by those rules of `binspark doctor` that need no server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from binspark.columns.batches import TableBatch
from binspark.doctor.rule import Finding, Problem, Severity, first_names
from binspark.doctor.rules import RULES, finding
from binspark.schema.table import TableName

_MAX_TABLES = 10_000
_RULES = {rule.code: rule for rule in RULES}


@dataclass(slots=True)
class Evidence:
    """What logs show of the settings of their server.

    statements         transactions that changed rows by statements
    anonymous          transactions without a GTID, of MySQL
    without_checksums  whether the events of a log have no checksums
    without_names      tables whose columns have no names in the log
    without_key        tables that are known to have no primary key
    is_mariadb         which statements fix it
    """

    statements: int = 0
    anonymous: int = 0
    without_checksums: bool = False
    without_names: set[TableName] = field(default_factory=set)
    without_key: set[TableName] = field(default_factory=set)
    is_mariadb: bool = False

    def add(self, batch: TableBatch) -> None:
        """Note what rows of a table show."""
        table = batch.table
        name = TableName(table.schema, table.table)
        if table.columns and table.columns[0].name is None and len(self.without_names) < _MAX_TABLES:
            self.without_names.add(name)
        if table.primary_key == () and len(self.without_key) < _MAX_TABLES:
            self.without_key.add(name)

    def hints(self) -> list[Finding]:
        """Return the problems, the most severe first."""
        order = list(Severity)
        return sorted(self._found(), key=lambda found: order.index(found.severity))

    def _found(self) -> Iterator[Finding]:
        if self.statements:
            yield self._finding("binlog-format", f"{self.statements:,} transactions were logged as statements")
        if self.anonymous and not self.is_mariadb:
            yield self._finding("gtid-mode", f"{self.anonymous:,} transactions without a GTID")
        if self.without_checksums:
            yield self._finding("checksum", "events without checksums")
        if self.without_names:
            yield self._finding("row-metadata", f"no names of columns in {first_names(sorted(self.without_names))}")
        if self.without_key:
            yield self._finding("no-key", f"missing in {first_names(sorted(self.without_key))}", min(self.without_key))

    def _finding(self, code: str, value: str, table: TableName | None = None) -> Finding:
        rule = _RULES[code]
        return finding(rule, Problem(rule.settings[0], value, table), has_persist=not self.is_mariadb)
