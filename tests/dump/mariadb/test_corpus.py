"""Recorded logs of MariaDB are dumped byte for byte as mariadb-binlog prints them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from binspark.testing.servers.programs import Programs
from tests.corpus.cases import case_logs, corpus_logs, log_id
from tests.support.dump.mariadb_tool import OPTION_SETS, assert_same_text, mariadb_tool

__all__ = ["mariadb_tool"]

pytestmark = pytest.mark.mariadb
LOGS = corpus_logs("mariadb", truncated=True)
EVERY_OPTION = [
    case_logs("mariadb/multi-table")[0],
    case_logs("mariadb/xa")[0],
    case_logs("mariadb/gtid-domains")[1],
    case_logs("mariadb/replica")[1],
]


def _name(options: Sequence[str]) -> str:
    return " ".join(options) or "none"


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_rows_and_statements_are_printed_as_the_tool_does(mariadb_tool: Programs, tmp_path: Path, log: Path) -> None:
    for options in ((), ("-vv", "--print-table-metadata")):
        assert_same_text(mariadb_tool, tmp_path, options, log)


@pytest.mark.parametrize("log", EVERY_OPTION, ids=log_id)
def test_every_option_does_what_the_tools_does(mariadb_tool: Programs, tmp_path: Path, log: Path) -> None:
    for options in OPTION_SETS:
        assert_same_text(mariadb_tool, tmp_path, options, log)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTION_SETS, ids=_name)
def test_every_option_with_every_log(mariadb_tool: Programs, tmp_path: Path, options: Sequence[str]) -> None:
    for log in LOGS:
        assert_same_text(mariadb_tool, tmp_path, options, log)


def test_several_logs_are_printed_one_after_the_other(mariadb_tool: Programs, tmp_path: Path) -> None:
    logs = case_logs("mariadb/gtid-domains")
    for options in ((), ("-v", "--start-position=300"), ("--stop-position=500",), ("--offset=40",)):
        assert_same_text(mariadb_tool, tmp_path, options, *logs)


def test_times_select_events_as_the_tool_does(mariadb_tool: Programs, tmp_path: Path) -> None:
    log = case_logs("mariadb/types")[0]
    for second in range(3):
        time = f"2026-11-15 08:57:0{second}"
        assert_same_text(mariadb_tool, tmp_path, (f"--start-datetime={time}",), log)
        assert_same_text(mariadb_tool, tmp_path, (f"--stop-datetime={time}",), log)
