"""Transactions that are selected or excluded as units: by commit time and by GTID."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest

from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.frames import ChecksumAlgorithm
from binspark.gtid import Gtid, GtidSet, MariadbPosition
from binspark.testing.builder import (
    MARIADB_10_11,
    MYSQL_5_5,
    MYSQL_5_7,
    MYSQL_9_7,
    BinlogBuilder,
    EventSpec,
    ServerKind,
    insert,
    integer,
    table,
)

ITEMS = table("shop.items", integer("id"))
NOON = 1_750_000_000
SECOND = 1_000_000
checksums = pytest.mark.parametrize("checksum", list(ChecksumAlgorithm)[:2], ids=lambda kind: kind.name)


def ids(log: BinlogBuilder, **choice: Any) -> list[int]:
    """Return the rows of a log that are chosen."""
    batches = BatchReader(Selection(**choice)).read(io.BytesIO(log.content).readinto)
    return [number for found in batches for number in found.batch.column("id").to_pylist()]


def commit(log: BinlogBuilder, number: int, moment: int, tag: str = "", *, compress: bool = False) -> None:
    """Write a transaction of two statements, a second apart, that is committed at a microsecond."""
    gtid = Gtid(log.server_uuid, number, tag)
    log.sequence_number += 1
    opening = log.gtid_spec(gtid, 0)
    committed = replace(opening.body, immediate_commit_timestamp=moment, original_commit_timestamp=moment - 7)
    log.timestamp = moment // SECOND
    log.event(*opening._replace(body=committed))
    log.timestamp -= 5
    parts = [log.query_spec("BEGIN"), *log.change_specs((insert(ITEMS, (number,)),), log.default_rows_codes())]
    parts += log.change_specs((insert(ITEMS, (number + 100,)),), log.default_rows_codes())
    log.timestamp += 5
    write(log, parts, compress=compress)


def write(log: BinlogBuilder, parts: list[EventSpec], *, compress: bool) -> None:
    if compress:
        log.transaction_payload(parts)
    else:
        log.write(parts)
        log.xid(1)


@pytest.mark.parametrize("kind", ["rows", "payloads"])
@pytest.mark.parametrize("tag", ["", "blue"], ids=["untagged", "tagged"])
@checksums
def test_mysql_commits_are_chosen_to_the_microsecond(checksum: ChecksumAlgorithm, tag: str, kind: str) -> None:
    log = BinlogBuilder(MYSQL_9_7, checksum=checksum)
    moments = [NOON * SECOND + microseconds for microseconds in (0, 1, 2, 999_999, SECOND)]
    for number, moment in enumerate(moments):
        commit(log, number + 1, moment, tag, compress=kind == "payloads")
    both = [[1, 101], [2, 102], [3, 103], [4, 104], [5, 105]]
    for number, moment in enumerate(moments):
        assert ids(log, committed_from=moment) == list(chain.from_iterable(both[number:]))
        assert ids(log, committed_before=moment) == list(chain.from_iterable(both[:number]))
        assert ids(log, committed_from=moment, committed_before=moment + 1) == both[number]


def test_a_transaction_that_began_earlier_is_chosen_by_its_commit_alone() -> None:
    """The statements of each transaction are five seconds older than its commit."""
    log = BinlogBuilder(MYSQL_9_7)
    commit(log, 1, NOON * SECOND)
    commit(log, 2, (NOON + 3) * SECOND)
    assert ids(log, committed_from=(NOON + 3) * SECOND) == [2, 102]
    assert ids(log, committed_before=(NOON + 3) * SECOND) == [1, 101]


@pytest.mark.parametrize("server", [MARIADB_10_11, MYSQL_5_7], ids=lambda kind: kind.server_version)
def test_where_a_gtid_has_no_commit_time_its_own_time_counts(server: ServerKind) -> None:
    log = BinlogBuilder(server)
    for number in range(3):
        log.timestamp = NOON + 10 * number
        log.transaction(insert(ITEMS, (number,)), insert(ITEMS, (number + 100,)))
    assert ids(log, committed_from=(NOON + 10) * SECOND) == [1, 101, 2, 102]
    assert ids(log, committed_from=(NOON + 10) * SECOND + 1) == [2, 102]
    assert ids(log, committed_before=(NOON + 10) * SECOND) == [0, 100]
    assert ids(log, committed_before=(NOON + 10) * SECOND + 1) == [0, 100, 1, 101]


def test_mariadb_transactions_stay_complete_when_statements_are_older_than_the_commit() -> None:
    log = BinlogBuilder(MARIADB_10_11)
    log.timestamp = NOON
    log.mariadb_gtid("0-1-1")
    log.timestamp = NOON - 60
    log.write(log.change_specs((insert(ITEMS, (1,)),), log.default_rows_codes()))
    log.timestamp = NOON
    log.write(log.change_specs((insert(ITEMS, (2,)),), log.default_rows_codes()))
    log.xid(1)
    assert ids(log, committed_from=NOON * SECOND) == [1, 2]
    assert ids(log, committed_before=NOON * SECOND) == []


def test_where_nothing_names_transactions_the_times_of_events_count() -> None:
    log = BinlogBuilder(MYSQL_5_5)
    for number in range(3):
        log.timestamp = NOON + number
        log.transaction(insert(ITEMS, (number,)))
    assert ids(log, committed_from=(NOON + 1) * SECOND) == [1, 2]
    assert ids(log, committed_before=(NOON + 1) * SECOND) == [0]


def mariadb_log() -> BinlogBuilder:
    log = BinlogBuilder(MARIADB_10_11)
    for number, gtid in enumerate(("0-1-1", "0-1-2", "1-1-1", "0-2-3", "1-7-9", "2-1-1")):
        log.transaction(insert(ITEMS, (number,)), gtid=gtid)
    return log


@pytest.mark.parametrize(
    ("position", "reached"),
    [("", []), ("0-1-2", [0, 1]), ("0-2-3,1-1-8", [0, 1, 2, 3]), ("0-9-3,1-7-9", [0, 1, 2, 3, 4]), ("2-1-7", [5])],
)
def test_a_position_of_mariadb_means_all_that_comes_up_to_it(position: str, reached: list[int]) -> None:
    log = mariadb_log()
    assert ids(log, include_gtids=MariadbPosition(position)) == reached
    assert ids(log, exclude_gtids=MariadbPosition(position)) == [n for n in range(6) if n not in reached]


def test_names_of_the_other_family_are_in_no_set() -> None:
    mysql = BinlogBuilder(MYSQL_9_7)
    mysql.transaction(insert(ITEMS, (1,)))
    everything = GtidSet(f"{mysql.server_uuid}:1-100")
    assert ids(mysql, include_gtids=MariadbPosition("0-1-100")) == []
    assert ids(mysql, exclude_gtids=MariadbPosition("0-1-100")) == [1]
    assert ids(mariadb_log(), include_gtids=everything) == []
    assert ids(mariadb_log(), exclude_gtids=everything) == list(range(6))


@pytest.mark.parametrize("compress", [False, True], ids=["rows", "payloads"])
def test_transactions_are_selected_by_gtid_and_time_together(compress: bool) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    for number in range(1, 5):
        commit(log, number, (NOON + number) * SECOND, compress=compress)
    chosen = {"include_gtids": GtidSet(f"{log.server_uuid}:2-4"), "committed_before": (NOON + 4) * SECOND}
    assert ids(log, **chosen) == [2, 102, 3, 103]
    assert ids(log, **chosen, exclude_gtids=GtidSet(f"{log.server_uuid}:3")) == [2, 102]


def test_events_before_the_first_gtid_are_not_skipped_with_the_log_before() -> None:
    """A transaction that is excluded says nothing about the log that is read next."""
    first, second = BinlogBuilder(MYSQL_9_7), BinlogBuilder(MYSQL_5_5)
    commit(first, 1, NOON * SECOND)
    second.timestamp = NOON + 60
    second.transaction(insert(ITEMS, (2,)))
    reader = BatchReader(Selection(committed_from=(NOON + 1) * SECOND))
    found = [list(reader.read(io.BytesIO(log.content).readinto)) for log in (first, second)]
    assert [sum(batch.batch.num_rows for batch in batches) for batches in found] == [0, 1]


@pytest.mark.parametrize("text", ["0-1-2", "b8ae2fd2-3005-11f0-8be8-0242ac150002:blue:7", None])
def test_a_gtid_as_text_means_what_the_gtid_means(text: str | None) -> None:
    chosen = Selection(include_gtids=GtidSet("b8ae2fd2-3005-11f0-8be8-0242ac150002:blue:7"))
    assert chosen.wants_gtid_text(text) == (text is not None and "blue" in text)
    assert Selection().wants_gtid_text(text)
    assert Selection(exclude_gtids=MariadbPosition("0-1-2")).wants_gtid_text(text) == (text != "0-1-2")
