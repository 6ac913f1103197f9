"""Which tables a statement may change that was logged without its rows, as far as its text and the server say it.

A statement changes tables that its text mentions; through a view, a trigger or a function also those that these
mention, and so on. Tables that are only read count, too: such statements are rare, and to copy a table is never wrong.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from binspark.schema.changes import LoggedRows
from binspark.schema.table import TableName
from binspark.server.config import ConnectionConfig
from binspark.server.connection import connect

_SQL = (
    "SELECT table_schema, table_name, table_schema, view_definition FROM information_schema.views "
    "WHERE table_schema <> 'sys'",
    "SELECT event_object_schema, event_object_table, trigger_schema, action_statement FROM information_schema.triggers "
    "WHERE event_object_schema <> 'sys'",
    "SELECT routine_schema, routine_name, routine_schema, routine_definition FROM information_schema.routines "
    "WHERE routine_type = 'FUNCTION' AND routine_schema NOT IN ('sys', 'mysql')",
)

_SECONDS = 1.0


class StoredText(NamedTuple):
    """A view, a trigger or a function: the name whose use runs it, its schema, and its text; None if it is hidden."""

    name: TableName
    schema: str
    text: str | None


class StoredTexts:
    """The views, triggers and functions that a server has, as far as its user may see them; none of logs alone.

    They are read again after a second: a session may log many statements.
    """

    def __init__(self, config: ConnectionConfig | None) -> None:
        self._config = config
        self._read: tuple[float, list[StoredText]] | None = None

    def tables_reached(self, change: LoggedRows, tables: Iterable[TableName]) -> tuple[TableName, ...]:
        """Return the tables that a statement may change: all, if it uses something whose text is hidden."""
        tables = tuple(tables)
        texts = self._texts_of(change) if tables else ()
        return tables if texts is None else tuple(name for name in tables if any(text.of(name) for text in texts))

    def may_reach(self, change: LoggedRows, schemas: Iterable[str]) -> bool:
        """Return whether a statement may change tables of some schemas."""
        texts = self._texts_of(change)
        return texts is None or any(text.of_schema(schema) for schema in schemas for text in texts)

    def _texts_of(self, change: LoggedRows) -> Sequence[_Mentions] | None:
        """Return the text of a statement and of all that it uses; None if one of them is hidden."""
        texts, left = [_Mentions(change.statement, change.schema)], self._stored()
        for text in texts:  # which grows
            used = [each for each in left if text.of(each.name)]
            if any(not each.text for each in used):
                return None
            left = [each for each in left if each not in used]
            texts += [_Mentions(each.text or "", each.schema) for each in used]
        return texts

    def _stored(self) -> list[StoredText]:
        if self._config is None:
            return []
        if self._read is None or time.monotonic() - self._read[0] > _SECONDS:
            with connect(self._config) as connection:
                rows = [tuple(map(_text, row)) for sql in _SQL for row in connection.rows(sql)]
            found = [
                StoredText(TableName(schema or "", name or ""), own or "", text) for schema, name, own, text in rows
            ]
            self._read = time.monotonic(), found
        return self._read[1]


class _Mentions:
    """Says whether a text mentions a table, however it is quoted; `schema` is that of names without one."""

    def __init__(self, text: str, schema: str) -> None:
        self._text = text.lower()
        self._schema = schema.lower()

    def of(self, name: TableName) -> bool:
        """Return whether the name of a table is in the text."""
        return self.of_schema(name.schema) and self._has(name.table)

    def of_schema(self, schema: str) -> bool:
        """Return whether the text may mention tables of a schema."""
        return schema.lower() == self._schema or self._has(schema)

    def _has(self, word: str) -> bool:
        quoted = re.escape(word.lower().replace("`", "``"))
        return re.search(rf"(?<![\w$]){quoted}(?![\w$])", self._text) is not None


def _text(value: object) -> str | None:
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    return None if value is None else str(value)
