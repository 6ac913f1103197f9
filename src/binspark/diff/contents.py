"""The rows and statements of single transactions, read again to show what differs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from binspark.documents.line_style import LineFormat, LineStyle

JSON_LINES = LineStyle(LineFormat.JSON)
_MAX_ROWS = 100_000
_MAX_BYTES = 64 << 20

RowKey = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class TransactionAt:
    """Where a transaction is on one side, and how much of it was compared."""

    gtid: str | None
    file: str
    start: int
    end: int
    time: int
    server_id: int
    rows: int
    statements: int


@dataclass(frozen=True, slots=True)
class RowChange:
    """A changed row: what of it is compared, and shown."""

    schema: str
    table: str
    op: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @property
    def key(self) -> RowKey:
        """What two rows must have in common to be the same: columns count by their number."""
        values = [None if image is None else list(image.values()) for image in (self.before, self.after)]
        return self.schema, self.table, self.op, json.dumps(values)


@dataclass(slots=True)
class Contents:
    """The rows and statements of a transaction; `complete` is false if it has more than are compared one by one."""

    rows: list[RowChange] = field(default_factory=list)
    statements: list[bytes] = field(default_factory=list)
    complete: bool = True
    _size: int = 0

    def add_lines(self, texts: Sequence[bytes | memoryview]) -> bool:
        """Add rows that are written as JSON lines; return whether there is room for more."""
        for text in texts:
            for line in bytes(text).splitlines():
                if len(self.rows) >= _MAX_ROWS or self._size > _MAX_BYTES:
                    self.complete = False
                    return False
                self._size += len(line)
                record = json.loads(line)
                if record["op"] != "truncate":
                    names = ("schema", "table", "op", "before", "after")
                    self.rows.append(RowChange(*(record[name] for name in names)))
        return True


@dataclass(frozen=True, slots=True)
class Differences:
    """The rows and statements that only one of two transactions has; `complete` as in `Contents`."""

    rows_a: list[RowChange]
    rows_b: list[RowChange]
    statements_a: list[bytes]
    statements_b: list[bytes]
    complete: bool


def differences(a: Contents, b: Contents) -> Differences:
    """Return what two transactions do not share."""
    counts_a, counts_b = Counter(row.key for row in a.rows), Counter(row.key for row in b.rows)
    return Differences(
        _without(a.rows, counts_b),
        _without(b.rows, counts_a),
        _texts_without(a.statements, b.statements),
        _texts_without(b.statements, a.statements),
        a.complete and b.complete,
    )


def _without(rows: Iterable[RowChange], others: Counter[RowKey]) -> list[RowChange]:
    left, found = Counter(others), []
    for row in rows:
        key = row.key
        if left[key]:
            left[key] -= 1
        else:
            found.append(row)
    return found


def _texts_without(texts: Iterable[bytes], others: Iterable[bytes]) -> list[bytes]:
    left, found = Counter(others), []
    for text in texts:
        if left[text]:
            left[text] -= 1
        else:
            found.append(text)
    return found
