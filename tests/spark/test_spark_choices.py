"""Options that select rows select the same ones as in Python, in every view that has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame

import binspark
from binspark import OptionError
from binspark.testing.builder import (
    MARIADB_10_11,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    delete,
    insert,
    integer,
    table,
    update,
    varchar,
)
from binspark.transactions import Assembler, Transaction
from tests.support.spark.spark_reading import ReadLogs, failure, ordered, records

ORDERS = table("shop.orders", integer("id"), varchar("note", 40))
PEOPLE = table("crm.people", integer("id"), varchar("name", 40))
OF_NO_TRANSACTION = {
    "FORMAT_DESCRIPTION",
    "PREVIOUS_GTIDS",
    "GTID_LIST",
    "BINLOG_CHECKPOINT",
    "ROTATE",
    "STOP",
}
START = 1_794_733_200  # 2026-11-15 09:00:00
Row = tuple[str, int, int]


@pytest.fixture(scope="module", params=[MYSQL_9_7, MARIADB_10_11], ids=["mysql", "mariadb"])
def logs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two files of four transactions each, one per second, by two servers in turn."""
    server: ServerKind = request.param
    log = BinlogBuilder(server)
    log.timestamp = START
    for number in range(8):
        if number == 4:
            log.rotate()
        log.timestamp += 1
        log.server_id = 1 + number % 2
        log.transaction(
            insert(PEOPLE, (number, "new"), (number + 100, None)),
            *([insert(ORDERS, (number, "first")), delete(ORDERS, (number, "first"))] if number % 3 else []),
            update(PEOPLE, ((number, "new"), (number, "known"))),
        )
    log.stop()
    return log.save(tmp_path_factory.mktemp("choices"))


def spark_rows(frame: DataFrame) -> set[Row]:
    return {(row._log_file, row._log_pos, row._log_row) for row in frame.collect()}


def python_rows(logs: list[Path], **options: Any) -> set[Row]:
    return {(Path(change.file).name, change.pos, change.row) for change in binspark.rows(logs, **options)}


def gtids(logs: list[Path]) -> list[str]:
    """Return the GTIDs of the transactions, in the order of the log."""
    return list(dict.fromkeys(str(change.gtid) for change in binspark.rows(logs)))


def transactions(logs: list[Path]) -> list[Transaction]:
    assembler = Assembler()
    found = [transaction for event in binspark.events(logs) for transaction in assembler.feed(event)]
    return [*found, *assembler.finish()]


CHOICES: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "tables": ({"tables": "shop.*,nobody.t"}, {"tables": ["shop.*", "nobody.t"]}),
    "excludeTables": ({"excludeTables": "crm.*"}, {"exclude_tables": ["crm.*"]}),
    "operations": ({"operations": "update,delete"}, {"operations": ["update", "delete"]}),
    "times": (
        {"committedFrom": "2026-11-15 09:00:03", "committedBefore": "2026-11-15T09:00:06+00:00"},
        {"committed_from": START + 3, "committed_before": START + 6},
    ),
    "serverId": ({"serverId": "2"}, {"server_id": 2}),
    "all": (
        {"tables": "crm.people", "operations": "insert", "serverId": "1", "committedFrom": "2026-11-15 09:00:02"},
        {"tables": ["crm.people"], "operations": ["insert"], "server_id": 1, "committed_from": START + 2},
    ),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_changes_are_selected_as_in_python(choice: str, logs: list[Path], read: ReadLogs) -> None:
    options, same = CHOICES[choice]
    chosen = spark_rows(read(logs, "_log_file string, _log_pos bigint, _log_row int", **options))
    assert chosen == python_rows(logs, **same)
    assert 0 < len(chosen) < len(python_rows(logs))


@pytest.mark.parametrize("choice", CHOICES)
def test_transactions_are_selected_as_their_rows_are(choice: str, logs: list[Path], read: ReadLogs) -> None:
    options, same = CHOICES[choice]
    found = records(read(logs, "gtid string", view="transactions", **options))
    expected = dict.fromkeys(change.gtid for change in binspark.rows(logs, **same))
    assert [row["gtid"] for row in found] == list(expected)


