"""`docs/types.md`: the type of every column type in Arrow and Spark, as the code has it."""

from __future__ import annotations

from pathlib import Path

from binspark.event.column_types import ColumnType as T
from tools.types_page import TYPES, defined_table, page

PAGE = Path(__file__).parents[2] / "docs" / "types.md"
NOT_DEFINED = {
    T.DECIMAL, T.NULL, T.NEWDATE, T.VAR_STRING, T.TIME, T.DATETIME, T.TIMESTAMP, T.TINY_BLOB, T.MEDIUM_BLOB,
    T.LONG_BLOB, T.BLOB_COMPRESSED, T.VARCHAR_COMPRESSED, T.TYPED_ARRAY, T.INVALID, T.BOOL,
}  # fmt: skip
"""Types that no table of current servers has, or that are written as one of the others."""


def test_the_page_is_what_the_code_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page() + "\n", "run: python -m tools.types_page > docs/types.md"


def test_every_type_is_on_the_page() -> None:
    on_page = {defined_table(definition).columns[0].type for definition, _ in TYPES}
    assert set(T) - on_page == NOT_DEFINED
