"""Transactions listed by a kernel are those of the `Assembler`, with all their fields."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from binspark.columns import log_scan, mapped_tables, scan_memory, transaction_list
from binspark.testing.builder import ServerKind
from tests.corpus.cases import case_logs, corpus_logs, log_id
from tests.support.columns.listing import expected_transactions, listed_transactions
from tests.support.columns.random_logs import RandomLog, logs
from tests.support.examples import examples
from tests.support.transactions.grammar_logs import SERVERS, event_soups, every_pair_of_stories, stories

every_log = pytest.mark.parametrize("log", corpus_logs(encrypted=True, truncated=True), ids=log_id)
many = settings(max_examples=examples(120), deadline=None, suppress_health_check=list(HealthCheck))


@every_log
def test_transactions_are_those_of_the_assembler(log: Path) -> None:
    content = log.read_bytes()
    assert listed_transactions(content) == expected_transactions(content)


@pytest.mark.parametrize("log", case_logs("mysql/compressed"), ids=log_id)
def test_payloads_are_not_expanded_on_request(log: Path) -> None:
    content = log.read_bytes()
    assert listed_transactions(content, expand=False) == expected_transactions(content, expand=False)


@pytest.mark.parametrize(
    "case", ["mysql/compressed", "mysql/format-row", "mysql/xa", "mysql/gtid-tagged", "mariadb/gtid-domains"]
)
def test_windows_and_batches_may_be_small(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_scan, "WINDOW", 300)
    monkeypatch.setattr(scan_memory, "_WINDOW", 1)
    monkeypatch.setattr(transaction_list, "_CAPACITY", 3)
    monkeypatch.setattr(transaction_list, "_CHANGES", 1)
    for name in ("_FIRST_IDS", "_MAX_IDS", "_MAX_TABLES", "_MAX_SCHEMAS"):
        monkeypatch.setattr(mapped_tables, name, 1)
    for log in case_logs(case):
        content = log.read_bytes()
        assert listed_transactions(content) == expected_transactions(content)


@many
@given(event_soups())
def test_transactions_of_events_in_any_order_are_those_of_the_assembler(content: bytes) -> None:
    assert listed_transactions(content) == expected_transactions(content)


@many
@given(stories())
def test_transactions_as_servers_write_them_are_those_of_the_assembler(content: bytes) -> None:
    assert listed_transactions(content) == expected_transactions(content)


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.server_version)
def test_every_pair_of_transactions_is_that_of_the_assembler(server: ServerKind) -> None:
    content = every_pair_of_stories(server)
    assert listed_transactions(content) == expected_transactions(content)


@many
@given(logs(damage=True, payloads=True))
def test_transactions_of_random_logs_are_those_of_the_assembler(log: RandomLog) -> None:
    found, expected = listed_transactions(log.content), expected_transactions(log.content)
    assert found.records == expected.records
    assert (found.error or ())[:2] == (expected.error or ())[:2]
