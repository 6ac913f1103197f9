"""`binspark transactions` prints a record for each transaction, and says what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from binspark.cli.transactions import transactions_command
from tests.corpus.cases import case_logs

AGREED_KEYS = [
    *("file", "pos", "end_pos", "gtid", "tag", "timestamp", "server_id"),
    *("immediate_commit_timestamp", "original_commit_timestamp", "length", "last_committed", "sequence_number"),
    *("events", "rows", "xid", "xa", "ddl", "end"),
]
PARALLELISM_KEYS = [
    *("transactions", "critical_path", "average", "maximum"),
    *("bytes", "critical_path_bytes", "average_by_bytes", "optimistic"),
]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(transactions_command, [str(argument) for argument in arguments])


def records(*arguments: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run("--format", "jsonl", *arguments).stdout.splitlines()]


def log_of(case: str) -> Path:
    return case_logs(case)[0]


def test_keys_come_in_the_agreed_order() -> None:
    for record in records(log_of("mysql/ddl")):
        assert list(record)[: len(AGREED_KEYS)] == AGREED_KEYS


def test_a_record_describes_the_transaction() -> None:
    record = records(log_of("mysql/format-row"))[3]
    rows = record.pop("rows")
    assert [(row["schema"], row["table"], row["operation"], row["events"]) for row in rows] == [
        ("shop", "customer", "insert", 1)
    ]
    assert record["file"] == "binlog.000001"
    assert record["end_pos"] - record["pos"] == record["length"] == record["declared_length"]
    assert (record["last_committed"], record["sequence_number"], record["events"]) == (3, 4, 5)
    assert (record["end"], record["complete"], record["ddl"]) == ("xid", True, None)


def test_ddl_is_measured_as_text() -> None:
    assert records(log_of("mariadb/ddl"))[0]["ddl"] == "CREATE DATABASE shop CHARACTER SET utf8mb4"


def test_text_is_one_line_for_each_transaction() -> None:
    result = run(log_of("mysql/xa"))
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert len(lines) == 10
    assert lines[4].split()[3:5] == ["xa_commit", records(log_of("mysql/xa"))[4]["gtid"]]
    assert lines[2].endswith("6 events, 452 bytes  insert shop.t, X'6f6e652d7068617365',X'',1")


def test_text_has_one_line_a_transaction_and_all_its_characters(tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    content = log_of("mysql/checksum-none").read_bytes()
    log.write_bytes(content.replace(b"CREATE DATABASE shop", b"CREATE\x1b[2JABAS\nshop "))
    lines = run(log).stdout.splitlines()
    assert lines[0].endswith("CREATE\x1b[2JABAS shop")
    assert len(lines) == 10


def test_parallelism_is_measured_after_the_file() -> None:
    found = records("--parallelism", log_of("mysql/parallel"))[-1]["parallelism"]
    last = run("--parallelism", log_of("mysql/parallel")).stdout.splitlines()[-1]
    assert last.startswith(f"binlog.000001: {found['transactions']} transactions in {found['critical_path']} steps")
    assert last.endswith(f"at most {found['maximum']}")


def test_parallelism_is_one_object_for_each_file() -> None:
    found = [record for record in records("--parallelism", *case_logs("mysql/rotation")) if "parallelism" in record]
    assert [record["file"] for record in found] == [log.name for log in case_logs("mysql/rotation")]
    assert sum(record["parallelism"]["transactions"] for record in found) == 6
    assert list(found[0]["parallelism"]) == PARALLELISM_KEYS


def test_damage_comes_after_the_transactions_before_it(tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(log_of("mysql/format-row").read_bytes()[:2000])
    result = run("--format", "jsonl", log)
    assert result.exit_code == 1
    assert [json.loads(line)["end"] for line in result.stdout.splitlines()][-2:] == ["xid", "unfinished"]
    assert "the log ends" in result.stderr
    assert result.stderr.count("\n") == 1


def test_damage_does_not_hide_the_next_file(tmp_path: Path) -> None:
    log = tmp_path / "binlog.000001"
    log.write_bytes(log_of("mysql/format-row").read_bytes()[:2000])
    result = run("--format", "jsonl", log, log_of("mariadb/format-row"))
    assert result.exit_code == 1
    assert json.loads(result.stdout.splitlines()[-1])["gtid"] == "0-1-10"


@pytest.mark.parametrize("case", ["mysql/crash-truncated", "mariadb/crash-truncated"])
def test_a_transaction_that_a_crash_cut_is_shown_as_unfinished(case: str) -> None:
    result = run(log_of(case))
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1].split()[3] == "unfinished"


def test_no_file_is_wrong_use() -> None:
    assert run().exit_code == 2