@pytest.mark.parametrize("size", ["1g", "700"])
def test_gtids_select_in_every_view(size: str, logs: list[Path], read: ReadLogs) -> None:
    names = gtids(logs)
    for option, expected in (("includeGtids", names[:3]), ("excludeGtids", names[3:])):
        options = {option: ",".join(names[:3]), "maxSplitBytes": size}
        assert {row["_gtid"] for row in records(read(logs, "_gtid string", **options))} == set(expected)
        found = records(read(logs, "gtid string", view="transactions", **options))
        assert sorted(row["gtid"] for row in found) == sorted(expected)
        events = records(read(logs, "type string, file string, pos bigint", view="events", **options))
        inside = {(row["file"], row["pos"]) for row in events if row["type"] not in OF_NO_TRANSACTION}
        assert inside == set(event_positions(logs, expected))
        outside = {row["type"] for row in events} & OF_NO_TRANSACTION
        assert (
            outside == {event.type for event in binspark.events(logs) if option == "excludeGtids"} & OF_NO_TRANSACTION
        )


def event_positions(logs: list[Path], names: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the positions of the events of transactions."""
    for transaction in transactions(logs):
        for event in binspark.events(transaction.file):
            if transaction.gtid in names and transaction.start <= event.offset < transaction.end:
                yield Path(event.file).name, event.offset


def position_cases(logs: list[Path]) -> list[tuple[dict[str, str], Callable[[Transaction], bool]]]:
    """Return positions, and the transactions between them."""
    first, second = logs
    in_first = [transaction for transaction in transactions(logs) if transaction.file == str(first)]
    in_second = [transaction for transaction in transactions(logs) if transaction.file == str(second)]
    middle, later = in_first[2].start, in_second[1].start
    return [
        ({"startPosition": f"{first.name}:{middle}"}, lambda t: t.file == str(second) or t.start >= middle),
        ({"startPosition": f"{first.name}:{middle + 1}"}, lambda t: t.file == str(second) or t.start > middle),
        ({"stopPosition": f"{second}:{later}"}, lambda t: t.file == str(first) or t.start < later),
        (
            {"startPosition": f"{first.name}:{middle}", "stopPosition": f"{first.name}:{middle + 1}"},
            lambda t: t.file == str(first) and t.start == middle,
        ),
        ({"startPosition": str(middle)}, lambda t: t.file == str(second) or t.start >= middle),
        ({"stopPosition": str(later)}, lambda t: t.file == str(first) or t.start < later),
    ]


@pytest.mark.parametrize("number", range(6))
def test_positions_select_the_transactions_that_begin_between_them(
    number: int, logs: list[Path], read: ReadLogs
) -> None:
    options, is_left = position_cases(logs)[number]
    expected = [transaction.gtid for transaction in transactions(logs) if is_left(transaction)]
    found = records(read(logs, "gtid string", view="transactions", **options))
    assert [row["gtid"] for row in found] == expected
    rows = records(read(logs, "_gtid string", maxSplitBytes="700", **options))
    assert {row["_gtid"] for row in rows} == set(expected)


def test_a_position_in_a_log_that_is_not_there_is_named(logs: list[Path], read: ReadLogs) -> None:
    error = failure(lambda: read(logs, startPosition="binlog.000009:4").collect())
    assert isinstance(error, OptionError)
    assert error.message == "startPosition names binlog.000009, which is none of the logs"


def test_rows_of_a_transaction_are_numbered_across_all_tables_on_request(logs: list[Path], read: ReadLogs) -> None:
    columns = "_gtid string, _tx_row bigint"
    alone = records(read(logs, columns, table="crm.people"))
    counted = records(read(logs, columns, table="crm.people", txRows=True))
    of_second = gtids(logs)[1]
    assert [row["_tx_row"] for row in alone if row["_gtid"] == of_second] == [0, 1, 2]
    assert [row["_tx_row"] for row in counted if row["_gtid"] == of_second] == [0, 1, 4]


def test_small_batches_contain_the_same_rows(logs: list[Path], read: ReadLogs) -> None:
    few = ordered(records(read(logs, rows="json", maxRowsPerBatch=3)))
    assert few == ordered(records(read(logs, rows="json")))
