"""The schema of a table at any position of a log: from its table map, completed by DDL, a dump or a server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, Self

from binspark.errors import BinlogError, SchemaError
from binspark.event.event import Event
from binspark.event.query import Query
from binspark.event.status_vars import GtidFlags3, StatusCode
from binspark.event.table_map import TableMap
from binspark.event.table_metadata import MetadataKind
from binspark.frames import LogFormat
from binspark.frames.format import Family
from binspark.position import Position
from binspark.schema.catalog import Catalog, as_stored, in_lower_case
from binspark.schema.changes import (
    AlterDatabase,
    AlterTable,
    Change,
    CreateDatabase,
    DropDatabase,
    DropTables,
    LoggedRows,
    NotUnderstood,
    RenameTables,
    RenameTo,
    TemporaryTables,
    TruncateTable,
    Unreadable,
)
from binspark.schema.definition import TableDefinition
from binspark.schema.emptied import NONE_EMPTIED, Emptied, emptied_by
from binspark.schema.foreign_keys import concerns_foreign_keys
from binspark.schema.lineage import Lineage
from binspark.schema.merge import difference, in_known_charsets, merge, with_hidden_columns
from binspark.schema.notices import (
    DoubtfulTable,
    HiddenColumns,
    LoggedStatement,
    RolledBackChanges,
    SchemaNotice,
    UnreadableDdl,
)
from binspark.schema.session import read_text, session_of
from binspark.schema.table import TableName, TableSchema
from binspark.schema.table_map import from_table_map
from binspark.schema.text import may_change_rows, may_define, rolls_back, shown_text, statement_text

_START_ALTER = 0x02
_ROLLBACK_ALTER = 0x08
_MAX_CACHED = 4096
_LOGS_CASCADES = (9, 6, 0)
_HEAD = 1024
"""How much of a statement is decoded to see if it is DDL: statements of megabytes are common, and hardly any is DDL."""


class Entry(NamedTuple):
    """A change in the history: the number of its file, its position, and the offset after its event.

    foreign_keys   the text of a statement that may define a foreign key which changes rows without logging them, or
                   drops a foreign key; empty for all others
    """

    file_number: int
    position: Position
    change: Change
    end_offset: int = 0
    foreign_keys: str = ""


class _Sources(NamedTuple):
    """What is known of a table besides its table map."""

    given: TableDefinition | None
    definition: TableDefinition | None
    lineage: Lineage


class _Known(NamedTuple):
    """A cached schema, and what it was derived from. The table map is referenced so that its `id` is not reused."""

    table_map: TableMap
    sources: _Sources
    schema: TableSchema

    def is_from(self, sources: _Sources) -> bool:
        """Return whether the schema was derived from this."""
        known = self.sources
        is_same = known.given is sources.given and known.definition is sources.definition
        return is_same and known.lineage == sources.lineage


def may_define_tables(body: Any) -> bool:
    """Return whether the body of an event is a statement that may define tables, judging by its beginning."""
    return isinstance(body, Query) and may_define(body.query[:_HEAD].decode("latin-1"))


def is_logged_statement(body: Any) -> bool:
    """Return whether the body of an event is a statement that changes rows, judging by its beginning."""
    return isinstance(body, Query) and may_change_rows(body.query[:_HEAD].decode("latin-1"))


def is_rollback(body: Any) -> bool:
    """Return whether the body of an event is a statement that rolls back changes which are in the log before it."""
    return isinstance(body, Query) and rolls_back(body.query[:_HEAD].decode("latin-1"))


def logged_rows(event: Event) -> LoggedRows:
    """Return what a statement that changes rows does: its text says it."""
    collation = session_of(event.body, event.frame.format).client_collation
    return LoggedRows(statement_text(event.body.query, collation), event.body.schema)


class SchemaHistory:
    """The schemas of tables while the events of a log are read.

    Feed events in the order of the log, and get the schema of a TABLE_MAP after it was fed. What the log contains about
    a column takes precedence; the rest is taken from the definition of the table, as far as it is known.

    catalog           what is known before the log begins, from a dump or a server
    on_notice         is called for every statement about tables that is not supported, once for every table with
                      columns that its definition does not have, or whose definition contradicts the log, for the first
                      statement that was logged as its text, and for the first that rolls back changes which are in
                      the log
    lower_case_names  whether the server is known to have lower_case_table_names=1: its statements may contain names in
                      any case. If it is not known, `Catalog` detects it
    """

    def __init__(
        self,
        catalog: Catalog | None = None,
        on_notice: Callable[[SchemaNotice], None] | None = None,
        *,
        lower_case_names: bool = False,
    ) -> None:
        self.base = catalog or Catalog()
        self.catalog = self.base.copy()
        self.on_notice = on_notice
        self.lower_case_names = lower_case_names
        self.unreadable: list[UnreadableDdl] = []
        self.entries: list[Entry] = []
        self.files: list[str] = []
        self._temporary: frozenset[tuple[int, TableName]] = frozenset()
        self._temporaries: list[tuple[int, int, frozenset[tuple[int, TableName]]]] = []
        self._format: LogFormat | None = None
        self._mariadb = False
        self._mapped: Event | None = None
        self._text = ""
        self._by_identity: dict[int, _Known] = {}
        self._by_value: dict[TableMap, _Known] = {}
        self._said: set[tuple[type[SchemaNotice], TableName]] = set()
        self._reported: set[type[SchemaNotice]] = set()

    def feed(self, event: Event) -> Emptied:
        """Apply an event, and return the tables that it emptied."""
        if event.frame.format is not self._format:
            self._format = event.frame.format
            self._mariadb = self._format.family is Family.MARIADB
        if not self.files or self.files[-1] != event.file:
            self.files.append(event.file)
        body = event.body
        if isinstance(body, TableMap):
            self._mapped = event
        elif isinstance(body, Query):
            return self._feed_query(body, event)
        return NONE_EMPTIED

    def table_schema(self, table_map: TableMap, position: Position | None = None) -> TableSchema:
        """Return the schema of the table of a TABLE_MAP, after the events that were fed so far."""
        name = TableName(table_map.schema, table_map.table)
        self._detect_case(*name)
        catalog = self.catalog
        sources = _Sources(catalog.overriding.get(name), catalog.table(name), catalog.lineage(name))
        known = self._by_identity.get(id(table_map))
        if known is not None and known.is_from(sources):
            return known.schema
        return self._table_schema(table_map, sources, position)

    def until(self, file: str, offset: int) -> SchemaHistory:
        """Return the history before the event at an offset of a file, for readers that begin there."""
        if file not in self.files:
            raise SchemaError("the schema history does not contain this file", Position(file=file))
        limit = (self.files.index(file), offset)
        earlier = SchemaHistory(self.base, lower_case_names=self.lower_case_names)
        earlier.catalog.case_matters = self.catalog.case_matters
        earlier._format, earlier._mariadb = self._format, self._mariadb
        earlier.files = self.files[: limit[0] + 1]
        for entry in self.entries:
            if (entry.file_number, entry.position.offset or 0) < limit:
                earlier._record(entry)
        for file_number, at_offset, temporary in self._temporaries:
            if (file_number, at_offset) < limit:
                earlier._temporary = temporary
        earlier.on_notice, earlier._said = self.on_notice, self._said  # what was reported is not reported again
        return earlier

    def at(self, file: str, offset: int) -> SchemaHistory:
        """Return a separate history for a reader that begins at an offset, or after this history in another file."""
        return self.until(file, offset) if file in self.files else SchemaHistory.after(self)

    @classmethod
    def after(cls, earlier: SchemaHistory) -> Self:
        """Return a separate history that begins where another one ends."""
        later = cls(earlier.catalog, earlier.on_notice, lower_case_names=earlier.lower_case_names)
        later._said = earlier._said
        return later

    def followed_by(self, later: SchemaHistory) -> SchemaHistory:
        """Return this history, extended by that of a later part of the log."""
        both = SchemaHistory(self.base, lower_case_names=self.lower_case_names)
        both.catalog.case_matters = self.catalog.case_matters or later.catalog.case_matters
        both._format, both._mariadb = later._format, later._mariadb or self._mariadb
        joined = self.files[-1:] == later.files[:1]
        both.files = self.files + later.files[joined:]
        first = len(self.files) - joined
        for entry in self.entries:
            both._record(entry)
        both.catalog.databases.update(later.base.databases)
        both.catalog.tables.update(later.base.tables)
        for entry in later.entries:
            both._record(entry._replace(file_number=entry.file_number + first))
        moved = [(number + first, offset, tables) for number, offset, tables in later._temporaries]
        both._temporaries = self._temporaries + moved
        both._temporary = later._temporary
        both.on_notice = self.on_notice
        return both

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is cached by the identity of table maps, and the callback, which may not be picklable."""
        left: dict[str, Any] = {"_by_identity": {}, "_by_value": {}, "_mapped": None, "on_notice": None}
        return {**self.__dict__, **left}

    def _feed_query(self, query: Query, event: Event) -> Emptied:
        change = self.read_query(query, event)
        if change is None:
            self._look_for_rows(query, event)
            return NONE_EMPTIED
        emptied = emptied_by(change, self.catalog)
        entry = Entry(len(self.files) - 1, event.position, change, event.end_offset, self._text_of_foreign_keys())
        self._record(entry, self._text)
        return emptied

    def _text_of_foreign_keys(self) -> str:
        """Return the text of the statement if it is about foreign keys, and the server does not log what they do."""
        assert self._format is not None
        is_logged = not self._mariadb and self._format.server_version_numbers >= _LOGS_CASCADES
        return "" if is_logged or not concerns_foreign_keys(self._text) else self._text

    def _look_for_rows(self, query: Query, event: Event) -> None:
        """Report the first statement that changes rows, which who reads rows does not find, or rolls changes back."""
        if self.on_notice is None:
            return
        notice = LoggedStatement if is_logged_statement(query) else RolledBackChanges if is_rollback(query) else None
        if notice is not None and notice not in self._reported:
            self._reported.add(notice)
            session = session_of(query, event.frame.format)
            self.on_notice(notice(event.position, statement_text(query.query[:_HEAD], session.client_collation)))

    def record(self, event: Event, change: Change) -> None:
        """Record what an event changes, if the caller knows it."""
        self._record(Entry(len(self.files) - 1, event.position, change, event.end_offset))

    def read_query(self, query: Query, event: Event) -> Change | None:
        """Return what a statement changes, except for temporary tables; None if it changes nothing."""
        if not may_define_tables(query):
            return None
        from binspark.schema.sql.statement import read_ddl  # most logs have no DDL

        flags: GtidFlags3 | None = query.status(StatusCode.GTID_FLAGS3)
        if flags is not None and flags.flags & (_START_ALTER | _ROLLBACK_ALTER):
            return None  # of MariaDB's two-phase ALTER TABLE only the commit takes effect
        self._detect_case(query.schema)
        logged = replace(session_of(query, event.frame.format), lower_case_names=self.lower_case_names)
        exact, session = read_text(query.query, logged)
        text = self._text = shown_text(exact)
        change = read_ddl(exact, query.schema, session)
        if change is None:
            return None
        if isinstance(change, CreateDatabase | AlterDatabase | DropDatabase):
            change = as_stored(change, query.schema)
        before = self._temporary
        change = self._of_lasting_tables(change, query.thread_id)
        if self._temporary != before:
            self._temporaries.append((len(self.files) - 1, event.offset, self._temporary))
        if change is None:
            return None
        if query.error_code and isinstance(change, AlterTable | Unreadable):
            names = change.names if isinstance(change, Unreadable) else (change.name,)
            change = Unreadable(names, text, f"the statement ended with error {query.error_code}")
        return change

    def _of_lasting_tables(self, change: Change, thread_id: int) -> Change | None:
        """Return what a statement does to tables that are not temporary; None for nothing.

        A temporary table of its session hides a table of the same name.
        """
        if isinstance(change, TemporaryTables) and change.created:
            self._temporary |= {(thread_id, name) for name in change.names}
            return None
        if isinstance(change, AlterTable | TruncateTable):
            steps = change.steps if isinstance(change, AlterTable) else ()
            new_names = [step.name for step in steps if isinstance(step, RenameTo)] or [change.name]
            return None if self._drop_temporary(change.name, thread_id, new_names[-1]) else change
        if isinstance(change, TemporaryTables | DropTables) and self._temporary:
            left = tuple(name for name in change.names if not self._drop_temporary(name, thread_id))
            return DropTables(left) if left and isinstance(change, DropTables) else None
        if isinstance(change, RenameTables) and self._temporary and self._mariadb:
            pairs = tuple(pair for pair in change.pairs if not self._drop_temporary(pair[0], thread_id, pair[1]))
            return RenameTables(pairs) if pairs else None
        return None if isinstance(change, TemporaryTables) else change

    def _drop_temporary(self, name: TableName, thread_id: int, new_name: TableName | None = None) -> bool:
        """Drop a temporary table, or give it a new name; return whether there is one."""
        hiding = self._hiding(name, thread_id)
        self._temporary -= hiding
        if hiding and new_name is not None:
            self._temporary |= {(thread_id, new_name)}
        return bool(hiding)

    def _hiding(self, name: TableName, thread_id: int) -> set[tuple[int, TableName]]:
        """Return the temporary tables of a session with this name."""
        if (thread_id, name) in self._temporary or self.catalog.case_matters:
            return {(thread_id, name)} & self._temporary
        lower = in_lower_case(name)
        return {pair for pair in self._temporary if pair[0] == thread_id and in_lower_case(pair[1]) == lower}

    def _detect_case(self, *names: str) -> None:
        """Detect a server that preserves case: a name that it stored is not all in lower case."""
        if not self.catalog.case_matters and any(name != name.lower() for name in names):
            self._replay()

    def _replay(self) -> None:
        """Apply all statements again, now that the server is known to preserve the case of names."""
        guessed = self.catalog.has_guessed
        self.catalog.case_matters = True
        if not guessed:
            return
        self.catalog = replace(self.base.copy(), case_matters=True, has_guessed=False)
        for entry in self.entries:
            with suppress(NotUnderstood):
                self.catalog.apply(entry.change, entry.position)

    def _record(self, entry: Entry, statement: str = "") -> None:
        self.entries.append(entry)
        knew_case = self.catalog.case_matters
        try:
            self.catalog.apply(entry.change, entry.position)
            if self.catalog.case_matters != knew_case:
                self._replay()
        except NotUnderstood as error:
            text = entry.change.statement if isinstance(entry.change, Unreadable) else statement
            self._report(UnreadableDdl(entry.position, text, error.message))

    def _report(self, unreadable: UnreadableDdl) -> None:
        self.unreadable.append(unreadable)
        if self.on_notice is not None:
            self.on_notice(unreadable)

    def _table_schema(self, table_map: TableMap, sources: _Sources, position: Position | None) -> TableSchema:
        known = self._by_value.get(table_map)
        if known is None or not known.is_from(sources):
            schema = self._derive(table_map, sources, position)
            if len(self._by_value) >= _MAX_CACHED:
                self._by_value.clear()
            known = self._by_value[table_map] = _Known(table_map, sources, schema)
        if len(self._by_identity) >= _MAX_CACHED:
            self._by_identity.clear()
        self._by_identity[id(table_map)] = known._replace(table_map=table_map)
        return known.schema

    def _derive(self, table_map: TableMap, sources: _Sources, position: Position | None) -> TableSchema:
        where = position or self._position_of(table_map)
        try:
            logged = replace(from_table_map(table_map, mariadb=self._mariadb), lineage=sources.lineage)
        except BinlogError as error:
            raise error.at(where) from None
        table, unknown = in_known_charsets(self._completed(logged, table_map, sources, where))
        if unknown:
            reason = "columns have collations that only their server knows, and are read as bytes"
            name = TableName(table.schema, table.table)
            self._say_once(DoubtfulTable(where, name, f"{reason}: {', '.join(unknown)}"))
        return table

    def _completed(self, logged: TableSchema, table_map: TableMap, sources: _Sources, where: Position) -> TableSchema:
        """Return the table that the log describes, completed by a definition of it that does not contradict the log."""
        visibility_is_logged = table_map.optional(MetadataKind.COLUMN_VISIBILITY) is not None
        differs = None
        for definition in (sources.given, sources.definition):
            if definition is None:
                continue
            defined, hidden = with_hidden_columns(logged, definition)
            differs = difference(logged, defined)
            if differs is None:
                if hidden:
                    self._say_once(HiddenColumns(where, TableName(logged.schema, logged.table), hidden))
                return merge(logged, defined, visibility_is_logged=visibility_is_logged)
        definition = sources.definition
        if differs is None or definition is None:
            return logged
        is_guess = self.catalog.tables.get(TableName(table_map.schema, table_map.table)) is not definition
        if not is_guess and definition.certain:
            rest = "the rows are read as the log describes them, and columns without a name are shown as @1, @2…"
            reason = f"{differs}; the definition is from {definition.origin}; {rest}"
            self._say_once(DoubtfulTable(where, TableName(logged.schema, logged.table), reason))
        return logged

    def _say_once(self, notice: HiddenColumns | DoubtfulTable) -> None:
        key = type(notice), notice.table
        if self.on_notice is not None and key not in self._said:
            self._said.add(key)
            self.on_notice(notice)

    def _position_of(self, table_map: TableMap) -> Position:
        fed = self._mapped
        return fed.position if fed is not None and fed.body is table_map else Position(event="TABLE_MAP")
