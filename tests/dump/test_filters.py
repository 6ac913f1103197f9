"""Options of `rows` select complete events of a dump, which stays one that a server accepts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.corpus.cases import case_logs
from tests.support.dump import our_dump

ROWS = re.compile(rb"^### (INSERT INTO|UPDATE|DELETE FROM) `(\w+)`\.`(\w+)`$", re.MULTILINE)


def rows_of(log: Path, *options: str) -> set[tuple[str, str]]:
    """Return which operations on which tables are dumped."""
    text = our_dump([log], "-v", *options)
    assert text.count(b"\nBEGIN\n/*!*/;") == text.count(b"\nCOMMIT/*!*/;") + text.count(b"\nCOMMIT\n/*!*/;")
    assert text.count(b"BINLOG '") == text.count(b"\n'/*!*/;")
    return {(match[1].decode(), f"{match[2].decode()}.{match[3].decode()}") for match in ROWS.finditer(text)}


@pytest.mark.parametrize("case", ["mysql/multi-table", "mysql/format-row", "mysql/compressed"])
def test_tables_leave_out_the_rows_of_other_tables(case: str) -> None:
    log = case_logs(case)[0]
    every_table = {table for _, table in rows_of(log)}
    assert len(every_table) > 1
    one = min(every_table)
    assert {table for _, table in rows_of(log, "--tables", one)} == {one}
    assert {table for _, table in rows_of(log, "--exclude-tables", one)} == every_table - {one}


def test_operations_leave_out_other_rows_events() -> None:
    log = case_logs("mysql/format-row")[0]
    assert {operation for operation, _ in rows_of(log, "--operations", "delete")} == {"DELETE FROM"}


@pytest.mark.parametrize("case", ["mysql/format-row", "mysql/compressed"])
def test_threads_and_commit_times_select_transactions(case: str) -> None:
    log = case_logs(case)[0]
    assert rows_of(log, "--thread-id", "9") == rows_of(log)
    assert rows_of(log, "--thread-id", "123456") == set()
    assert rows_of(log, "--committed-before", "2000-01-01 00:00:00") == set()
    assert rows_of(log, "--committed-from", "2000-01-01 00:00:00") == rows_of(log)
