"""The tables that readers have met: a table or column that a selection names, but no log has, is reported."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from binspark.columns.where.condition import columns_of
from binspark.options.option import Surface, suggestion

if TYPE_CHECKING:
    from binspark.columns.where.condition import Condition
    from binspark.schema.table import TableSchema

_MAX_NAMES = 20_000
"""How many names of tables, and of their columns, are kept. If there are more, nothing is reported as not found."""
_MAX_SHOWN = 6
_MAX_SHOWN_COLUMNS = 8


class SeenTables:
    """The tables that were read, and the columns of those that are selected. Readers of one selection share it."""

    def __init__(self) -> None:
        self._tables: set[str] = set()
        self._columns: dict[str, tuple[str, ...]] = {}
        self._column_count = 0
        self._is_complete = True
        self._known: set[str] = set()

    def add(self, table: str) -> None:
        """Note a table, selected or not."""
        if table in self._tables:
            return
        if len(self._tables) < _MAX_NAMES:
            self._tables.add(table)
        else:
            self._is_complete = False

    def add_columns(self, table: TableSchema) -> None:
        """Note the columns of a schema version of a table that is selected; those of earlier versions stay known."""
        known = self._columns.get(table.name, ())
        new = tuple(name for name in table.column_names if name not in known)
        self._column_count += len(new)
        if self._column_count <= _MAX_NAMES:
            self._columns[table.name] = known + new
        else:
            self._is_complete = False

    def expect(self, tables: Iterable[str]) -> None:
        """Report these names and patterns of tables no more: who read them knows whether they exist."""
        self._known.update(tables)

    def unmatched(self, tables: frozenset[str], condition: Condition | None) -> Iterator[Unmatched]:
        """Yield the tables and columns that nothing that was read has. Where no table was read, nothing is missed.

        Excluded tables are not reported: it is usual that a log does not have them, and their rows are not silent.
        """
        if not self._is_complete or not self._tables:
            return
        for name, hint in unmatched_names(tables - self._known, self._tables):
            shown = hint or _listed(sorted(self._tables))
            yield Unmatched("tables", f"no table in what was read matches {name}", shown)
        if self._columns:
            for column in _columns_of(condition):
                if all(column.lower() not in map(str.lower, names) for names in self._columns.values()):
                    problem = f"no table in what was read has a column {column}"
                    yield Unmatched("where", problem, self._columns_hint(column), self._lacks_names)

    @property
    def _lacks_names(self) -> bool:
        return all(name.startswith("@") for names in self._columns.values() for name in names)

    def _columns_hint(self, column: str) -> str:
        names = {name for names in self._columns.values() for name in names}
        return suggestion(column, names) or _listed(
            [f"{table} ({_some(names, _MAX_SHOWN_COLUMNS)})" for table, names in sorted(self._columns.items())]
        )


@dataclass(frozen=True, slots=True)
class Unmatched:
    """What an option names and no table that was read has.

    hint         what there is instead
    lacks_names  whether the log has no names of columns, which a dump of the tables would give
    """

    option: str
    problem: str
    hint: str
    lacks_names: bool = False

    def message(self, surface: Surface) -> str:
        """Return the warning, with the option as users of a surface write it."""
        names = f"; {surface.spell('schema_file')} names the columns" if self.lacks_names else ""
        return f"{surface.spell(self.option)}: {self.problem}{self.hint}{names}"


def matches(pattern: str, names: Iterable[str]) -> bool:
    """Return whether a name or pattern is that of a table."""
    return any(name == pattern or fnmatchcase(name, pattern) for name in names)


def unmatched_names(names: Iterable[str], known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each name or pattern that no known table matches, with a suggestion."""
    for name in sorted(names):
        if not matches(name, known):
            yield name, suggestion(name, known)


def _columns_of(condition: Condition | None) -> Iterable[str]:
    """Return the names of the columns of a condition, each once."""
    return () if condition is None else dict.fromkeys(column.name for column in columns_of(condition))


def _listed(names: Sequence[str]) -> str:
    return f"; it has {_some(names, _MAX_SHOWN)}"


def _some(names: Sequence[str], count: int) -> str:
    more = len(names) - count
    return ", ".join(names[:count]) + (f" and {more:,} more" if more > 0 else "")
