"""All tables of a mirror: those that the target has, what is defined in the source, and how far each is."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from threading import Lock

from binspark.errors import SchemaError
from binspark.mirror.files.data_file import DataFile
from binspark.mirror.schema.definitions import as_mirrored, catalog_of, has_members_without_text, read_stored, stored
from binspark.mirror.schema.mirrored_table import HISTORY, MirroredTable
from binspark.mirror.schema.version_table import is_versions_name, table_of_versions, versioned, versions_name
from binspark.mirror.settings import DropMode, MirrorSettings
from binspark.mirror.source.change_source import TablePatterns
from binspark.mirror.source.identity import Identified, mirror_id
from binspark.mirror.state import Phase, TableState
from binspark.mirror.tables.open_table import OpenTable
from binspark.mirror.tables.staged_files import StagedFiles, new_copy
from binspark.mirror.tables.staging import Staging
from binspark.mirror.targets.commits import check_mirror, other_mirror
from binspark.mirror.targets.cuts import CUT_TABLE
from binspark.mirror.targets.target import Cut, TableVersion, Target, TargetTable
from binspark.position import Position
from binspark.replication.position import BinlogPosition
from binspark.schema.catalog import Catalog, in_lower_case
from binspark.schema.changes import Change, NotUnderstood
from binspark.schema.definition import TableDefinition
from binspark.schema.foreign_keys import ForeignKeys
from binspark.schema.table import TableName
from binspark.values.charsets import charset_of

log = logging.getLogger("binspark.mirror")
_THREADS = 8


class MirroredTables:
    """The tables of a mirror.

    catalog     the definitions at the position of the mirror; another object after each change
    mirror_id   the name of the mirror, once its tables were loaded

    foreign_keys       those that change rows of the tables without logging it, as far as they are known
    without_versions   tables of which was said that the versions of their rows cannot be kept
    """

    def __init__(self, target: Target, patterns: TablePatterns, settings: MirrorSettings) -> None:
        self.target = target
        self.patterns = patterns
        self.settings = settings
        self.catalog = Catalog()
        self.mirror_id = ""
        self.foreign_keys = ForeignKeys()
        self.without_versions: set[TableName] = set()
        self._tables: dict[TableName, OpenTable] = {}
        self._defining = Lock()
        self._last_number = -1
        self._reached: BinlogPosition | None = None

    def load(self, databases: Catalog, source: Identified, fresh: Collection[TableName] = ()) -> None:
        """Read all tables of the target that are mirrored, but not those that are to be copied again.

        A copy that a run before has begun continues. If all tables are copied, the log before that is not needed; the
        history of changes needs it, unless the user wants the copies.
        `databases` has what is known of the source's databases.
        """
        names = [name for name in self.target.tables() if name != HISTORY and self.wants(name)]
        with ThreadPoolExecutor(_THREADS) as pool:
            found = pool.map(lambda name: self._open_known(name, is_fresh=name in fresh), names)
            opened = _with_tables([table for table in found if table is not None])
        cut, self._reached = self.target.cuts.last(), None
        self._identify(source, opened, cut)
        self._tables = {table.name: table for table in opened}
        defined = sorted(opened, key=lambda table: not table.has_versions)  # tables count, not their versions
        self.catalog = catalog_of(((table.source_name, table.definition) for table in defined), databases)
        self._last_number = -1 if cut is None else cut.number
        is_copied = not self.settings.history and any(table.state.phase is Phase.SNAPSHOT for table in opened)
        is_copied |= bool(fresh)
        if cut is not None and opened and (not is_copied or any(table.is_applied for table in opened)):
            reached = self._reached = BinlogPosition.parse(cut.position)
            in_cut = {name for name, _ in cut.versions}
            for table in opened:
                if table.name in in_cut and table.is_applied:
                    table.skip_to(reached)

    def _open_known(self, name: TableName, *, is_fresh: bool) -> OpenTable | None:
        found = self.target.table(name)
        if found is None:
            return None
        version = found.read()
        state = version.state
        if state is None or (is_fresh and state.staged is None):
            return None
        if state.has_versions and not self.settings.scd2:
            return None
        return self._opened(found, version)

    def _identify(self, source: Identified, opened: Sequence[OpenTable], cut: Cut | None) -> None:
        """Find out which mirror this is, and refuse what another has written."""
        stored = [(table.state.mirror, table.state.position) for table in opened]
        if cut is not None:
            stored.insert(0, (cut.mirror, BinlogPosition.parse(cut.position)))
        written_by, position = stored[0] if stored else (None, None)
        self.mirror_id = mirror_id(self.settings.mirror_id, source, written_by, position)
        for table in opened:
            check_mirror(table.state, self.mirror_id, table.target.address)
        if cut is not None and cut.mirror != self.mirror_id:
            raise other_mirror(cut.mirror, self.mirror_id, CUT_TABLE)

    def _opened(
        self, table: TargetTable, version: TableVersion | None = None, *, accept_foreign: bool = False
    ) -> OpenTable:
        settings, accept = self.settings, accept_foreign or self.settings.accept_foreign
        return OpenTable(table, self.target.column_type, settings.columns, version, accept_foreign=accept)

    def __iter__(self) -> Iterator[OpenTable]:
        return iter(list(self._tables.values()))

    def __len__(self) -> int:
        return len(self._tables)

    def __contains__(self, name: TableName) -> bool:
        return name in self._tables

    def wants(self, name: TableName) -> bool:
        """Return whether a table of the target is mirrored, or has the versions of one that is."""
        is_versions = self.settings.scd2 and is_versions_name(name)
        return self.patterns.wants(table_of_versions(name) if is_versions else name)

    def versions_of(self, name: TableName) -> OpenTable | None:
        """Return the table with the versions of a table's rows; None if there is none."""
        found = self._tables.get(versions_name(name))
        return found if found is not None and found.has_versions else None

    def open_versions(self, main: OpenTable) -> OpenTable:
        """Return the table for the versions of a table's rows; if there is none, it is created.

        They wait for the rows that the table has.
        """
        name = versions_name(main.name)
        opened = self.existing(name)
        if opened is None:
            table = versioned(main.table, self.target.column_type)
            state = replace(main.state, phase=Phase.DROPPED, key=table.key, has_versions=True)
            opened = self._opened(self.target.create(name, table.schema, state))
        self._tables[name] = opened
        return opened

    def suspend_versions(self, name: TableName) -> None:
        """Suspend the versions of a table's rows until the table has rows again."""
        versions = self.versions_of(name)
        if versions is not None and versions.is_applied:
            versions.commit(replace(versions.state, phase=Phase.DROPPED, pending=None))

    def find(self, name: TableName) -> OpenTable | None:
        """Return the table that a statement means by a name."""
        exact = self._tables.get(name)
        if exact is not None or self.catalog.case_matters:
            return exact
        lower = in_lower_case(name)
        return next((table for own, table in self._tables.items() if in_lower_case(own) == lower), None)

    @property
    def position(self) -> BinlogPosition | None:
        """The position from which on the log has to be read; None if nothing is mirrored yet.

        It is that of the last cut: tables may be further, but a statement may have reached only some of them. If all
        tables are copied again, nothing before that matters.
        """
        if self._reached is not None:
            return self._reached
        positions = [table.position for table in self if table.state.phase is not Phase.DROPPED]
        return next((one for one in positions if all(other.reaches(one) for other in positions)), None)

    @property
    def cut_position(self) -> BinlogPosition | None:
        """The position of the last cut; None if there is none that the mirror continues from."""
        return self._reached

    @property
    def next_cut_number(self) -> int:
        """The number of the next cut."""
        return self._last_number + 1

    def commit_cut(self, cut: Cut) -> None:
        """Store that these versions belong together."""
        self.target.cuts.append(cut)
        self._last_number, self._reached = cut.number, BinlogPosition.parse(cut.position)

    def mirrored(self, name: TableName, definition: TableDefinition) -> MirroredTable:
        """Return how a table is mirrored."""
        if self.settings.scd2 and is_versions_name(name):
            message = f"--scd2 keeps the versions of {table_of_versions(name)} in a table {name}, which the source has"
            raise SchemaError(f"{message}: leave it out with --exclude-tables {name}")
        return as_mirrored(name, definition, self.target.column_type, self.settings.columns)

    def with_definition(self, table: OpenTable, name: TableName, definition: TableDefinition) -> MirroredTable:
        """Return how a table of the target is mirrored with another name and definition of its source."""
        found = self.mirrored(name, definition)
        return versioned(found, self.target.column_type) if table.has_versions else found

    def create(self, name: TableName, definition: TableDefinition, position: BinlogPosition, phase: Phase) -> OpenTable:
        """Create an empty table in the target; one that is there becomes it, and keeps its earlier versions."""
        table = self.mirrored(name, definition)
        state = TableState(self.mirror_id, phase, position, stored(name, definition), table.key)
        existing = self.existing(name)
        self.suspend_versions(name)
        if existing is None:
            self._tables[name] = self._opened(self.target.create(name, table.schema, state))
        else:
            existing.replace_rows(state, table.schema, ())
            self._tables[name] = self._opened(existing.target)
        self.define(name, definition)
        return self._tables[name]

    def begin_copy(self, name: TableName, definition: TableDefinition, position: BinlogPosition) -> OpenTable:
        """Begin to copy a table. What the target has of the table stays as it is until the copy is complete."""
        table, existing = self.mirrored(name, definition), self.existing(name)
        _warn_of_members(table)
        self.suspend_versions(name)
        text = stored(name, definition)
        staged = new_copy(position, text)
        if existing is None:
            state = TableState(self.mirror_id, Phase.SNAPSHOT, position, text, table.key, staged)
            target = self.target.create(name, table.schema, state)
        else:
            target, before = existing.target, existing.state
            begun = replace(before, phase=Phase.SNAPSHOT, staged=staged, pending=None, consistent_from=None)
            existing.commit(replace(begun, abandoned=False))
            if before.staged is not None:
                StagedFiles(target.directory, before.staged).abandon()
        opened = self._tables[name] = self._opened(target)
        return opened

    def staging(self, table: OpenTable) -> Staging:
        """Return the copy of a table that was begun."""
        assert table.state.staged is not None
        return Staging(table, table.state.staged, self.mirrored(*read_stored(table.state.staged.definition)))

    def end_copy(self, staging: Staging, state: TableState, files: Sequence[DataFile]) -> None:
        """Replace the rows of a table by those of a complete copy, in one commit."""
        staging.commit(replace(state, copied=staging.began), files)
        self.define(*read_stored(state.definition))

    def abandon_copy(self, name: TableName) -> None:
        """Drop a table that cannot be copied because the source no longer has it; its rows may stay."""
        table = self._tables.get(name) or self.existing(name)
        if table is None:
            return
        self._tables[name] = table
        staged = table.state.staged
        if not table.version.files or self.settings.on_drop is DropMode.DROP:
            self.drop(name)
            return
        self.suspend_versions(name)
        table.commit(replace(table.state, phase=Phase.DROPPED, staged=None, abandoned=True))
        if staged is not None:
            StagedFiles(table.target.directory, staged).abandon()

    def existing(self, name: TableName) -> OpenTable | None:
        """Return a table of the target, whatever others did to its rows. If no mirror wrote it, it is not touched."""
        found = self.target.table(name)
        if found is None:
            return None
        version = found.read()
        check_mirror(version.state, self.mirror_id, found.address)
        return self._opened(found, version, accept_foreign=True)

    def define(self, name: TableName, definition: TableDefinition | None) -> None:
        """Set the definition of a table."""
        with self._defining:  # tables are copied by several threads
            catalog = self.catalog.copy()
            catalog.tables[name] = definition
            self.catalog = catalog

    def apply(self, change: Change, origin: Position) -> None:
        """Apply a statement to the definitions; if it is not understood, those of its tables are dropped."""
        catalog = self.catalog.copy()
        with suppress(NotUnderstood):
            catalog.apply(change, origin)
        self.catalog = catalog

    def drop(self, name: TableName) -> None:
        """Drop a table of the target; the versions of its rows stay, unless what the source drops is dropped."""
        versions = self.existing(versions_name(name)) if self.settings.scd2 else None
        if versions is not None and versions.has_versions and self.settings.on_drop is DropMode.DROP:
            self.target.drop(versions.name)
            self.forget(versions.name)
        self.suspend_versions(name)
        self.target.drop(name)
        self.forget(name)

    def forget(self, name: TableName) -> None:
        """Mirror a table no longer."""
        self._tables.pop(name, None)

    def rename(self, table: OpenTable, name: TableName) -> OpenTable:
        """Rename a table of the target."""
        old = table.name
        renamed = self._opened(self.target.rename(old, name))
        self._tables.pop(old, None)
        self._tables[name] = renamed
        return renamed


def _with_tables(opened: Sequence[OpenTable]) -> list[OpenTable]:
    """Return tables without the versions of those that are not there, or whose rows are being copied."""
    complete = {table.name for table in opened if table.state.phase is not Phase.SNAPSHOT}
    return [
        table
        for table in opened
        if not table.has_versions or table.state.pending or table_of_versions(table.name) in complete
    ]


def _warn_of_members(table: MirroredTable) -> None:
    """Warn of values that the source itself has no text for."""
    for column in filter(has_members_without_text, table.source.columns):
        charset = charset_of(column.collation or 0)
        message = "%s: members of %s are not text in %s, since the server has not converted them with the table"
        advice = "they are mirrored as empty texts, until the table is converted back to the character set before"
        log.warning(f"{message}; {advice}", table.name, column.name, charset)
