"""Which rows of a log are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from fnmatch import fnmatchcase
from typing import Any

from binspark.columns.types import ColumnOptions
from binspark.event import Event, RowOperation
from binspark.gtid import Gtid, GtidSet


class Operations(IntFlag):
    """Which changes are asked for."""

    INSERT = 1
    UPDATE = 2
    DELETE = 4
    ALL = 7


_DEFAULT_OPTIONS = ColumnOptions()


@dataclass(frozen=True, slots=True)
class Selection:
    """What to decode; everything else is stepped over.

    tables          `schema.table` names, or patterns of them such as `shop.*`; None for all
    excluded        names or patterns of tables that are left out
    columns         names of columns, None for all
    operations      inserts, updates, deletes
    start_position  rows of events before this offset are left out; stop_position: the log is read up to there
    start_time      rows of events before this time are left out, in seconds since 1970; stop_time likewise from then on
    server_id       only rows of this server
    include_gtids   only rows of these transactions; exclude_gtids: not of these
    before          old images of updates are kept too, as a struct `_before`
    metadata        where rows come from is told, in columns that begin with `_`
    tx_rows         rows are numbered through their transaction, which takes a look at rows of all tables
    """

    tables: frozenset[str] | None = None
    excluded: frozenset[str] = frozenset()
    columns: tuple[str, ...] | None = None
    operations: Operations = Operations.ALL
    start_position: int = 0
    stop_position: int | None = None
    start_time: int = 0
    stop_time: int | None = None
    server_id: int | None = None
    include_gtids: GtidSet | None = None
    exclude_gtids: GtidSet | None = None
    before: bool = False
    metadata: bool = True
    tx_rows: bool = False
    options: ColumnOptions = _DEFAULT_OPTIONS
    max_rows: int = 1 << 16
    max_bytes: int = 32 << 20

    def wants(self, table: str) -> bool:
        """Tell whether rows of a table are asked for."""
        return not _is_among(table, self.excluded) and (self.tables is None or _is_among(table, self.tables))

    def wants_operation(self, operation: RowOperation) -> bool:
        """Tell whether changes of this kind are asked for."""
        return bool(self.operations & Operations[operation.name])

    def wants_event(self, event: Event) -> bool:
        """Tell whether the rows of an event are asked for, by its place, time and server."""
        header = event.header
        if event.offset < self.start_position or header.timestamp < self.start_time:
            return False
        if self.stop_time and header.timestamp >= self.stop_time:
            return False
        return self.server_id is None or header.server_id == self.server_id

    def wants_gtid(self, gtid: Any) -> bool:
        """Tell whether the rows of a transaction are asked for. One without a MySQL GTID is in no set."""
        if not isinstance(gtid, Gtid):
            return self.include_gtids is None
        if self.include_gtids is not None and gtid not in self.include_gtids:
            return False
        return self.exclude_gtids is None or gtid not in self.exclude_gtids


def _is_among(table: str, names: frozenset[str]) -> bool:
    return table in names or any(fnmatchcase(table, name) for name in names)
