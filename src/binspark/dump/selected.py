"""Which events the options of `rows` select for a dump: complete events, so that what is printed can be applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binspark.changes.statements import statement_tables
from binspark.columns.selection import Operations, Selection

if TYPE_CHECKING:
    from binspark.event import RowOperation


class SelectedTables:
    """Selects table maps, rows events and statements by their tables and operations."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._by_table = selection.tables is not None or bool(selection.excluded)
        self._by_operation = selection.operations is not Operations.ALL

    @property
    def selects_all(self) -> bool:
        """Whether no table and no operation is left out."""
        return not self._by_table and not self._by_operation

    def wants_table(self, schema: str, table: str) -> bool:
        """Return whether the rows of a table are selected."""
        return not self._by_table or self._selection.wants(f"{schema}.{table}")

    def wants_operation(self, operation: RowOperation) -> bool:
        """Return whether rows events of this kind are selected."""
        return not self._by_operation or self._selection.wants_operation(operation)

    def wants_statement(self, query: bytes, schema: str) -> bool:
        """Return whether a statement is selected: one that names a selected table."""
        if self.selects_all:
            return True
        return not self._by_operation and any(map(self._selection.wants, statement_tables(query, schema)))
