"""Recorded logs consist of the transactions that their GTIDs, their headers and the servers' own readers show."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest

from binspark.errors import Truncated
from binspark.event import Event, RowOperation, Rows
from binspark.files import ReadOptions, read_events
from binspark.transactions import Assembler, Ending, Parallelism, ParallelismMeter, Transaction, transactions
from tests.corpus.cases import case_logs, corpus_logs, log_id, witness
from tests.support.transactions.parallelism_model import model

WITNESSED_GTID = re.compile(
    r"^SET @@SESSION\.GTID_NEXT= '([0-9a-f-]{36}:.*?)'|\tGTID (\d+-\d+-\d+)\b", re.MULTILINE | re.IGNORECASE
)

every_log = pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
every_mysql_log = pytest.mark.parametrize("log", corpus_logs("mysql"), ids=log_id)


def transactions_of(case: str) -> list[Transaction]:
    return list(transactions(read_events(case_logs(case))))


def endings_of(case: str) -> dict[str, int]:
    return Counter(transaction.ending.value for transaction in transactions_of(case))


@every_log
def test_there_is_a_transaction_for_each_gtid_that_the_servers_reader_prints(log: Path) -> None:
    printed = ["".join(match) for match in WITNESSED_GTID.findall(witness(log))]
    found = [transaction.gtid for transaction in transactions(read_events(log)) if transaction.gtid]
    assert found == printed


@every_log
def test_every_transaction_is_complete(log: Path) -> None:
    assert [transaction for transaction in transactions(read_events(log)) if not transaction.complete] == []


@every_mysql_log
def test_a_transaction_is_as_long_as_its_gtid_says(log: Path) -> None:
    found = list(transactions(read_events(log)))
    assert [transaction.length for transaction in found] == [transaction.declared_length for transaction in found]


@every_log
def test_transactions_follow_each_other(log: Path) -> None:
    found = list(transactions(read_events(log)))
    assert [transaction.end - transaction.start for transaction in found] == [each.length for each in found]
    starts = [transaction.start for transaction in found[1:]]
    assert all(end <= start for end, start in zip([each.end for each in found], starts, strict=False))


@every_log
def test_what_belongs_to_no_transaction_is_the_log_itself(log: Path) -> None:
    seen: list[Event] = []
    assembler = Assembler(watcher=lambda _, event: seen.append(event))
    outside: set[str] = set()
    for event in read_events(log):
        assembler.feed(event)
        outside |= {event.type} if event not in seen[-1:] else set()
    assert outside <= {
        "FORMAT_DESCRIPTION", "PREVIOUS_GTIDS", "GTID_LIST", "BINLOG_CHECKPOINT", "ROTATE", "STOP"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("mysql/format-row", {"statement": 3, "xid": 7}),
        ("mysql/format-statement", {"statement": 3, "xid": 7}),
        ("mysql/compressed", {"statement": 3, "xid": 7}),
        ("mysql/gtid-off", {"statement": 3, "xid": 7}),
        ("mysql/xa", {"statement": 2, "xa_one_phase": 1, "xa_prepare": 4, "xa_commit": 2, "xa_rollback": 1}),
        ("mysql/savepoints-statement", {"statement": 3, "xid": 2, "rollback": 1}),
        ("mysql/non-transactional", {"statement": 4, "commit": 6, "xid": 1}),
        ("mysql/incident", {"statement": 2, "incident": 1}),
        ("mysql/load-data-failed", {"statement": 3, "commit": 2, "xid": 1}),
        ("mysql/gtid-gaps", {"statement": 2, "commit": 2, "xid": 8}),
        ("mariadb/format-row", {"standalone": 3, "xid": 7}),
        ("mariadb/format-statement", {"standalone": 3, "xid": 7}),
        ("mariadb/xa", {"standalone": 2, "xid": 1, "xa_prepare": 4, "xa_commit": 2, "xa_rollback": 1}),
        ("mariadb/non-transactional", {"standalone": 4, "commit": 6, "xid": 1}),
        ("mariadb/incident", {"standalone": 2, "incident": 1}),
        (
            "mariadb/alter-two-phase",
            {"standalone": 2, "xid": 2, "start_alter": 3, "commit_alter": 2, "rollback_alter": 1},
        ),
    ],
)
def test_a_case_has_its_endings(case: str, expected: dict[str, int]) -> None:
    assert endings_of(case) == expected


def test_compressed_transactions_change_what_uncompressed_ones_change() -> None:
    plain, compressed = transactions_of("mysql/format-row"), transactions_of("mysql/compressed")
    assert [[(c.table, c.operation, c.events) for c in each.changes] for each in plain] == [
        [(c.table, c.operation, c.events) for c in each.changes] for each in compressed
    ]
    assert [each.compressed for each in plain] == [False] * 10
    assert [each.compressed for each in compressed] == [False] * 3 + [True] * 7


def test_payloads_that_are_not_opened_are_the_same_transactions() -> None:
    closed = list(transactions(read_events(case_logs("mysql/compressed"), ReadOptions(expand_payloads=False))))
    opened = transactions_of("mysql/compressed")
    assert [(each.gtid, each.start, each.end) for each in closed] == [
        (each.gtid, each.start, each.end) for each in opened
    ]
    assert [each.ending for each in closed] == [Ending.STATEMENT] * 3 + [Ending.PAYLOAD] * 7


@pytest.mark.parametrize("case", ["mysql/large-transaction", "mariadb/large-transaction"])
def test_a_large_transaction_is_counted_by_table_and_operation(case: str) -> None:
    largest = max(transactions_of(case), key=lambda transaction: transaction.length)
    inside = [event for event in read_events(case_logs(case)) if largest.start <= event.offset < largest.end]
    rows = [event for event in inside if isinstance(event.body, Rows)]
    assert (largest.events, len(largest.changes)) == (len(inside), 5)
    assert {each.operation: each.events for each in largest.changes if each.table == "a"} == {
        RowOperation.INSERT: len(rows) // 3,
        RowOperation.UPDATE: 1,
    }
    assert sum(changes.events for changes in largest.changes) == len(rows)
    assert sum(changes.bytes for changes in largest.changes) == sum(len(event.frame.data) for event in rows)


@pytest.mark.parametrize("case", ["mysql/ddl", "mariadb/ddl"])
def test_create_table_select_is_one_transaction_with_its_rows(case: str) -> None:
    selects = [each for each in transactions_of(case) if each.ddl is not None and each.changes]
    assert [[(c.table, c.operation.value) for c in each.changes] for each in selects] == [[("d", "insert")]]


@pytest.mark.parametrize("case", ["mysql/gtid-tagged"])
def test_tags_are_part_of_the_gtid(case: str) -> None:
    tagged = [each for each in transactions_of(case) if each.tag is not None]
    assert len(tagged) == 4
    assert all(f":{each.tag}:" in str(each.gtid) for each in tagged)


@pytest.mark.parametrize("case", ["mysql/replica", "mysql/replica-compressed", "mariadb/replica"])
def test_a_relay_log_contains_the_transactions_that_the_replica_logs(case: str) -> None:
    logs = case_logs(case)
    relayed = list(transactions(read_events([log for log in logs if log.name.startswith("relay.")])))
    logged = list(transactions(read_events([log for log in logs if log.name.startswith("replica.")])))
    assert [(each.gtid, each.ending) for each in relayed] == [(each.gtid, each.ending) for each in logged]
    assert {each.server_id for each in relayed} == {1}


@pytest.mark.parametrize("case", ["mysql/crash-truncated", "mariadb/crash-truncated"])
def test_a_log_that_a_crash_cut_leaves_one_transaction_unfinished(case: str) -> None:
    assembler = Assembler()
    with pytest.raises(Truncated):
        list(map(assembler.feed, read_events(case_logs(case))))
    (open_one,) = assembler.finish()
    assert (open_one.ending, [changes.table for changes in open_one.changes]) == (Ending.UNFINISHED, ["t"])


def measured(case: str) -> Parallelism:
    meter = ParallelismMeter()
    for transaction in transactions_of(case):
        meter.add(transaction)
    return meter.result()


def test_mysql_says_what_could_run_together() -> None:
    clocks = [
        (each.last_committed or 0, each.sequence_number or 0, each.length) for each in transactions_of("mysql/parallel")
    ]
    assert measured("mysql/parallel") == model(clocks)
    assert measured("mysql/parallel").average > 2


def test_mariadb_says_what_committed_together() -> None:
    found = transactions_of("mariadb/parallel")
    groups = [len(list(group)) for _, group in groupby(found, key=lambda each: each.commit_id or str(each.gtid))]
    result = measured("mariadb/parallel")
    assert (result.transactions, result.critical_path, result.largest_group) == (len(found), len(groups), max(groups))
    assert result.largest_group > 1


def test_a_transaction_without_a_clock_in_a_groups_relay_log_runs_alone() -> None:
    relay = [log for log in case_logs("mysql/group-replication") if "applier" in log.name]
    found = list(transactions(read_events(relay)))
    assert found[0].sequence_number == 0
    assert [each.ending for each in found] == [Ending.XID] * 2
