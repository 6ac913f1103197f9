"""Options of `rows` select complete events of a MariaDB dump; options of the other tool are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from binspark.cli.main import main
from tests.corpus.cases import case_logs

ROWS = re.compile(rb"^### (INSERT INTO|UPDATE|DELETE FROM) `(\w+)`\.`(\w+)`$", re.MULTILINE)
LOG = case_logs("mariadb/multi-table")[0]


def rows_of(log: Path, *options: str) -> set[tuple[str, str]]:
    """Return which operations on which tables are dumped."""
    text = CliRunner().invoke(main, ["dump", "-v", *options, str(log)], standalone_mode=False).stdout_bytes
    assert text.count(b"BINLOG '") == text.count(b"\n'/*!*/;")
    return {(match[1].decode(), f"{match[2].decode()}.{match[3].decode()}") for match in ROWS.finditer(text)}


def refusal(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["dump", *arguments])
    assert result.exit_code == 2
    return result.stderr


def test_tables_leave_out_the_rows_of_other_tables() -> None:
    every_table = {table for _, table in rows_of(LOG)}
    assert len(every_table) > 1
    one = min(every_table)
    assert {table for _, table in rows_of(LOG, "--tables", one)} == {one}
    assert {table for _, table in rows_of(LOG, "--exclude-tables", one)} == every_table - {one}


def test_operations_leave_out_other_rows_events() -> None:
    log = case_logs("mariadb/format-row")[0]
    assert {operation for operation, _ in rows_of(log, "--operations", "delete")} == {"DELETE FROM"}


def test_gtids_and_commit_times_select_transactions() -> None:
    log = case_logs("mariadb/format-row")[0]
    every_row = rows_of(log)
    assert rows_of(log, "--include-gtids", "..0-1-1") == set()
    assert rows_of(log, "--exclude-gtids", "..0-1-1") == every_row
    assert rows_of(log, "--committed-before", "2000-01-01 00:00:00") == set()
    assert rows_of(log, "--committed-from", "2000-01-01 00:00:00") == every_row


def test_a_thread_selects_the_statements_that_name_it() -> None:
    log = case_logs("mariadb/format-statement")[0]
    arguments = ["dump", "--thread-id", "123456", str(log)]
    text = CliRunner().invoke(main, arguments, standalone_mode=False).stdout_bytes
    assert b"\tGTID" not in text
    assert b"thread_id=" not in text


@pytest.mark.parametrize("option", ["--skip-gtids", "--idempotent", "--require-row-format"])
def test_options_of_mysqlbinlog_are_refused_for_logs_of_mariadb(option: str) -> None:
    assert refusal(option, str(LOG)) == f"binspark: {option} is for MySQL's logs; mariadb-binlog has no such option\n"


@pytest.mark.parametrize(
    "option", ["--table=t", "--do-domain-ids=0", "--skip-gtid-strict-mode", "--start-position=0-1-2"]
)
def test_options_of_mariadb_binlog_are_refused_for_logs_of_mysql(option: str) -> None:
    log = str(case_logs("mysql/format-row")[0])
    assert "as only mariadb-binlog knows it, but the log is of MySQL" in refusal(option, log)


def test_positions_that_the_logs_do_not_have_are_refused() -> None:
    logs = [str(log) for log in case_logs("mariadb/gtid-domains")]
    assert "(0-1-1) is not in the logs" in refusal("--stop-position=0-1-1", logs[1])
    assert "are both of domain 0" in refusal("--start-position=0-1-1,0-1-2", logs[0])
    assert "is before --start-position 0-1-5" in refusal("--start-position=0-1-5", "--stop-position=0-1-3", logs[0])
