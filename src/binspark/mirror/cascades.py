"""Rows that foreign keys change and that the log does not contain: InnoDB changes them below the server.

MariaDB, and MySQL before 9.6, log the row that a statement deletes or updates, and not the rows that ON DELETE and
ON UPDATE change with it. For each range of the log this finds the rows of mirrored tables that referred to such a row,
directly or through others: they are read from the server again in the commit of the range. Where they cannot be found
for certain, their table is copied again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from binspark.mirror.records.format import RecordOp, record_schema
from binspark.mirror.records.keys import row_keys
from binspark.mirror.referring_rows import MAX_ROWS, ChangedParents, Found, LoggedRows, Referring, StoredRows
from binspark.mirror.runners.local import Runners
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.schema.version_table import seq_at
from binspark.mirror.source.change_source import ChangeSource, ReadTask
from binspark.mirror.tables.mirrored_tables import MirroredTables
from binspark.mirror.tables.open_table import OpenTable
from binspark.replication.find import end_of_log
from binspark.replication.position import BinlogPosition
from binspark.schema.catalog import Catalog, affected_tables
from binspark.schema.changes import AlterTable, CreateTable, RenameTables, RenameTo, Unreadable
from binspark.schema.foreign_keys import (
    CASCADES_BY_ENGINE,
    Action,
    ForeignKey,
    ForeignKeys,
    RowChange,
    cascades_are_logged,
    dropped_names,
    may_cascade,
    read_foreign_keys,
)
from binspark.schema.server import as_uncertain, from_server
from binspark.schema.table import TableName
from binspark.server.connection import Connection, connect
from binspark.server.info import server_variables
from binspark.spark.streaming.statements import Statement

log = logging.getLogger("binspark.mirror")
_FILES_OF_A_JOB = 8
_SHOWN = 20
_UNKNOWN = "a foreign key changed rows of it, and the log does not say which"


@dataclass(slots=True)
class Cascaded:
    """What foreign keys do in a range: the rows to read again, as records, and the tables to copy again, and why."""

    read_again: dict[TableName, pa.RecordBatch] = field(default_factory=dict)
    copied: dict[TableName, str] = field(default_factory=dict)


class Cascades:
    """Follows the foreign keys of the mirrored tables, and of the tables that these refer to.

    `runners` read the log, and the files of the mirror.
    """

    def __init__(self, source: ChangeSource, tables: MirroredTables, runners: Runners) -> None:
        self._source = source
        self._tables = tables
        self._runners = runners
        self._read_at: BinlogPosition | None = None
        self._gone: dict[ForeignKey, BinlogPosition] = {}
        self._asks_always = False
        self._parents = Catalog()
        self._warned: set[ForeignKey] = set()

    @property
    def _keys(self) -> ForeignKeys:
        return self._tables.foreign_keys

    # --- Foreign keys -------------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Read the foreign keys that the server has now, and warn of keys that change rows without logging them.

        Keys that were known before stay until the mirror has read the log up to now: they may have been dropped later.
        """
        if self._source.config is None:
            return
        with connect(self._source.config) as connection:
            variables = server_variables(connection)
            if cascades_are_logged(variables):
                return
            self._asks_always = CASCADES_BY_ENGINE in variables
            found = self._concerning(connection)
            self._read_at = end_of_log(connection)
            self._gone = {key: self._gone.get(key, self._read_at) for key in self._keys if key not in found}
            self._keys.add(found)
            parents = {name.schema for name in self._keys.parents}
            self._parents = as_uncertain(from_server(connection.rows, parents)) if parents else Catalog()
        self._warn()

    def _concerning(self, connection: Connection) -> list[ForeignKey]:
        """Return the foreign keys that may change rows of mirrored tables, and others of these tables."""
        databases = list(from_server(connection.rows, ()).databases)
        schemas = set(filter(self._tables.patterns.wants_of, databases))
        keys: list[ForeignKey] = []
        known: set[str] = set()
        while schemas:
            keys += read_foreign_keys(connection.rows, schemas)
            known |= schemas
            schemas = {key.parent.schema for key in keys} - known
        wanted = [key.table for key in keys if self._tables.patterns.wants(key.table)]
        return [*ForeignKeys(keys).concerning(wanted), *(key for key in keys if not key.on)]

    def _warn(self) -> None:
        new = [key for key in self._keys if key not in self._warned]
        self._warned |= set(new)
        if not new:
            return
        shown = "; ".join(key.describe() for key in new[:_SHOWN])
        more = f"; and {len(new) - _SHOWN} more" if len(new) > _SHOWN else ""
        message = "this server does not log the rows that foreign keys change: %s%s"
        advice = "The mirror reads these rows from the server again, or copies their tables, when others change"
        log.warning(f"{message}. {advice}", shown, more)

    # --- Statements ---------------------------------------------------------------------------------------------------

    def follow(self, statements: Sequence[Statement]) -> dict[TableName, str]:
        """Take the statements of a range; return the tables that have to be copied again, and why.

        What is known of foreign keys is from a later position if the mirror lags. So the rows before a statement may
        have been changed by a foreign key that it drops, or with those of a table that had another name.
        """
        if self._source.config is None:
            self._warn_of(statements)
            return {}
        if self._read_at is None:
            return {}
        copied: dict[TableName, str] = {}
        for statement in statements:
            if self._read_at.reaches(statement.position):
                for name in self._unknown_before(statement):
                    changed = [name, *self._keys.tables_changed_with([name])]
                    tables = (self._tables.find(each) for each in changed)
                    later = {table.name for table in tables if table and table.position.reaches(statement.position)}
                    reason = f"a foreign key of {name}, or its name, was another before a statement in the log"
                    copied |= dict.fromkeys(set(self._changed_by(changed)) - later, reason)
        if any(self._may_define(statement) for statement in statements):
            self.read()
        return copied

    def _may_define(self, statement: Statement) -> bool:
        """Return whether a statement may define a foreign key, or give other names to its tables or columns."""
        change = statement.change
        is_defining = isinstance(change, CreateTable | AlterTable) and self._asks_always
        is_other = isinstance(change, Unreadable) or bool(_renamed(statement))
        is_concerned = not self._concerned.isdisjoint(affected_tables(change))
        return bool(statement.foreign_keys) or is_defining or is_other or is_concerned

    @property
    def _concerned(self) -> set[TableName]:
        return {name for key in self._keys for name in (key.table, key.parent)}

    def _unknown_before(self, statement: Statement) -> list[TableName]:
        """Return the tables that may have had other foreign keys than the known ones, before a statement."""
        found = [name for name in _renamed(statement) if name in self._concerned]
        dropped, affected = set(dropped_names(statement.foreign_keys)), affected_tables(statement.change)
        return [*found, *(name for name in affected if not dropped <= self._keys.names.get(name, set()))]

    def _changed_by(self, names: Iterable[TableName]) -> list[TableName]:
        """Return the tables that are mirrored, or will be by a new name, and have rows which foreign keys change."""
        children = {table for table, known in self._keys.names.items() if known}
        dropped = [name for name in names if self._tables.find(name) is not None]
        return [name for name in (*children.intersection(names), *dropped) if self._tables.patterns.wants(name)]

    def _warn_of(self, statements: Sequence[Statement]) -> None:
        """Warn of foreign keys in logs without a server, from which their rows could be read."""
        for statement in statements:
            for name in affected_tables(statement.change) if may_cascade(statement.foreign_keys) else ():
                if self._tables.patterns.wants(name):
                    log.warning(
                        "%s has a foreign key that changes its rows, and these changes are not in the log: the mirror "
                        "will differ from the table after them; mirror it from a server, or leave it out with "
                        "--exclude-tables",
                        name,
                    )

    def _mirrored(self, names: Iterable[TableName]) -> list[OpenTable]:
        found = (self._tables.find(name) for name in names)
        return [table for table in found if table is not None and table.is_applied]

    # --- Rows ---------------------------------------------------------------------------------------------------------

    def of(self, start: BinlogPosition, end: BinlogPosition) -> Cascaded:
        """Return what foreign keys change in a range."""
        for key in [key for key, position in self._gone.items() if start.reaches(position)]:
            self._keys.remove(key)
        keys = tuple(self._keys)
        if not keys or not any(not table.position.reaches(end) for table in self._mirrored(key.table for key in keys)):
            return Cascaded()
        parts = self._source.tasks(start, end, self._catalog())
        jobs = [ChangedParents(part, keys, self._tables.settings.columns) for part in parts]
        changed = self._runners.of_range(start, end).each(jobs, "rows that others refer to")
        search = _Search(self._source, self._tables, self._runners, start, end)
        for key, change, values in (found for each in changed for found in each):
            search.add(key, change, values)
        return search.result()

    def _catalog(self) -> Catalog:
        """Return the definitions of the tables that others refer to: those of the mirror where it has them."""
        known, catalog = self._tables.catalog, Catalog(case_matters=self._tables.catalog.case_matters)
        for name in self._keys.parents:
            definition = known.tables.get(name) or self._parents.tables.get(name)
            if definition is not None:
                catalog.tables[name] = definition
        return catalog


