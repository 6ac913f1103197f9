"""The schema of a table at one position of a log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from binspark.schema.lineage import DroppedColumn, Lineage, free_name
from binspark.values.column import Column

_UNKNOWN = Lineage()


class TableName(NamedTuple):
    """The full name of a table."""

    schema: str
    table: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.table}"


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The schema of a table at the position of a rows event.

    `primary_key` has the indexes of the key's columns in the order of the key, and is None if it is not known whether
    there is one. `prefixes` has, for each of them, the number of characters that are part of the key, 0 for all.
    `lineage` relates the columns to those of other versions of the table. `column_names` has the names of the columns;
    `@1`, `@2`, ... if they are not known.
    """

    schema: str
    table: str
    columns: tuple[Column, ...]
    primary_key: tuple[int, ...] | None = None
    prefixes: tuple[int, ...] = ()
    lineage: Lineage = _UNKNOWN
    column_names: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = tuple(column.name or f"@{index}" for index, column in enumerate(self.columns, 1))
        object.__setattr__(self, "column_names", names)

    @property
    def name(self) -> str:
        """The name with its schema: `shop.orders`."""
        return f"{self.schema}.{self.table}"

    def dropped_columns(self) -> Iterator[tuple[str, DroppedColumn]]:
        """Yield the columns that were dropped, each with a name that no other column has."""
        taken = list(self.column_names)
        for dropped in self.lineage.dropped():
            known = dropped.column
            taken.append(free_name(dropped.name if known is None else known.name or dropped.name, taken))
            yield taken[-1], dropped
