"""A range costs what its changes cost, however many tables a mirror has."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from binspark.mirror.records.changes import RecordMaker
from binspark.mirror.runners import runner
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.targets.delta.table import DeltaTargetTable
from binspark.testing.servers import Server
from tests.support.mirror.live_mirrors import assert_equal, run_mirror

TABLES = 12


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str]]:
    """How often a table of the target was read and committed to, and how often records of it were made."""
    counted: Counter[tuple[str, str]] = Counter()

    class CountedMaker(RecordMaker):
        def __init__(self, table: MirroredTable) -> None:
            counted["records", str(table.name)] += 1
            super().__init__(table)

    def count(method: str) -> None:
        original = getattr(DeltaTargetTable, method)

        def called(table: DeltaTargetTable, *arguments: Any) -> Any:
            counted[method, str(table.name)] += 1
            return original(table, *arguments)

        monkeypatch.setattr(DeltaTargetTable, method, called)

    monkeypatch.setattr(runner, "RecordMaker", CountedMaker)
    count("read")
    count("commit")
    return counted


@pytest.mark.mysql
def test_a_run_reads_each_table_once_and_works_on_those_with_changes(
    mysql: Server, database: str, lake: Path, calls: Counter[tuple[str, str]]
) -> None:
    tables = [f"{database}.t{number:02}" for number in range(TABLES)]
    creates = (f"CREATE TABLE {name} (id INT PRIMARY KEY, n INT); INSERT INTO {name} VALUES (1, 1);" for name in tables)
    mysql.run_sql(f"CREATE DATABASE {database}; {''.join(creates)}")
    run_mirror(mysql, lake, f"{database}.*")
    mysql.query(f"UPDATE {tables[0]} SET n = 2")
    run_mirror(mysql, lake, f"{database}.*")  # all tables have caught up then
    calls.clear()
    mysql.query(f"UPDATE {tables[3]} SET n = 2")
    mysql.query(f"UPDATE {tables[7]} SET n = 2")
    run_mirror(mysql, lake, f"{database}.*")
    changed = [(step, name) for step in ("commit", "records") for name in (tables[3], tables[7])]
    assert calls == dict.fromkeys([*(("read", name) for name in tables), *changed], 1)
    assert_equal(mysql, lake, tables[3], tables[4])
