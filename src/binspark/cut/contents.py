"""Which events of a transaction are kept, where tables, operations or rows are selected.

Statements are kept or removed as a unit: a table map only if rows of the statement are left, the text of the statement
with it; and the last rows event that is left ends the statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from binspark.changes.statements import statement_tables
from binspark.columns.selection import Operations, Selection
from binspark.cut.output import bare
from binspark.errors import Unsupported
from binspark.event import AnnotateRows, Event, PartialRowData, Query, Rows, RowsQuery, TableMap
from binspark.event.rows import RowsFlag
from binspark.event.variables import Intvar, Rand, UserVar
from binspark.frames import EventCode as E
from binspark.schema.text import first_word
from binspark.transactions.grammar import STATEMENT_HEAD, Role, boundary_of

if TYPE_CHECKING:
    from binspark.cut.condition import SelectedRows

_PREPARES_STATEMENT = (Intvar, Rand, UserVar)
_LOADS = frozenset(
    map(
        int,
        (
            *(E.LOAD, E.NEW_LOAD, E.CREATE_FILE, E.APPEND_BLOCK, E.EXEC_LOAD, E.DELETE_FILE),
            *(E.BEGIN_LOAD_QUERY, E.EXECUTE_LOAD_QUERY),
        ),
    )
)
_MAX_TABLE_MAPS = 4096
_OPERATIONS = {
    "INSERT": Operations.INSERT,
    "REPLACE": Operations.INSERT,
    "UPDATE": Operations.UPDATE,
    "DELETE": Operations.DELETE,
    "TRUNCATE": Operations.TRUNCATE,
}
_CHANGES = re.compile(rf"({'|'.join(_OPERATIONS)})\b", re.IGNORECASE)


class Contents:
    """Chooses the events between the beginning and the end of transactions.

    `feed` yields events without their checksums, in their order. At most one rows event and what precedes the rows of
    its statement are held.
    """

    def __init__(self, selection: Selection, selected_rows: SelectedRows | None) -> None:
        self._selection = selection
        self._selected_rows = selected_rows
        self._maps: dict[int, str] = {}
        self._before_rows: list[bytes] = []
        self._prepared: list[bytes] = []
        self._rows: tuple[Event, Rows] | None = None

    def begin(self) -> None:
        """Begin a transaction."""
        self._before_rows, self._prepared, self._rows = [], [], None

    def feed(self, event: Event) -> Iterator[bytes]:
        """Take an event; yield what is kept and can be written now."""
        body: Any = event.body
        if self._selected_rows is not None and event.inner is not None:
            self._selected_rows.note(event)
        if isinstance(body, TableMap):
            self._map_table(event, body)
        elif isinstance(body, Rows):
            yield from self._feed_rows(event, body)
        elif isinstance(body, RowsQuery | AnnotateRows):
            self._before_rows = [bare(event)]
        elif isinstance(body, _PREPARES_STATEMENT):
            self._prepared.append(bare(event))
        elif isinstance(body, PartialRowData) or event.type_code in _LOADS:
            kind = "fragments of rows events" if isinstance(body, PartialRowData) else "LOAD DATA as statements"
            message = f"{kind} cannot be cut by table, operation or condition; select complete transactions"
            raise Unsupported(message, event.position)
        elif isinstance(body, Query) and boundary_of(event).role is Role.STATEMENT:
            if self._wants_statement(body):
                yield from self._prepared
                yield bare(event)
            self._prepared = []
        else:
            yield bare(event)

    def _map_table(self, event: Event, body: TableMap) -> None:
        if len(self._maps) > _MAX_TABLE_MAPS:
            self._maps.clear()
        name = f"{body.schema}.{body.table}"
        self._maps[body.table_id] = name
        if self._selection.wants(name):
            self._before_rows.append(bare(event))

    def _feed_rows(self, event: Event, rows: Rows) -> Iterator[bytes]:
        ends_statement = rows.ends_statement
        left = self._left_of(event, rows)
        if left is not None:
            if self._rows is None:
                yield from self._before_rows
            else:
                yield _rows_event(*self._rows, ends_statement=False)
            self._rows = event, left
        if ends_statement:
            if self._rows is not None:
                yield _rows_event(*self._rows, ends_statement=True)
            self._before_rows, self._rows = [], None

    def _left_of(self, event: Event, rows: Rows) -> Rows | None:
        """Return a rows event with the rows that are kept; None if there are none."""
        table = self._maps.get(rows.table_id)
        wanted = table is not None and self._selection.wants(table) and self._selection.wants_operation(rows.operation)
        if self._selected_rows is not None:
            return self._selected_rows.left_of(event, rows) if table is not None else None
        return rows if wanted and rows.rows else None

    def _wants_statement(self, body: Query) -> bool:
        text = body.query[:STATEMENT_HEAD].decode("latin-1")
        changes = _CHANGES.match(text, first_word(text) or 0)
        if changes is not None and not self._selection.operations & _OPERATIONS[changes[1].upper()]:
            return False
        named = statement_tables(body.query, body.schema)
        if any(map(self._selection.wants, named)):
            return True
        return not named and self._selection.tables is None


def _rows_event(event: Event, rows: Rows, *, ends_statement: bool) -> bytes:
    flags = rows.flags | RowsFlag.STMT_END if ends_statement else rows.flags & ~RowsFlag.STMT_END
    is_same = rows is event.body and flags == rows.flags
    return bare(event) if is_same else bare(event, replace(rows, flags=flags))
