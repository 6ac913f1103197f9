"""What the reader of DDL keeps of a new column's values, and of rows that a statement removes without row events."""

from __future__ import annotations

import pytest

from binspark.schema.changes import AddColumn, AlterTable, OtherClause, ReplaceRows
from binspark.schema.session import Session
from binspark.schema.sql.statement import read_ddl
from binspark.schema.table import TableName


def altered(steps: str) -> AlterTable:
    """Return an ALTER TABLE."""
    change = read_ddl(f"ALTER TABLE t {steps}", "shop", Session())
    assert isinstance(change, AlterTable)
    return change


@pytest.mark.parametrize(
    ("definition", "default", "computed"),
    [
        ("INT", None, False),
        ("INT NOT NULL DEFAULT 5", "5", False),
        ("INT DEFAULT -5 COMMENT 'x'", "-5", False),
        ("INT DEFAULT NULL", None, False),
        ("BOOLEAN DEFAULT TRUE", "1", False),
        ("VARCHAR(9) DEFAULT 'it''s' NOT NULL", "it's", False),
        ("DATE DEFAULT DATE '2024-02-29'", "2024-02-29", False),
        ("DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP", None, True),
        ("DATETIME DEFAULT NOW()", None, True),
        ("DATETIME DEFAULT '2024-01-01' ON UPDATE NOW()", "2024-01-01", False),
        ("INT DEFAULT (1 + 2)", None, True),
        ("INT AS (a * 2) STORED", None, True),
        ("INT GENERATED ALWAYS AS (a * 2) VIRTUAL", None, True),
        ("INT AUTO_INCREMENT UNIQUE", None, True),
        ("SERIAL", None, True),
    ],
)
def test_a_new_column_has_a_constant_or_is_computed(definition: str, default: str | None, computed: bool) -> None:
    step = next(step for step in altered(f"ADD c {definition}").steps if isinstance(step, AddColumn))
    assert (step.column.default, step.column.computed) == (default, computed)


@pytest.mark.parametrize(
    ("steps", "other"),
    [
        ("DROP PARTITION p1", None),
        ("TRUNCATE PARTITION p1, p2", None),
        ("EXCHANGE PARTITION p1 WITH TABLE u WITHOUT VALIDATION", TableName("shop", "u")),
        ("DISCARD TABLESPACE", None),
        ("IMPORT TABLESPACE", None),
    ],
)
def test_rows_that_go_without_events_are_noticed(steps: str, other: TableName | None) -> None:
    assert altered(steps).steps == (ReplaceRows(other),)


@pytest.mark.parametrize("steps", ["REORGANIZE PARTITION", "COALESCE PARTITION 2", "ADD PARTITION PARTITIONS 4"])
def test_partitions_that_keep_their_rows_change_neither_columns_nor_keys(steps: str) -> None:
    assert altered(steps).steps == (OtherClause(" ".join(steps.split()[:2])),)
