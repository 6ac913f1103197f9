"""The rows that change most often are found in bounded memory, with a bound of the error."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import binspark
from binspark.columns.metadata import Metadata
from binspark.reports.hot_rows import HotRow, HotRows
from binspark.testing.builder import BinlogBuilder, integer, table, update


def counted(path: Path, kept: int) -> list[HotRow]:
    rows = HotRows(kept)
    for batch in binspark.batches(path, tables=["shop.stock"]):
        assert Metadata.KEY in batch.metadata
        rows.add(batch)
    return rows.hottest(5)


def log_of(folder: Path, keys: list[int]) -> Path:
    stock = table("shop.stock", integer("id"), integer("amount"), key=("id",))
    log = BinlogBuilder()
    for start in range(0, len(keys), 50):
        log.transaction(update(stock, *[((key, 0), (key, 1)) for key in keys[start : start + 50]]))
    [path] = log.save(folder)
    return path


def test_few_keys_are_counted_exactly(tmp_path: Path) -> None:
    keys = [1] * 30 + [2] * 20 + [3] * 10
    Random(4).shuffle(keys)
    found = counted(log_of(tmp_path, keys), kept=10)
    assert [(row.table, row.key, row.count, row.error) for row in found] == [
        ("shop.stock", {"id": "1"}, 30, 0),
        ("shop.stock", {"id": "2"}, 20, 0),
        ("shop.stock", {"id": "3"}, 10, 0),
    ]


def test_of_many_keys_the_hot_ones_are_found_within_the_error(tmp_path: Path) -> None:
    random = Random(7)
    keys = [random.randrange(5000) for _ in range(3000)] + [-1] * 800 + [-2] * 500
    random.shuffle(keys)
    found = counted(log_of(tmp_path, keys), kept=20)
    truth = Counter(keys)
    assert [row.key["id"] for row in found[:2]] == ["-1", "-2"]
    for row in found:
        assert row.count <= truth[int(row.key["id"])] <= row.count + row.error


def test_rows_that_changed_once_are_not_hot(tmp_path: Path) -> None:
    assert counted(log_of(tmp_path, list(range(100))), kept=1000) == []
