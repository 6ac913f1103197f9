"""Events listed by a kernel are those of the object API, and bodies are those that it decodes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.columns import event_list, log_scan, scan_memory
from tests.corpus.cases import case_logs, corpus_logs, log_id
from tests.support.columns.listing import expected_events, listed_events
from tests.support.columns.random_logs import RandomLog, logs
from tests.support.examples import examples
from tests.support.transactions.grammar_logs import event_soups

every_log = pytest.mark.parametrize("log", corpus_logs(encrypted=True, truncated=True), ids=log_id)
many = settings(max_examples=examples(80), deadline=None, suppress_health_check=list(HealthCheck))


@every_log
def test_events_are_those_of_the_object_api(log: Path) -> None:
    content = log.read_bytes()
    assert listed_events(content) == expected_events(content)
    assert listed_events(content, body=False) == expected_events(content, body=False)


@pytest.mark.parametrize("log", case_logs("mysql/compressed"), ids=log_id)
def test_payloads_are_not_expanded_on_request(log: Path) -> None:
    content = log.read_bytes()
    assert listed_events(content, expand=False) == expected_events(content, expand=False)


@pytest.mark.parametrize("case", ["mysql/compressed", "mysql/format-row", "mariadb/gtid-domains"])
def test_windows_and_batches_may_be_small(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_scan, "WINDOW", 300)
    monkeypatch.setattr(scan_memory, "_WINDOW", 1)
    monkeypatch.setattr(event_list, "_CAPACITY", 3)
    for log in case_logs(case):
        content = log.read_bytes()
        assert listed_events(content) == expected_events(content)


@many
@given(logs(damage=True, payloads=True), st.booleans())
def test_events_of_random_logs_are_those_of_the_object_api(log: RandomLog, body: bool) -> None:
    found, expected = listed_events(log.content, body=body), expected_events(log.content, body=body)
    if body:
        assert found.records == expected.records
        assert (found.error or ())[:2] == (expected.error or ())[:2]
    else:  # what is wrong inside bodies is not noticed
        assert found.records[: len(expected.records)] == expected.records


@many
@given(event_soups())
def test_events_in_any_order_are_those_of_the_object_api(content: bytes) -> None:
    assert listed_events(content) == expected_events(content)
