"""Every recorded log in bulk: the rows and the refusals of the reference, however the log comes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from binspark.columns import log_scan, scan_memory
from binspark.columns.options import ColumnOptions, ZeroDates
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from tests.corpus.cases import case_logs, corpus_logs, log_id
from tests.support.columns.bulk import bulk_outcome, in_chunks, read_outcome
from tests.support.columns.reference import ReferenceReader

ALL_LOGS = corpus_logs(encrypted=True, truncated=True)
LOGS_WITH_LITTLE = [log for log in ALL_LOGS if log.stat().st_size < 40_000]
CASES_OF_SEVERAL = (
    "mysql/rotation",
    "mariadb/rotation",
    "mysql/replica",
    "mariadb/replica",
    "mysql/restart-after-crash",
)


@pytest.mark.parametrize("log", ALL_LOGS, ids=log_id)
def test_bulk_reads_what_the_reference_reads(log: Path) -> None:
    selection = Selection(before=True, tx_rows=True)
    expected = ReferenceReader(selection).read(log.read_bytes(), log.name)
    assert bulk_outcome(log.read_bytes(), selection, file=log.name) == expected


@pytest.mark.parametrize("log", ALL_LOGS, ids=log_id)
def test_batches_of_three_rows_have_the_same_rows(log: Path) -> None:
    selection = Selection(max_rows=3, options=ColumnOptions(zero_dates=ZeroDates.STRING))
    expected = ReferenceReader(selection).read(log.read_bytes(), log.name)
    assert bulk_outcome(log.read_bytes(), selection, file=log.name) == expected


@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
def test_dates_as_text_come_from_kernels_too(log: Path) -> None:
    assert tables_by_kernel(log, ZeroDates.STRING) == tables_by_kernel(log, ZeroDates.NULL)


def tables_by_kernel(log: Path, zero_dates: ZeroDates) -> set[str]:
    reader = BatchReader(Selection(options=ColumnOptions(zero_dates=zero_dates)))
    read_outcome(reader, io.BytesIO(log.read_bytes()).readinto)
    return {slot.plan.schema.name for slot in reader.tables.slots if slot.kernel is not None}


@pytest.mark.parametrize("size", [1, 7, 4096])
@pytest.mark.parametrize("log", LOGS_WITH_LITTLE, ids=log_id)
def test_the_chunks_of_a_log_do_not_matter(log: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_scan, "WINDOW", 600)
    monkeypatch.setattr(scan_memory, "_WINDOW", 1)
    selection = Selection(before=True)
    reader = BatchReader(selection)
    found = read_outcome(reader, in_chunks(log.read_bytes(), size), log.name)
    assert found == ReferenceReader(selection).read(log.read_bytes(), log.name)
    assert reader.disagreements == 0


@pytest.mark.parametrize("case", CASES_OF_SEVERAL)
def test_one_reader_reads_log_after_log(case: str) -> None:
    bulk, reference = BatchReader(Selection()), ReferenceReader(Selection())
    logs = [(log.read_bytes(), log.name) for log in case_logs(case)]
    found = [read_outcome(bulk, io.BytesIO(log).readinto, name) for log, name in logs]
    assert found == [reference.read(log, name) for log, name in logs]


def test_a_reader_continues_after_a_damaged_log() -> None:
    right = case_logs("mysql/format-row")[0].read_bytes()
    bulk, reference = BatchReader(Selection()), ReferenceReader(Selection())
    logs = [(right[:-1], "cut"), (right[: len(right) * 2 // 3] + bytes(50), "overwritten"), (right, "right")]
    found = [read_outcome(bulk, io.BytesIO(log).readinto, name) for log, name in logs]
    assert found == [reference.read(log, name) for log, name in logs]
