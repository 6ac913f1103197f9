"""The contents of logs, counted by kernels and event by event: the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.columns.row_counts import count_rows
from binspark.errors import DecodeError
from binspark.files import find_logs
from binspark.files.contents import BulkCounter, can_count_in_bulk
from binspark.files.read import source_events
from binspark.transactions.contents import Contents, ContentsReader
from tests.corpus.cases import case_logs, case_of, corpus_logs

CASES = sorted({case_of(log) for log in corpus_logs(truncated=True)})


def by_event(logs: list[Path]) -> tuple[Contents, list[str]]:
    reader, errors = ContentsReader(count_rows=count_rows), []
    for source in find_logs(logs):
        try:
            for event in source_events(source):
                reader.feed(event)
        except DecodeError as error:
            errors.append(str(error))
        reader.end_file()
    return reader.finish(), errors


def in_bulk(logs: list[Path]) -> tuple[Contents, list[str]]:
    reader, errors = BulkCounter(), []
    for source in find_logs(logs):
        try:
            reader.count(source)
        except DecodeError as error:
            errors.append(str(error))
    return reader.finish(), errors


@pytest.mark.parametrize("case", CASES)
def test_both_count_the_same(case: str) -> None:
    logs = case_logs(case)
    if all(map(can_count_in_bulk, find_logs(logs))):
        assert in_bulk(logs) == by_event(logs)


def test_most_logs_are_counted_in_bulk() -> None:
    logs = [source for case in CASES for source in find_logs(case_logs(case))]
    assert sum(map(can_count_in_bulk, logs)) > 0.8 * len(logs)
