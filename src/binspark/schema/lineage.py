"""Which column is which over the schema versions of a table: under what name a column of one is in another.

Only statements are needed for it, not definitions. A statement that renames or drops columns is a step; a column that
no step mentions keeps its name. So columns are followed even where the log begins after CREATE TABLE.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import NamedTuple

from binspark.values.column import Column


@dataclass(frozen=True, slots=True)
class LineageStep:
    """A statement that renames or drops columns.

    position  of the statement, as FILE:OFFSET
    names     pairs of the old and the new name, in lower case; the new one is None if the column was dropped
    dropped   the dropped columns, as far as they were known
    """

    position: str
    names: tuple[tuple[str, str | None], ...]
    dropped: tuple[Column, ...] = field(default=(), compare=False)

    def forward(self, name: str) -> str | None:
        """Return the name after the statement; None if the column was dropped."""
        return dict(self.names).get(name, name)

    def backward(self, name: str) -> str | None:
        """Return the name before the statement; None if the column was added by it."""
        for old, new in self.names:
            if new == name:
                return old
        return None if name in dict(self.names) else name


@dataclass(frozen=True, slots=True)
class Lineage:
    """The steps of a table up to one of its schema versions.

    A table that is created again, or that replaces another, is another incarnation. Columns of different
    incarnations are the same if they have the same name.
    """

    incarnation: str = ""
    steps: tuple[LineageStep, ...] = ()

    def followed_by(self, step: LineageStep) -> Lineage:
        """Return the lineage after a statement."""
        return replace(self, steps=(*self.steps, step))

    def name_in(self, name: str, other: Lineage) -> str | None:
        """Return the name that a column has in another version; None if it was dropped or did not exist. Lower case."""
        if self.incarnation != other.incarnation:
            return name
        pairs = zip(self.steps, other.steps, strict=False)
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        found: str | None = name
        for step in reversed(self.steps[common:]):
            found = None if found is None else step.backward(found)
        for step in other.steps[common:]:
            found = None if found is None else step.forward(found)
        return found

    def when_last_called(self, name: str) -> Lineage:
        """Return the last version in which a column had a name, according to the steps."""
        for number in range(len(self.steps) - 1, -1, -1):
            if name in dict(self.steps[number].names):
                return replace(self, steps=self.steps[:number])
        return self

    def past_names(self) -> Iterator[str]:
        """Yield the names of columns that were renamed or dropped, in lower case."""
        for step in self.steps:
            yield from (old for old, _ in step.names)

    def dropped(self) -> Iterator[DroppedColumn]:
        """Yield the columns that were dropped, in the order of the statements."""
        for number, step in enumerate(self.steps):
            known = {(column.name or "").lower(): column for column in step.dropped}
            for old, new in step.names:
                if new is None:
                    yield DroppedColumn(old, known.get(old), replace(self, steps=self.steps[:number]))


class DroppedColumn(NamedTuple):
    """A column that was dropped: its last name in lower case, its definition if that is known, its last version."""

    name: str
    column: Column | None
    lineage: Lineage


class WantedColumn(NamedTuple):
    """A column to look for: the name that is wanted, and the name that it has in one version of the table."""

    name: str
    name_there: str
    lineage: Lineage


@dataclass(frozen=True, slots=True)
class WantedColumns:
    """Columns of one schema version of a table, to be found in every other version of it."""

    columns: tuple[WantedColumn, ...]

    @classmethod
    def of(cls, names: Iterable[str], current: Iterable[str], lineage: Lineage) -> WantedColumns:
        """Look for columns by their current names, or by names that they had earlier."""
        present = {name.lower() for name in current}
        wanted = []
        for name in names:
            folded = name.lower()
            version = lineage if folded in present else lineage.when_last_called(folded)
            wanted.append(WantedColumn(name, folded, version))
        return cls(tuple(wanted))

    def and_also(self, others: Iterable[WantedColumn]) -> WantedColumns:
        """Return these columns, and others; one of the same name replaces its namesake."""
        added = {column.name: column for column in others}
        return WantedColumns((*(column for column in self.columns if column.name not in added), *added.values()))

    def sources(self, names: Sequence[str], lineage: Lineage) -> Mapping[str, str]:
        """Return which of the columns a version of the table has, and their names in it."""
        found: dict[str, str] = {}
        for name in names:
            in_version: dict[Lineage, str | None] = {}
            for column in self.columns:
                if column.lineage not in in_version:
                    in_version[column.lineage] = lineage.name_in(name.lower(), column.lineage)
                if in_version[column.lineage] == column.name_there:
                    found[column.name] = name
        return found


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name for a dropped column beside others: its own, or one that no other column has."""
    used = {other.lower() for other in taken}
    number = 1
    candidate = name
    while candidate.lower() in used:
        candidate = f"{name}_dropped" if number == 1 else f"{name}_dropped_{number}"
        number += 1
    return candidate
