"""Thousands of tables: a table costs the same however many there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import binspark
from binspark.columns.arena import Arena
from binspark.columns.selection import Selection
from binspark.columns.transaction_batch import TransactionColumns
from binspark.columns.transaction_list import TransactionReader
from binspark.export import Export, ExportOptions
from binspark.files import find_logs
from binspark.files.inputs import FileInput
from binspark.schema.history import SchemaHistory
from binspark.transactions.contents import ContentsReader
from tests.support.columns.many_tables import count_calls, log_of_many_tables

FEW, MANY = 100, 1000
ALLOWED = 1.5
"""How much more the work for a table may be, with ten times as many of them."""


def batches(path: Path) -> None:
    assert sum(found.batch.num_rows for found in binspark.batches(path)) > 0


def rows(path: Path) -> None:
    assert sum(1 for _ in binspark.rows(path)) > 0


def transactions(path: Path) -> None:
    reader = TransactionReader(TransactionColumns())
    with path.open("rb") as file:
        assert sum(batch.num_rows for batch in reader.read(file.readinto, str(path))) > 0


def contents(path: Path) -> None:
    reader = ContentsReader()
    for event in binspark.events(path):
        reader.feed(event)
    assert reader.finish().tables


def export(path: Path) -> None:
    target = path.parent / f"out of {path.parent.name}"
    assert Export(Selection(), SchemaHistory(), ExportOptions()).run(
        [FileInput(source) for source in find_logs(path)], target
    )


@pytest.mark.parametrize("read", [batches, rows, transactions, contents, pytest.param(export, marks=pytest.mark.slow)])
def test_the_work_for_a_table_does_not_grow_with_their_number(read: Callable[[Path], None], tmp_path: Path) -> None:
    paths = []
    for count in (FEW, MANY):
        folder = tmp_path / str(count)
        folder.mkdir()
        paths.append(log_of_many_tables(count).save(folder)[0])
    read(log_of_many_tables(3).save(tmp_path)[0])  # what is loaded and compiled only once
    few, many = (count_calls(lambda path=path: read(path)) for path in paths)  # type: ignore[misc]
    assert many / MANY < ALLOWED * few / FEW


def test_a_new_block_costs_the_same_however_many_are_in_use() -> None:
    arena = Arena()
    blocks = []
    looks = []
    for _ in range(10):
        before = arena.looks
        blocks += [arena.take(100) for _ in range(1000)]
        looks.append(arena.looks - before)
    assert looks[-1] <= 1.1 * max(looks[1:3])


def test_free_blocks_are_forgotten_when_there_are_too_many() -> None:
    arena = Arena(keep_bytes=10_000)
    blocks = [arena.take(1000) for _ in range(50)]
    del blocks
    for size in range(2000, 4000, 100):
        arena.take(size)
    assert arena.kept_bytes <= 20_000


def test_more_tables_than_fit_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from binspark.columns import tables

    path = log_of_many_tables(20).save(tmp_path)[0]
    expected = sorted(found.table.name for found in binspark.batches(path) for _ in range(found.batch.num_rows))
    monkeypatch.setattr(tables, "_MAX_TABLES", 7)
    found = sorted(found.table.name for found in binspark.batches(path) for _ in range(found.batch.num_rows))
    assert found == expected
    assert len(found) == 40
