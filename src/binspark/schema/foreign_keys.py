"""The foreign keys of a server's tables, as far as SELECT lets a user see them.

MariaDB shows information_schema.referential_constraints only to users who may change the tables. Both servers show the
columns of a key, and SHOW CREATE TABLE, to everyone who may read them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from binspark.errors import Authentication, Server
from binspark.schema.table import TableName

CASCADES_BY_ENGINE = "innodb_native_foreign_keys"
"""The variable that is OFF where the server itself changes the rows of foreign keys, and logs them: MySQL from 9.6."""

_LOGGED = "OFF"
_COLUMNS = """SELECT table_schema, table_name, constraint_name, column_name,
        referenced_table_schema, referenced_table_name, referenced_column_name
    FROM information_schema.key_column_usage
    WHERE referenced_table_name IS NOT NULL AND {which}
    ORDER BY table_schema, table_name, constraint_name, ordinal_position"""
_ALL = "table_schema NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')"
_ACTION = r"(CASCADE|SET NULL|SET DEFAULT|RESTRICT|NO ACTION)"
_NAME = r"(`(?:[^`]|``)+`|\"[^\"]+\"|[\w$]+)"
_DROPPED = re.compile(rf"\bDROP\s+(?:FOREIGN\s+KEY|CONSTRAINT)\s+(?:IF\s+EXISTS\s+)?{_NAME}", re.IGNORECASE)
_CASCADING = re.compile(r"\bON\s+(?:DELETE|UPDATE)\s+(?:CASCADE|SET\s+NULL)\b", re.IGNORECASE)
_ACTIONS = {change: re.compile(rf"\) (?:ON \w+ {_ACTION} )?ON {change} {_ACTION}") for change in ("DELETE", "UPDATE")}

Query = Callable[[str], Sequence[Sequence[Any]]]


class RowChange(StrEnum):
    """How a row that others refer to changes."""

    DELETE = "DELETE"
    UPDATE = "UPDATE"


class Action(StrEnum):
    """What becomes of the rows that refer to it. None of them is changed by the others: RESTRICT, NO ACTION."""

    CASCADE = "CASCADE"
    SET_NULL = "SET NULL"


_CHANGING = frozenset(map(str, Action))


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key: rows of `table` refer to rows of `parent`.

    on   what becomes of them if those are deleted, or their columns are updated; empty if nothing does
    """

    name: str
    table: TableName
    columns: tuple[str, ...]
    parent: TableName
    referenced: tuple[str, ...]
    on: tuple[tuple[RowChange, Action], ...] = ()

    def action(self, change: RowChange) -> Action | None:
        """Return what becomes of rows if the rows change that they refer to; None for nothing."""
        return dict(self.on).get(change)

    def describe(self) -> str:
        """Return the key as a short text."""
        actions = " ".join(f"ON {change} {action}" for change, action in self.on)
        return f"{self.name} of {self.table} to {self.parent} ({actions})"


def cascades_are_logged(variables: Any) -> bool:
    """Return whether a server logs the rows that foreign keys change, by its variables."""
    return bool(variables.get(CASCADES_BY_ENGINE) == _LOGGED)


def read_foreign_keys(query: Query, schemas: Collection[str] | None = None) -> list[ForeignKey]:
    """Return the foreign keys of the tables in some databases, or in all. `query` returns the rows of a statement."""
    listed = ", ".join(f"CONVERT(X'{schema.encode().hex()}' USING utf8mb4)" for schema in sorted(schemas or ()))
    which = _ALL if schemas is None else f"table_schema IN ({listed})" if listed else "FALSE"
    parts: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for row in query(_COLUMNS.format(which=which)):
        schema, table, name, column, parent_schema, parent, referenced = map(_text, row)
        parts.setdefault((schema, table, name, parent_schema, parent), []).append((column, referenced))
    shown: dict[TableName, str] = {}
    return [_foreign_key(query, shown, key, columns) for key, columns in parts.items()]


