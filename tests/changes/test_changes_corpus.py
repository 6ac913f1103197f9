"""The reference path and the bulk path give the same rows of every recorded log, and the same refusals."""

from __future__ import annotations

from typing import Any

import pytest

from binspark.errors import Truncated, Unsupported
from tests.corpus.cases import case_logs, case_of, corpus_logs
from tests.support.changes.change_tables import by_batches, by_rows

CASES = sorted({case_of(log) for log in corpus_logs(encrypted=True, truncated=True)})
ONLY_BY_ROWS = "mysql/json-partial-minimal"
"""Its documents are in the log only as partial updates, which no column can contain."""

FILTERS = (
    {"operations": ["delete", "insert"]},
    {"operations": ["update"]},
    {"start_position": 1500},
    {"stop_position": 1500},
    {"server_id": 1},
    {"server_id": 0},
    {"start_datetime": "2026-11-15 08:56:01"},
    {"stop_datetime": "2026-11-15 08:56:01"},
    {"exclude_tables": ["*s"]},
)


@pytest.mark.parametrize("case", [case for case in CASES if case != ONLY_BY_ROWS])
def test_both_paths_give_the_same_rows_and_the_same_refusals(case: str) -> None:
    assert by_rows(case_logs(case)) == by_batches(case_logs(case))


def test_most_recorded_logs_have_rows() -> None:
    counts = [sum(map(len, by_rows(case_logs(case)).tables.values())) for case in CASES]
    assert sum(counts) > 3000
    assert len([count for count in counts if count]) >= 75


def test_a_partial_document_without_its_old_form_is_shown_as_diffs_and_refused_as_a_column() -> None:
    by_row, in_bulk = by_rows(case_logs(ONLY_BY_ROWS)), by_batches(case_logs(ONLY_BY_ROWS))
    assert (by_row.error, in_bulk.error) == (None, Unsupported)
    assert [len(rows) for rows in by_row.tables.values()] > [len(rows) for rows in in_bulk.tables.values()]


@pytest.mark.parametrize("family", ["mysql", "mariadb"])
def test_rows_before_a_cut_are_delivered(family: str) -> None:
    outcome = by_rows(case_logs(f"{family}/crash-truncated"))
    assert outcome.error is Truncated
    assert sum(map(len, outcome.tables.values())) > 0


@pytest.mark.parametrize("options", FILTERS, ids=str)
@pytest.mark.parametrize(
    "case", ["mysql/types", "mysql/json-partial", "mariadb/types-compressed", "mariadb/compressed"]
)
def test_both_paths_filter_alike(case: str, options: dict[str, Any]) -> None:
    logs = case_logs(case)
    assert by_rows(logs, **options) == by_batches(logs, **options)


@pytest.mark.parametrize("case", ["mysql/gtid-tagged", "mysql/gtid-off", "mariadb/gtid-domains"])
@pytest.mark.parametrize("option", ["include_gtids", "exclude_gtids"])
def test_both_paths_choose_the_same_transactions(case: str, option: str) -> None:
    logs = case_logs(case)
    gtids = sorted({row["_gtid"] for rows in by_rows(logs).tables.values() for row in rows if row["_gtid"]})
    chosen = {option: ",".join(gtid for gtid in gtids[::2] if ":" in gtid)}
    assert by_rows(logs, **chosen) == by_batches(logs, **chosen)
