"""The tables that are known, by name, and the names that mean them in another case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping

from binspark.schema.definition import TableDefinition
from binspark.schema.sql_reader import TableName


class KnownTables(MutableMapping[TableName, TableDefinition | None]):
    """Tables by name. One that is None is known not to be there.

    A server with lower_case_table_names=1 keeps names in lower case and logs statements as they are written, so that
    `Shop.Orders` and `shop.orders` may mean one table. `spelling` finds it.
    """

    def __init__(self, tables: Mapping[TableName, TableDefinition | None] | None = None) -> None:
        self._tables: dict[TableName, TableDefinition | None] = {}
        self._mixed: dict[TableName, dict[TableName, None]] = {}
        self.update(tables or {})

    def __getitem__(self, name: TableName) -> TableDefinition | None:
        return self._tables[name]

    def __setitem__(self, name: TableName, table: TableDefinition | None) -> None:
        self._tables[name] = table
        self._note(name, is_there=table is not None)

    def __delitem__(self, name: TableName) -> None:
        del self._tables[name]
        self._note(name, is_there=False)

    def __iter__(self) -> Iterator[TableName]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def copy(self) -> KnownTables:
        copied = KnownTables()
        copied._tables = dict(self._tables)
        copied._mixed = {lower: dict(spellings) for lower, spellings in self._mixed.items()}
        return copied

    def spelling(self, name: TableName) -> TableName:
        """Return the name of the table that is there: as it is written, in lower case, or in any other case."""
        return next(self.spellings(name), name)

    def spellings(self, name: TableName) -> Iterator[TableName]:
        """Yield the names of all tables that are there and differ only in case, in that order."""
        lower = in_lower_case(name)
        others = reversed(self._mixed.get(lower, ()))
        for spelling in dict.fromkeys((name, lower, *others)):
            if self._tables.get(spelling) is not None:
                yield spelling

    def _note(self, name: TableName, *, is_there: bool) -> None:
        """Remember tables whose names are not all in lower case; the others are found without."""
        lower = in_lower_case(name)
        if lower == name:
            return
        spellings = self._mixed.setdefault(lower, {})
        spellings.pop(name, None)
        if is_there:
            spellings[name] = None
        elif not spellings:
            del self._mixed[lower]


def in_lower_case(name: TableName) -> TableName:
    """Return a name as servers keep it that keep names in lower case."""
    return TableName(name.schema.lower(), name.table.lower())
