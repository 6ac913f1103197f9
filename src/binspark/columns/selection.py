"""Which rows of a log are selected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntFlag
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from binspark.columns.metadata import DEFAULT_PREFIX, Metadata
from binspark.columns.options import ColumnOptions, ZeroDates
from binspark.gtid import Gtid, GtidSet, MariadbGtid, MariadbPosition, MariadbRanges
from binspark.options.values import FilePosition

if TYPE_CHECKING:
    from binspark.columns.seen import SeenTables, Unmatched
    from binspark.columns.where.condition import Condition
    from binspark.event import Event, RowOperation
    from binspark.schema.lineage import WantedColumns
    from binspark.schema.table import TableSchema

SelectedGtids = GtidSet | MariadbRanges | MariadbPosition
"""The GTIDs of transactions that are selected; a position of MariaDB means all transactions up to it."""

_MICROSECONDS = 1_000_000


class Operations(IntFlag):
    """Which kinds of changes are selected."""

    INSERT = 1
    UPDATE = 2
    DELETE = 4
    TRUNCATE = 8
    ALL = 15


_METADATA_OF_CHANGES = frozenset({Metadata.OP, Metadata.GTID, Metadata.LOG_POS, Metadata.LOG_ROW, Metadata.SERVER_ID})
_DEFAULT_OPTIONS = ColumnOptions()


@dataclass(frozen=True, slots=True)
class Selection:
    """What to decode; everything else is skipped.

    tables                `schema.table` names, or patterns of them such as `shop.*`; None for all
    excluded              names or patterns of tables that are excluded
    columns               names of columns, None for all
    operations            inserts, updates, deletes, truncations
    start_position        where to start in the logs, and stop_position where to stop. `files.positions` finds which
                          part of each log that is: readers of one log are given its offsets
    start_time            rows of events before this time are skipped, in seconds since 1970; stop_time: from this time
                          on
    committed_from        transactions that were committed before this time are skipped, in microseconds since 1970;
                          committed_before: from this time on. Where a log has no commit times, those of events count
    server_id             only rows of this server
    thread_id             only rows of transactions of this connection of the server
    include_gtids         only rows of these transactions; exclude_gtids: not of these
    before                the rows before updates and deletes are kept, too, as a struct `_before`
    metadata              whether there are metadata columns, and
    metadata_columns      which of them, None for all; ABSENT only if `absent` is set
    metadata_prefix       what their names begin with, and that of `_before`
    absent                whether there is the column ABSENT, for which `images` must be set, too
    tx_rows               rows are numbered throughout their transaction, for which rows of all tables are counted
    images                batches say which columns each row has
    string_columns        columns that become text when batches of several schema versions are united, in lower case
    wanted                columns to look for in every schema version of a table, instead of `columns`, by its name
    origins               batches say which time, thread and statement each row has
    in_windows            all tables are flushed after each part of a log, so that their rows can be put in order
    diffs                 partial updates of JSON documents that are not in the log are selected, as a list of diffs
    where                 only rows with such values
    seen                  notes the tables that are read, if what the selection names and no table has is reported
    """

    tables: frozenset[str] | None = None
    excluded: frozenset[str] = frozenset()
    columns: tuple[str, ...] | None = None
    operations: Operations = Operations.ALL
    start_position: FilePosition | None = None
    stop_position: FilePosition | None = None
    start_time: int = 0
    stop_time: int | None = None
    committed_from: int = 0
    committed_before: int | None = None
    server_id: int | None = None
    thread_id: int | None = None
    include_gtids: SelectedGtids | None = None
    exclude_gtids: SelectedGtids | None = None
    before: bool = False
    metadata: bool = True
    metadata_columns: frozenset[Metadata] | None = None
    metadata_prefix: str = DEFAULT_PREFIX
    absent: bool = False
    tx_rows: bool = False
    images: bool = False
    string_columns: frozenset[str] = frozenset()
    wanted: Mapping[str, WantedColumns] = field(default_factory=dict)
    origins: bool = False
    in_windows: bool = False
    diffs: bool = False
    where: Condition | None = None
    seen: SeenTables | None = field(default=None, compare=False, repr=False)
    options: ColumnOptions = _DEFAULT_OPTIONS
    max_rows: int = 1 << 16
    max_bytes: int = 32 << 20

    def with_complete_rows(self) -> Selection:
        """Return what must be decoded for all that is known of each change, in the order of the log."""
        options = replace(self.options, zero_dates=ZeroDates.STRING)
        everything = replace(self, before=True, images=True, metadata=True, origins=True, diffs=True)
        return replace(
            everything, in_windows=True, metadata_columns=_METADATA_OF_CHANGES, absent=False, options=options
        )

    def decoded(self) -> Selection:
        """Return what must be decoded: for a condition the old rows, too, and which columns each row has."""
        return self if self.where is None else replace(self, before=True, images=True)

    def wants_column(self, name: str) -> bool:
        """Return whether a column is selected."""
        return self.columns is None or name in self.columns

    def has(self, name: Metadata) -> bool:
        """Return whether batches have a metadata column."""
        if name is Metadata.ABSENT:
            return self.metadata and self.absent
        return self.metadata and (self.metadata_columns is None or name in self.metadata_columns)

    @property
    def selects_events(self) -> bool:
        """Whether some events are not selected, by their position, time, server or transaction."""
        limits = (self.stop_time, self.committed_before, self.server_id, self.include_gtids, self.exclude_gtids)
        return any((self.start_position, self.start_time, self.committed_from)) or any(
            limit is not None for limit in limits
        )

    def wants(self, table: str) -> bool:
        """Return whether rows of a table are selected."""
        if self.seen is not None:
            self.seen.add(table)
        return not _is_among(table, self.excluded) and (self.tables is None or _is_among(table, self.tables))

    def unmatched(self) -> Iterable[Unmatched]:
        """Return the tables and columns that the selection names and nothing that was read has, if they are noted."""
        return () if self.seen is None else self.seen.unmatched(self.tables or frozenset(), self.where)

    def wants_operation(self, operation: RowOperation) -> bool:
        """Return whether changes of this kind are selected."""
        return bool(self.operations & Operations[operation.name])

    def columns_of(self, table: TableSchema) -> tuple[str, ...] | None:
        """Return the names of the columns to decode of a schema version of a table; None for all of them."""
        if self.seen is not None:
            self.seen.add_columns(table)
        wanted = self.wanted.get(table.name)
        if wanted is not None:
            return tuple(wanted.sources(table.column_names, table.lineage).values())
        if self.columns is None or self.where is None:
            return self.columns
        from binspark.columns.where.condition import columns_of

        conditions = {column.name.lower() for column in columns_of(self.where)}
        return (*self.columns, *(name for name in table.column_names if name.lower() in conditions))

    def wants_event(self, event: Event, *, committed: bool = False) -> bool:
        """Return whether the rows of an event are selected, by its time and server.

        With `committed` its time is taken for the commit time of its transaction, which is not known.
        """
        header = event.header
        if committed and not self.wants_commit(header.timestamp * _MICROSECONDS):
            return False
        if header.timestamp < self.start_time:
            return False
        if self.stop_time and header.timestamp >= self.stop_time:
            return False
        return self.server_id is None or header.server_id == self.server_id

    def may_want_inside(self, payload: Event) -> bool:
        """Return whether rows inside a payload may be selected; none of its events is later than itself."""
        header = payload.header
        if header.timestamp < self.start_time:
            return False
        return self.server_id is None or header.server_id == self.server_id

    def wants_commit(self, commit_time: int) -> bool:
        """Return whether transactions that were committed at a time are selected, in microseconds since 1970."""
        return commit_time >= self.committed_from and (not self.committed_before or commit_time < self.committed_before)

    def wants_thread(self, thread_id: int | None) -> bool:
        """Return whether transactions of a connection are selected; None is one that the log does not name."""
        return self.thread_id is None or thread_id == self.thread_id

    def wants_gtid_text(self, gtid: str | None) -> bool:
        """Return whether the rows of a transaction are selected, by the text of its GTID."""
        if gtid is None or (self.include_gtids is None and self.exclude_gtids is None):
            return self.wants_gtid(None)
        return self.wants_gtid(Gtid.parse(gtid) if ":" in gtid else MariadbGtid.parse(gtid))

    def wants_gtid(self, gtid: Gtid | MariadbGtid | None) -> bool:
        """Return whether the rows of a transaction are selected. One without a GTID is in no set."""
        if self.include_gtids is not None and not _is_in(gtid, self.include_gtids):
            return False
        return self.exclude_gtids is None or not _is_in(gtid, self.exclude_gtids)


def _is_in(gtid: Gtid | MariadbGtid | None, gtids: SelectedGtids) -> bool:
    if isinstance(gtids, GtidSet):
        return isinstance(gtid, Gtid) and gtid in gtids
    return isinstance(gtid, MariadbGtid) and gtid in gtids


def _is_among(table: str, names: frozenset[str]) -> bool:
    return table in names or any(fnmatchcase(table, name) for name in names)
