"""The rows of a server as they are now, compared with what an undo of its log expects of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from binspark.changes.change import Change
from binspark.changes.reader import ChangeReader
from binspark.columns.selection import Operations
from binspark.errors import SourceError
from binspark.replication.server_input import ServerInput
from binspark.schema.history import SchemaHistory
from binspark.schema.table import TableSchema
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection, connect
from binspark.sql.conflicts import Conflicts, UndoneRow
from binspark.sql.script import Script
from binspark.sql.session import session_statements
from binspark.sql.statements import statements_of
from binspark.values.value import Row

_ROWS_PER_QUERY = 200
_BYTES_PER_QUERY = 1 << 19


class _Expected(NamedTuple):
    """What the server should have of a row: these values, or no row with this key."""

    table: TableSchema
    image: Row
    is_there: bool


class ServerNow:
    """The same part of a server's log as an undo reads, and the server's rows after it.

    log     is read before the input that is undone
    notify  is called with what could not be compared
    """

    def __init__(
        self, log: ServerInput, config: ConnectionConfig, script: Script, notify: Callable[[str], None]
    ) -> None:
        self._log, self._config, self._notify = log, config, notify
        rows_only = replace(script.selection, operations=script.selection.operations & ~Operations.TRUNCATE, where=None)
        history = SchemaHistory(script.history.base, lower_case_names=script.history.lower_case_names)
        self._reader = ChangeReader(rows_only, history, exact=True)
        self._expected: dict[UndoneRow, _Expected] = {}

    def compare(self, conflicts: Conflicts) -> None:
        """Add what others have changed: in the log, and after it."""
        for chunk in self._log.chunks():
            selected = conflicts.read_chunk(chunk)
            for event in chunk.events():
                for change in self._reader.feed(event):
                    if (change.pos, change.row) in selected:
                        self._expect(change, conflicts.rows_of(change))
        with connect(self._config) as connection:
            for statement in session_statements():
                connection.rows(statement)
            connection.rows("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            self._compare_rows(connection, conflicts)

    def _expect(self, change: Change, rows: tuple[UndoneRow, ...]) -> None:
        """Note what a change has left, if its rows can be found again."""
        statements = statements_of(change.table_schema)
        old, new = statements.images_left(change)
        for row in rows if new is None else rows[:-1]:
            self._expected.pop(row, None)  # there may be others with equal values, if they have no key
            if statements.key and old is not None:
                self._expected[row] = _Expected(change.table_schema, old, is_there=False)
        if new is not None and rows:
            self._expected[rows[-1]] = _Expected(change.table_schema, new, is_there=True)

    def _compare_rows(self, connection: Connection, conflicts: Conflicts) -> None:
        by_table: dict[str, dict[UndoneRow, _Expected]] = {}
        for row, expected in self._expected.items():
            if row.last < row.first:  # nobody else has changed it in the log
                by_table.setdefault(expected.table.name, {})[row] = expected
        for table, rows in by_table.items():
            try:
                for part in _parts(rows):
                    _compare_part(connection, part, conflicts)
            except SourceError as error:
                self._notify(
                    f"the rows of {table} that the script undoes were not compared with the rows of the server: "
                    f"{error}; the script itself checks them when it is run"
                )


def _parts(rows: Mapping[UndoneRow, _Expected]) -> Iterator[list[tuple[UndoneRow, _Expected, str]]]:
    """Yield rows with the queries for them, as many as one statement asks for."""
    part: list[tuple[UndoneRow, _Expected, str]] = []
    size = 0
    for row, expected in rows.items():
        query = statements_of(expected.table).comparison(len(part), expected.image)
        part.append((row, expected, query))
        size += len(query)
        if len(part) >= _ROWS_PER_QUERY or size >= _BYTES_PER_QUERY:
            yield part
            part, size = [], 0
    if part:
        yield part


def _compare_part(connection: Connection, part: list[tuple[UndoneRow, _Expected, str]], conflicts: Conflicts) -> None:
    found = {
        int(number): str(equal) for number, equal in connection.rows(" UNION ALL ".join(query for *_, query in part))
    }
    for number, (row, expected, _) in enumerate(part):
        equal = found.get(number)
        if (equal is not None) != expected.is_there:
            conflicts.touch_now(row, None)
        elif equal is not None and "0" in equal:
            columns = statements_of(expected.table).compared(expected.image)
            conflicts.touch_now(row, [index for index, flag in zip(columns, equal, strict=True) if flag == "0"])
