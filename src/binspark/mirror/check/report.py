"""What a check has found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from binspark.schema.table import TableName

_SHOWN_BYTES = 200


class DifferenceKind(StrEnum):
    """How a row differs.

    MISSING    the source has it, the mirror does not
    EXTRA      the mirror has it, the source does not, or not as often
    DIFFERENT  both have it, with different values
    """

    MISSING = "missing"
    EXTRA = "extra"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """A column that differs, with the canonical texts of both sides; None is NULL."""

    name: str
    source: bytes | None
    mirror: bytes | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that differs.

    key      the columns of its key and their canonical texts; all columns in a table without a key
    columns  what differs, in a row that both sides have
    """

    kind: DifferenceKind
    key: tuple[tuple[str, bytes | None], ...]
    columns: tuple[ColumnDifference, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the difference as JSON."""
        columns = {each.name: {"source": shown(each.source), "mirror": shown(each.mirror)} for each in self.columns}
        return {"kind": self.kind, "key": {name: shown(text) for name, text in self.key}, "columns": columns}

    def describe(self) -> str:
        """Return the difference as a line for people."""
        key = ", ".join(f"{name}={shown(text)}" for name, text in self.key)
        parts = (f"{each.name}: source {_quoted(each.source)}, mirror {_quoted(each.mirror)}" for each in self.columns)
        return "; ".join((f"{self.kind} {key}", *parts))


@dataclass(slots=True)
class TableReport:
    """What a check has found in a table.

    rows          rows that were compared
    ranges        ranges of keys that were compared
    differences   rows that differ, up to a limit
    differing     how many rows differ
    undecided     rows that kept changing, or whose changes the mirror did not reach in time
    problem       why the table was not compared, or not to the end
    repaired      rows that were read again from the source
    needs_copy    whether the table has to be copied again to be repaired: it has no key
    """

    name: TableName
    rows: int = 0
    ranges: int = 0
    differences: list[Difference] = field(default_factory=list)
    differing: int = 0
    undecided: int = 0
    problem: str = ""
    repaired: int = 0
    needs_copy: bool = False

    @property
    def is_equal(self) -> bool:
        """Whether the mirror was proven to equal its source."""
        return not (self.differing or self.undecided or self.problem)

    def describe(self) -> str:
        """Return what was found as a line for people."""
        if self.problem:
            return f"{self.name}: not compared: {self.problem}"
        compared = f"{_counted(self.rows, 'row')} in {_counted(self.ranges, 'range')}"
        if self.is_equal:
            repaired = f"; repaired: {_counted(self.repaired, 'row')}" if self.repaired else ""
            return f"{self.name}: equal, {compared}{repaired}"
        parts = [f"differing: {_counted(self.differing, 'row')}"] if self.differing else []
        if self.undecided:
            reason = "they kept changing, or the mirror did not reach their changes in time: is it running?"
            parts.append(f"undecided: {_counted(self.undecided, 'row')} ({reason})")
        return f"{self.name}: {'; '.join(parts)}; compared: {compared}"

    def to_json(self) -> dict[str, Any]:
        """Return what was found as JSON."""
        return {
            "table": str(self.name),
            "equal": self.is_equal,
            "rows": self.rows,
            "ranges": self.ranges,
            "differing": self.differing,
            "undecided": self.undecided,
            "repaired": self.repaired,
            "problem": self.problem,
            "differences": [difference.to_json() for difference in self.differences],
        }


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check has found in all tables."""

    tables: tuple[TableReport, ...]

    @property
    def is_equal(self) -> bool:
        """Whether all tables were proven to equal their sources."""
        return all(table.is_equal for table in self.tables)

    def lines(self) -> Iterator[str]:
        """Yield what was found as lines for people."""
        for table in self.tables:
            yield table.describe()
            yield from (f"  {difference.describe()}" for difference in table.differences)
            hidden = table.differing - len(table.differences)
            if hidden > 0:
                yield f"  … and {hidden:,} more"


def shown(text: bytes | None) -> str | None:
    """Return a canonical text for people: UTF-8, or hexadecimal; long ones are cut."""
    if text is None:
        return None
    rest = f"… ({len(text):,} bytes)" if len(text) > _SHOWN_BYTES else ""
    try:
        return text[:_SHOWN_BYTES].decode(errors="strict" if not rest else "ignore") + rest
    except UnicodeDecodeError:
        return f"0x{text[:_SHOWN_BYTES].hex()}{rest}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _quoted(text: bytes | None) -> str:
    written = shown(text)
    return "NULL" if written is None else f"'{written}'"