class ForeignKeys:
    """Foreign keys that change rows, by the tables that they refer to.

    names   the names of all foreign keys that were seen, by their tables; also of keys that change nothing
    """

    def __init__(self, keys: Iterable[ForeignKey] = ()) -> None:
        self.names: dict[TableName, set[str]] = {}
        self._by_parent: dict[TableName, dict[ForeignKey, None]] = {}
        self.add(keys)

    def __iter__(self) -> Iterator[ForeignKey]:
        return (key for keys in self._by_parent.values() for key in keys)

    def remove(self, key: ForeignKey) -> None:
        """Forget a foreign key, but not that there was one of its name."""
        self._by_parent[key.parent].pop(key, None)

    def add(self, keys: Iterable[ForeignKey]) -> None:
        """Add foreign keys."""
        for key in keys:
            self.names.setdefault(key.table, set()).add(key.name)
            if key.on:
                self._by_parent.setdefault(key.parent, {})[key] = None

    @property
    def parents(self) -> tuple[TableName, ...]:
        """The tables whose rows others refer to."""
        return tuple(parent for parent, keys in self._by_parent.items() if keys)

    def to(self, parent: TableName) -> tuple[ForeignKey, ...]:
        """Return the foreign keys that refer to a table."""
        return tuple(self._by_parent.get(parent, ()))

    def tables_changed_with(self, names: Iterable[TableName]) -> list[TableName]:
        """Return the tables whose rows may change with those of some tables: directly, or with one of these."""
        found: list[TableName] = []
        waiting = list(names)
        for name in waiting:  # which grows
            new = [key.table for key in self.to(name) if key.table not in found]
            found += dict.fromkeys(new)
            waiting += dict.fromkeys(new)
        return found

    def concerning(self, names: Iterable[TableName]) -> ForeignKeys:
        """Return the keys that may change rows of some tables, directly or through others."""
        wanted, keys, is_growing = set(names), list(self), True
        while is_growing:
            parents = {key.parent for key in keys if key.table in wanted}
            is_growing = not parents <= wanted
            wanted |= parents
        return ForeignKeys(key for key in keys if key.table in wanted)


def dropped_names(statement: str) -> list[str]:
    """Return the names of foreign keys, or other constraints, that ALTER TABLE drops.

    >>> dropped_names("ALTER TABLE t DROP FOREIGN KEY `a``b`, DROP COLUMN c, DROP CONSTRAINT IF EXISTS d")
    ['a`b', 'd']
    """
    return [_unquoted(name) for name in _DROPPED.findall(statement)]


def concerns_foreign_keys(statement: str) -> bool:
    """Return whether a statement seems to define a foreign key that changes rows, or to drop one."""
    return may_cascade(statement) or bool(dropped_names(statement))


def may_cascade(statement: str) -> bool:
    """Return whether a statement seems to define a foreign key that changes rows.

    >>> may_cascade("CREATE TABLE t (a INT REFERENCES p (id) ON DELETE SET NULL)")
    True
    """
    return _CASCADING.search(statement) is not None


def _foreign_key(
    query: Query, shown: dict[TableName, str], key: tuple[str, ...], columns: Sequence[tuple[str, str]]
) -> ForeignKey:
    schema, table, name, parent_schema, parent = key
    child = TableName(schema, table)
    if child not in shown:
        try:
            shown[child] = _text(query(f"SHOW CREATE TABLE {_quoted(schema)}.{_quoted(table)}")[0][1])
        except (Server, Authentication):  # it was dropped or renamed since, or is hidden from the user
            shown[child] = ""
    own, referenced = zip(*columns, strict=True)
    return ForeignKey(name, child, own, TableName(parent_schema, parent), referenced, _actions(shown[child], name))


def _actions(created: str, name: str) -> tuple[tuple[RowChange, Action], ...]:
    """Return what the definition of a table says of a foreign key. MariaDB writes a backtick in its name as it is."""
    spellings = {f"{quote}{text}{quote}" for text in (name, name.replace("`", "``")) for quote in '`"'}
    for line in created.splitlines():
        begin, _, rest = line.strip().partition(" FOREIGN KEY ")
        if begin.removeprefix("CONSTRAINT ") in spellings:
            found = {change: _ACTIONS[change].search(rest) for change in RowChange}
            return tuple(
                (change, Action(match[2])) for change, match in found.items() if match and match[2] in _CHANGING
            )
    return tuple((change, Action.CASCADE) for change in RowChange)  # it is not shown: it may do anything


def _unquoted(name: str) -> str:
    return name[1:-1].replace("``", "`") if name[0] in '`"' else name


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
