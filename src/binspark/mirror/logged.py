"""The definitions that tables have in the log where the history of changes is, if the mirror has later ones.

A table that is copied has the definition of then, but the history has its changes from before, too. Logs may lack the
names, types and character sets of columns: without the definition of their time, values would be other ones. So
definitions are followed here, statement by statement, and stored in the same commit as the changes: a mirror that was
killed has them again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from binspark.mirror.schema.definitions import read_stored
from binspark.mirror.state import Phase
from binspark.mirror.tables.mirrored_tables import MirroredTables
from binspark.replication.position import BinlogPosition
from binspark.schema.catalog import Catalog
from binspark.schema.changes import NotUnderstood
from binspark.schema.definition import TableDefinition
from binspark.schema.table import TableName
from binspark.spark.streaming.statements import Statement

if TYPE_CHECKING:
    from binspark.mirror.history import ChangeHistory, Definitions

log = logging.getLogger("binspark.mirror")


class LoggedDefinitions:
    """The definitions of tables at the position of the history.

    Where it stores none, that of the mirror is the one: a table may be ahead, but with the same definition. None is
    stored for one that is not known.
    """

    def __init__(self, tables: MirroredTables, history: ChangeHistory) -> None:
        self._tables = tables
        self.history = history
        self._keeping = Lock()
        self._not_known: set[TableName] = set()

    def begin(self, start: BinlogPosition) -> None:
        """Let the history begin where the log is read from, unless it has begun.

        If it was not there before, the definitions of tables that were copied later are not known.
        """
        if self.history.position is not None:
            return
        if not self.history.begin(start, self._tables.target.cuts.last(), self._tables.mirror_id):
            own = (table for table in self._tables if not table.has_versions and table.state.phase is not Phase.DROPPED)
            self.history.store({table.source_name: None for table in own if not start.reaches(table.position)})

    def at(self, start: BinlogPosition) -> Catalog:
        """Return the definitions at the beginning of a range; if the history has the range already, any.

        If that of a table which was copied later is not known, the table maps of the log take precedence.
        """
        catalog, known = self._tables.catalog, self.history.definitions
        if self.history.position is None or not start.reaches(self.history.position):
            return catalog
        others = known.keys() - self._certain(start)
        if not others:
            return catalog
        catalog = catalog.copy()
        for name in others:
            definition, later = known[name], catalog.tables.get(name)
            if definition is None and later is not None:
                definition = replace(later, certain=False)
                self._warn(name)
            if definition is not None:
                catalog.tables[name] = definition
        return catalog

    def after(self, logged: Catalog, statements: Sequence[Statement], start: BinlogPosition) -> Definitions:
        """Return what the history stores after a range: definitions that the mirror may not have any more.

        They are those of tables that were copied later, and of tables that the statements change: the mirror may have
        to copy them.
        """
        certain = self._certain(start)
        stored = {name: known for name, known in self.history.definitions.items() if name not in certain}
        if not statements:
            return stored
        after = logged.copy()
        for statement in statements:
            with suppress(NotUnderstood):
                after.apply(statement.change, statement.origin)
        for name in {*logged.tables, *after.tables}:
            definition = after.tables.get(name)
            if definition == logged.tables.get(name) or not self._tables.patterns.wants(name):
                continue
            if definition is not None or name not in after.tables:
                stored[name] = definition
            else:
                stored.pop(name, None)  # it was dropped
        return stored

    def keep(self, position: BinlogPosition, copied: Mapping[TableName, TableDefinition | None]) -> None:
        """Store the definitions of tables that are to be copied, with those that they have at a position."""
        with self._keeping:  # tables are copied by several threads
            self.begin(self._tables.position or position)
            start, known = self.history.position, dict(self.history.definitions)
            assert start is not None
            for name, definition in copied.items():
                if name in known:
                    continue
                if position.coordinates != start.coordinates:
                    known[name] = self._definition_of(name, start)
                elif definition is not None and not self._tables.mirrored(name, definition).key:
                    known[name] = definition  # its copy will have a later position
            self.history.store(known)

    def _definition_of(self, name: TableName, start: BinlogPosition) -> TableDefinition | None:
        """Return the definition of a table that is copied at a later position; None if it is not known."""
        table = self._tables.find(name) or self._tables.existing(name)
        if table is None or table.state.phase is Phase.DROPPED:
            return None
        staged = table.state.staged
        if staged is not None and staged.position.coordinates == start.coordinates:
            return read_stored(staged.definition)[1]
        return table.definition if start.reaches(table.state.position) or staged is None else None

    def _certain(self, start: BinlogPosition) -> set[TableName]:
        """Return the tables whose definition in the mirror is that of a position."""
        own = (table for table in self._tables if table.is_applied and not table.has_versions)
        return {table.source_name for table in own if start.reaches(table.position)}

    def _warn(self, name: TableName) -> None:
        """Warn once of a table whose definition before its copy is not known."""
        table = self._tables.find(name)
        if table is None or table.state.phase is Phase.DROPPED or name in self._not_known:
            return
        self._not_known.add(name)
        message = "%s: its definition before %s, where it was copied, is not known"
        effect = "if it was altered since, the history has its changes from before as the log has them"
        log.warning(f"{message}; {effect}", name, table.position.describe())
