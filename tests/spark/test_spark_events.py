"""The views `events` and `transactions`: what the commands of the same names print."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import DataFrame

import binspark
from binspark.columns.row_counts import count_rows
from binspark.render.records import event_record, transaction_record
from binspark.transactions import Assembler
from tests.corpus.cases import case_logs, corpus_logs, log_id
from tests.support.spark.spark_reading import Paths, ReadLogs, Record, records

FEW_CASES = (
    "mysql/compressed",
    "mysql/gtid-tagged",
    "mysql/replica",
    "mysql/session-context",
    "mysql/user-variables",
    "mysql/xa",
    "mariadb/gtid-domains",
    "mariadb/alter-two-phase",
    "mariadb/restart-after-crash",
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND, MICROSECOND = timedelta(seconds=1), timedelta(microseconds=1)


def since_1970(moment: datetime | None, unit: timedelta) -> int | None:
    return None if moment is None else (moment - EPOCH) // unit


def events_of(frame: DataFrame) -> list[Record]:
    """Return events as the records of the command; what is not inside a payload has no number there."""
    found = []
    for row in records(frame.selectExpr("* EXCEPT (body)", "to_json(body) AS body")):
        row["timestamp"] = since_1970(row["timestamp"], SECOND)
        row["body"] = json.loads(row["body"])
        found.append({name: value for name, value in row.items() if (name, value) != ("inner", None)})
    return found


def transactions_of(frame: DataFrame) -> list[Record]:
    """Return transactions as the records of the command."""
    found = records(frame)
    for row in found:
        row["timestamp"] = since_1970(row["timestamp"], SECOND)
        for name in ("immediate_commit_timestamp", "original_commit_timestamp"):
            row[name] = since_1970(row[name], MICROSECOND)
        row["rows"] = [
            {name: value for name, value in changes.items() if (name, value) != ("rows", None)}
            for changes in row["rows"]
        ]
    return found


def event_lines(logs: Paths) -> list[Record]:
    return [json.loads(json.dumps(event_record(event))) for event in binspark.events(logs)]


def transaction_lines(logs: Paths) -> list[Record]:
    assembler = Assembler(count_rows=count_rows)
    found = [transaction for event in binspark.events(logs) for transaction in assembler.feed(event)]
    return [transaction_record(transaction) for transaction in (*found, *assembler.finish())]


@pytest.mark.parametrize("case", FEW_CASES)
def test_both_views_have_what_the_commands_print(case: str, read: ReadLogs) -> None:
    logs = case_logs(case)
    assert events_of(read(logs, view="events", body=True)) == event_lines(logs)
    assert transactions_of(read(logs, view="transactions")) == transaction_lines(logs)


@pytest.mark.slow
@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
def test_both_views_of_every_log_have_what_the_commands_print(log: Path, read: ReadLogs) -> None:
    assert events_of(read(log, view="events", body=True)) == event_lines(log)
    assert transactions_of(read(log, view="transactions")) == transaction_lines(log)


def test_bodies_of_events_are_queried_by_their_fields(read: ReadLogs) -> None:
    logs = case_logs("mysql/format-row")
    events = read(logs, view="events", body=True)
    assert events.schema["body"].dataType.simpleString() == "variant"
    maps = events.where("type = 'TABLE_MAP'").selectExpr("variant_get(body, '$.table', 'string') AS name").distinct()
    assert {row.name for row in maps.collect()} == {
        change.table for change in binspark.rows(case_logs("mysql/format-row"))
    }


def test_payloads_are_not_expanded_on_request(read: ReadLogs) -> None:
    logs = case_logs("mysql/compressed")
    closed = read(logs, view="events", expandPayloads=False)
    assert closed.where("inner IS NOT NULL").count() == 0
    assert closed.count() == len([event for event in binspark.events(logs) if event.inner is None])


def test_a_query_may_select_fewer_columns_of_a_view(read: ReadLogs) -> None:
    logs = case_logs("mysql/format-row")
    events = read(logs, "type string, pos bigint", view="events")
    assert events.columns == ["type", "pos"]
    assert [(row.type, row.pos) for row in events.collect()] == [
        (event.type, event.offset) for event in binspark.events(logs)
    ]
    transactions = read(logs, "gtid string, xid decimal(20,0)", view="transactions")
    assert records(transactions) == [{"gtid": row["gtid"], "xid": row["xid"]} for row in transaction_lines(logs)]


def test_bodies_are_decoded_only_on_request(read: ReadLogs) -> None:
    logs = case_logs("mysql/format-row")
    assert "body" not in read(logs, view="events").columns
    assert read(logs, view="events", body=True).columns[-1] == "body"
    named = read(logs, "pos bigint, body variant", view="events")
    assert [row["pos"] for row in events_of_bodies(named)] == [event.offset for event in binspark.events(logs)]


def events_of_bodies(frame: DataFrame) -> list[Record]:
    return records(frame.selectExpr("pos", "to_json(body) AS body").where("body IS NOT NULL"))


def test_transactions_have_the_number_of_rows(read: ReadLogs) -> None:
    logs = case_logs("mysql/format-row")
    expected = Counter(f"{change.table} {change.op.value}" for change in binspark.rows(logs))
    changes = read(logs, view="transactions").selectExpr("explode(rows) AS change").selectExpr("change.*")
    counted: Counter[str] = Counter()
    for row in changes.collect():
        counted[f"{row['table']} {row.operation}"] += row["rows"]
    assert counted == expected
