"""Which rows of a log are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag

from binspark.columns.types import ColumnOptions
from binspark.gtid import GtidSet


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

    tables          `schema.table` names, None for all
    excluded        `schema.table` names that are left out
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
        return table not in self.excluded and (self.tables is None or table in self.tables)
