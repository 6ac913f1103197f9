"""Tables whose rows are not what the log contains: it lacks those of a statement, or has some that were rolled back."""

from __future__ import annotations

from binspark.mirror.source.stored_texts import StoredTexts
from binspark.mirror.state import Phase
from binspark.mirror.tables.mirrored_tables import MirroredTables
from binspark.mirror.tables.open_table import OpenTable
from binspark.schema.changes import LoggedRows, RolledBackRows, Unreadable
from binspark.schema.table import TableName
from binspark.server.config import ConnectionConfig
from binspark.spark.streaming.statements import Statement

_LOGGED = "a statement was logged without the rows that it changes (binlog_format)"


class UncertainRows:
    """Finds the tables that have to be copied again because of a statement.

    `config` is how the server is reached that knows views, triggers and functions; None if there are only logs.
    """

    def __init__(self, tables: MirroredTables, config: ConnectionConfig | None) -> None:
        self._tables = tables
        self._stored = StoredTexts(config)
        self._found: tuple[Statement, dict[TableName, str]] | None = None

    def of(self, statement: Statement) -> dict[TableName, str]:
        """Return the tables, and why they are copied. Those that were copied after the statement are right."""
        if self._found is None or self._found[0] is not statement:
            self._found = statement, self._find(statement)
        return self._found[1]

    def _find(self, statement: Statement) -> dict[TableName, str]:
        match statement.change:
            case Unreadable(names, reason=reason):
                return dict.fromkeys(names, f"a statement is not understood: {reason}")
            case LoggedRows() as change:
                own, keys = self._not_reached(statement), self._tables.foreign_keys
                reached = self._stored.tables_reached(change, (*own, *keys.parents))
                return dict.fromkeys({*reached, *keys.tables_changed_with(reached)}.intersection(own), _LOGGED)
            case RolledBackRows(names, reason):
                own = self._not_reached(statement)
                found = (table for table in map(self._tables.find, names or ()) if table is not None)
                named = own if names is None else {table.source_name for table in found if table.source_name in own}
                return dict.fromkeys(named, reason)
        return {}

    def _not_reached(self, statement: Statement) -> tuple[TableName, ...]:
        """Return the mirrored tables that have not reached a statement."""
        return tuple(table.source_name for table in self._tables if _is_own(table, statement))


def _is_own(table: OpenTable, statement: Statement) -> bool:
    is_live = not table.has_versions and table.state.phase is not Phase.DROPPED
    return is_live and not table.position.reaches(statement.position)
