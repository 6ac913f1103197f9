"""Which rows a search for key values finds: `42`, `id = 42`, `shop.orders 42`, `shop.orders id = 42`.

A row is found if one of its images, before or after the change, has the value. A value is looked for in the columns of
the key; in all columns, where the key is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from binspark.changes.selection_options import make_selection
from binspark.columns.arrow import word_numbers
from binspark.columns.batches import TableBatch
from binspark.columns.metadata import Metadata
from binspark.columns.selection import Selection
from binspark.columns.where.condition import (
    And,
    ColumnName,
    Comparator,
    Comparison,
    Condition,
    Image,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    columns_of,
)
from binspark.columns.where.evaluate import BatchColumns, selected_rows
from binspark.errors import OptionError
from binspark.kernels.layout import Operation
from binspark.options.option import Surface
from binspark.schema.table import TableSchema

_TABLE = re.compile(r"(?P<table>[\w$*?\[\]-]+\.[\w$*?\[\]-]+)(?:\s+(?P<rest>[^\s=<>!].*))?", re.DOTALL)
_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
_COMPARES = re.compile(r"[=<>]|\b(?:IN|IS|LIKE|BETWEEN)\b", re.IGNORECASE)
_HEX = re.compile(r"0[xX]((?:[0-9a-fA-F]{2})+)")
_IMAGES = frozenset(Image)
_PATTERN = frozenset("*?[")
EXAMPLES = "42, id = 42, shop.orders 42, or shop.orders id = 42"


@dataclass(frozen=True, slots=True)
class Matched:
    """What of a row was found: in which image, and in which column; None if any will do."""

    image: Image
    column: str | None


Matches = dict[tuple[int, int], Matched]
"""What was found, by the position of the event and the number of the row."""


@dataclass(frozen=True, slots=True)
class RowMatch:
    """What is searched for: a condition, or a value of the key.

    tables   names or patterns of tables, None for all
    """

    tables: str | None
    condition: Condition | None
    literals: Sequence[Literal] = ()

    @property
    def selection(self) -> Selection:
        """What must be read."""
        return make_selection({} if self.tables is None else {"tables": [self.tables]}, Surface.PYTHON)

    def find(self, item: TableBatch, matches: Matches) -> TableBatch:
        """Return the rows of a batch that are found, and note what was found of them."""
        columns = _columns_of(item)
        found: dict[int, Matched] = {}
        if columns is not None:
            for condition, matched in self._conditions(item.table):
                for row in np.flatnonzero(self._selected(condition, columns)).tolist():
                    found.setdefault(row, matched)
        rows = np.array(sorted(found), dtype=np.int64)
        taken = item.taken(rows, range(len(item.values)), before=item.has_before, images=True)
        numbers = (taken.origin(name).to_pylist() for name in (Metadata.LOG_POS, Metadata.LOG_ROW))
        matches.update(zip(zip(*numbers, strict=True), map(found.__getitem__, rows.tolist()), strict=True))
        return taken

    def _conditions(self, table: TableSchema) -> Iterator[tuple[Condition, Matched]]:
        """Yield the conditions that a row is to meet one of, the most telling first."""
        if self.condition is not None:
            first = next(columns_of(self.condition), None)
            name = None if first is None else first.name
            yield self.condition, Matched(Image.AFTER, name)
            yield _of_old_row(self.condition), Matched(Image.BEFORE, name)
            return
        indexes = range(len(table.columns)) if table.primary_key is None else table.primary_key
        for image in (Image.AFTER, Image.BEFORE):
            for name in (table.column_names[index] for index in indexes):
                for literal in self.literals:
                    compared = Comparison(ColumnName(name, image), Comparator.EQUAL, literal)
                    yield compared, Matched(image, name)

    def _selected(self, condition: Condition, columns: BatchColumns) -> npt.NDArray[np.bool_]:
        try:
            selected = selected_rows(condition, columns)
        except OptionError:  # a value that the column cannot have
            if self.condition is not None and self.tables is not None and not _PATTERN & set(self.tables):
                raise
            return np.zeros(len(columns.operations), dtype=np.bool_)
        rows: npt.NDArray[np.bool_] = selected & (columns.operations != Operation.TRUNCATE)
        return rows


def parse_row_match(text: str) -> RowMatch:
    """Parse what is searched for; an `OptionError` if it is nothing, or a condition with a mistake."""
    text, table = text.strip(), None
    named = _TABLE.fullmatch(text)
    if named is not None and named["table"].partition(".")[0].lower() not in _IMAGES and not _is_number(text):
        table, text = named["table"], (named["rest"] or "").strip()
    if not text:
        found = "is empty" if table is None else f"has a table, {table}, and no value (one with a dot needs quotes)"
        raise OptionError(f"{found}; examples are {EXAMPLES}", option="key")
    if _COMPARES.search(_QUOTED.sub("", text)):
        return RowMatch(table, make_selection({"where": text}, Surface.PYTHON).where)
    if _QUOTED.fullmatch(text):
        return RowMatch(table, None, (text[1:-1],))
    digits = _HEX.fullmatch(text)
    return RowMatch(table, None, (text,) if digits is None else (bytes.fromhex(digits[1]), text))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\d+\.\d+", text) is not None


def _columns_of(item: TableBatch) -> BatchColumns | None:
    """Return the rows of a batch as conditions take them; None for truncations, which have no row."""
    if item.images is None:
        return None
    operations = word_numbers(item.origin(Metadata.OP)).astype(np.int8)
    indexes = range(len(item.table.columns))
    return BatchColumns(item.table, indexes, item.values, item.before.flatten(), operations, item.images)


def _of_old_row(condition: Condition) -> Condition:
    """Return a condition of the old row, where it is one of the newest."""
    match condition:
        case And(parts):
            return And(tuple(map(_of_old_row, parts)))
        case Or(parts):
            return Or(tuple(map(_of_old_row, parts)))
        case Not(part):
            return Not(_of_old_row(part))
        case Comparison(column, comparator, value):
            return Comparison(_old(column), comparator, _old(value) if isinstance(value, ColumnName) else value)
        case IsNull(column):
            return IsNull(_old(column))
        case Like(column, pattern):
            return Like(_old(column), pattern)


def _old(column: ColumnName) -> ColumnName:
    return replace(column, image=Image.BEFORE) if column.image is Image.NEWEST else column
