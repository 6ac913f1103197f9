"""The shape of a table at one moment."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.values.column import Column


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table as it was when a row event was written.

    `primary_key` holds the indexes of the key's columns in the key's order, None where nothing tells whether there is
    one. `prefixes` holds, for each of them, how many characters of the column are part of the key, 0 for all.
    """

    schema: str
    table: str
    columns: tuple[Column, ...]
    primary_key: tuple[int, ...] | None = None
    prefixes: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The name with its schema: `shop.orders`."""
        return f"{self.schema}.{self.table}"

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns; `@1`, `@2`, ... where they are not known."""
        return tuple(column.name or f"@{index}" for index, column in enumerate(self.columns, 1))