def _renamed(statement: Statement) -> list[TableName]:
    """Return the names that a statement gives to tables."""
    match statement.change:
        case RenameTables(pairs):
            return [new for _, new in pairs]
        case AlterTable(_, steps):
            return [step.name for step in steps if isinstance(step, RenameTo)]
    return []


class _Search:
    """Finds the rows that refer to rows which changed, then the rows that refer to them, until there are no more."""

    def __init__(
        self,
        source: ChangeSource,
        tables: MirroredTables,
        runners: Runners,
        start: BinlogPosition,
        end: BinlogPosition,
    ) -> None:
        self._source = source
        self._tables = tables
        self._runners = runners
        self._range = start, end
        self._parts: list[ReadTask] | None = None
        self._waiting: list[tuple[ForeignKey, RowChange, Found]] = []
        self._unknown: set[tuple[ForeignKey, RowChange]] = set()
        self._seen: dict[tuple[TableName, RowChange], set[bytes]] = {}
        self._found: dict[TableName, list[pa.RecordBatch]] = {}
        self._keys: dict[TableName, set[bytes]] = {}
        self._copied: dict[TableName, str] = {}

    def add(self, key: ForeignKey, change: RowChange, values: Found) -> None:
        """Take values that rows may have referred to; None if they are not known."""
        if key.action(change) is not None and (key, change) not in self._unknown:
            if values is None:
                self._unknown.add((key, change))
            self._waiting.append((key, change, values))

    def result(self) -> Cascaded:
        """Look for all rows."""
        while self._waiting:
            self._step(*self._waiting.pop(0))
        found = {name: rows for name, rows in self._found.items() if name not in self._copied}
        return Cascaded({name: self._records(name, rows) for name, rows in found.items()}, self._copied)

    def _step(self, key: ForeignKey, change: RowChange, values: Found) -> None:
        table = self._tables.find(key.table)
        is_there = table is not None and table.is_applied and not table.position.reaches(self._range[1])
        rows = None
        if is_there and values is not None:
            assert table is not None
            rows = self._rows(table, key, values)
        if is_there and table is not None:
            self._take(table, key, change, rows)
        effect = RowChange.DELETE if _deletes(key, change) else RowChange.UPDATE
        if rows is not None and table is not None:
            rows = self._new(table, effect, rows)
        for other in self._tables.foreign_keys.to(key.table):
            if effect is RowChange.DELETE or set(other.referenced) & set(key.columns):
                self._pass_on(other, effect, rows)

    def _pass_on(self, key: ForeignKey, effect: RowChange, rows: Found) -> None:
        if rows is None:
            self.add(key, effect, None)
        elif rows.num_rows:
            self.add(key, effect, rows.select(_spelled(rows.column_names, key.referenced)))

    def _new(self, table: OpenTable, effect: RowChange, rows: pa.Table) -> Found:
        """Return the rows that have not been found before: tables may refer to each other, and to themselves."""
        if not rows.num_rows or not table.table.key:
            return None if rows.num_rows else rows
        seen = self._seen.setdefault((table.name, effect), set())
        keys = row_keys(table.table, rows.combine_chunks().to_batches()[0]).to_pylist()
        is_new = [key not in seen for key in keys]
        seen.update(keys)
        return rows.filter(pa.array(is_new))

    def _rows(self, table: OpenTable, key: ForeignKey, values: pa.Table) -> Found:
        """Return the rows of a table that refer to some values: of its data files, and of the range."""
        search = Referring.to(table.table, key, values)
        if search is None:
            return None
        columns = _needed(table.table, self._tables.foreign_keys)
        files, directory = table.version.files, table.target.directory
        groups = [tuple(files[begin : begin + _FILES_OF_A_JOB]) for begin in range(0, len(files), _FILES_OF_A_JOB)]
        stored = [StoredRows(group, directory, table.table, search, columns) for group in groups]
        work = table.work(0, self._tables.settings.limits)
        logged = [LoggedRows(part, work, search, columns) for part in self._read_tasks()]
        size = sum(file.size for file in files)
        description = f"rows of {table.name} that refer to rows which changed"
        found = [
            *self._runners.of_bytes(size).each(stored, description),
            *self._runners.of_range(*self._range).each(logged, description),
        ]
        if any(rows is None for rows in found):
            return None
        some = [rows for rows in found if rows is not None and rows.num_rows]
        if sum(rows.num_rows for rows in some) > MAX_ROWS:
            return None
        return pa.concat_tables(some) if some else table.table.schema.empty_table().select(list(columns))

    def _read_tasks(self) -> list[ReadTask]:
        if self._parts is None:
            self._parts = self._source.tasks(*self._range, self._tables.catalog)
        return self._parts

    def _take(self, table: OpenTable, key: ForeignKey, change: RowChange, rows: Found) -> None:
        """Note rows that are read again; where that is not enough, the table is copied."""
        if rows is not None and not rows.num_rows:
            return
        moves = change is RowChange.UPDATE and set(map(str.lower, key.columns)) & set(map(str.lower, table.table.key))
        if rows is None or moves or not table.table.key or self._tables.versions_of(table.name) is not None:
            self._copied.setdefault(table.name, f"{_UNKNOWN}: {key.describe()}")
            return
        own = self._keys.setdefault(table.name, set())
        for batch in rows.select(list(table.table.key)).to_batches():
            keys = row_keys(table.table, batch).to_pylist()
            first = {each: number for number, each in reversed(list(enumerate(keys))) if each not in own}
            own.update(first)
            self._found.setdefault(table.name, []).append(batch.take(pa.array(sorted(first.values()), pa.int64())))
        if len(own) > MAX_ROWS:
            self._copied.setdefault(table.name, f"{_UNKNOWN}: {key.describe()}")

    def _records(self, name: TableName, keys: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
        """Return records that leave rows to be read from the server, after all other changes of the range."""
        table = self._tables.find(name)
        assert table is not None
        return _unknown_rows(table.table, pa.concat_batches(keys), seq_at(self._range[1]))


def _deletes(key: ForeignKey, change: RowChange) -> bool:
    return change is RowChange.DELETE and key.action(change) is Action.CASCADE


def _needed(table: MirroredTable, keys: ForeignKeys) -> tuple[str, ...]:
    """Return the columns that are read of rows: those of the key, and the ones that other tables refer to."""
    referred = [name for key in keys.to(table.name) for name in key.referenced]
    names = table.key or table.schema.names
    return tuple(dict.fromkeys((*names, *_spelled(table.schema.names, referred))))


def _spelled(names: Sequence[str], wanted: Iterable[str]) -> list[str]:
    """Return names as a table has them, which a foreign key may have in another case."""
    by_lower = {name.lower(): name for name in names}
    return [by_lower[name.lower()] for name in wanted]


def _unknown_rows(table: MirroredTable, keys: pa.RecordBatch, seq: str) -> pa.RecordBatch:
    count, schema = keys.num_rows, record_schema(table.schema)
    absent = pa.array([list(range(len(table.schema)))] * count, schema.field("__absent").type)
    own = [
        row_keys(table, keys),
        pa.repeat(pa.scalar(seq), count),
        pa.repeat(pa.scalar(int(RecordOp.ORPHAN), pa.int8()), count),
        absent,
        pa.nulls(count, schema.field("__from").type),
    ]
    rows = [keys.column(each.name) if each.name in table.key else pa.nulls(count, each.type) for each in table.schema]
    return pa.RecordBatch.from_arrays([*own, *rows], schema=schema)
