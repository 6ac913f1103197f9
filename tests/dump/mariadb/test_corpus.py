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
VERSION_AT = 4 + 19 + 2
"""Where the version of the server is in a log."""

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


@pytest.mark.parametrize(
    "version", ["5.5.36", "10.3.39", "10.5.1", "10.5.2", "10.5.17", "10.6.8", "10.6.9", "10.10.1", "11.4.2"]
)
def test_the_settings_that_a_server_logs_depend_on_its_version(
    mariadb_tool: Programs, tmp_path: Path, version: str
) -> None:
    content = bytearray(case_logs("mariadb/session-context")[0].read_bytes())
    content[VERSION_AT : VERSION_AT + 50] = f"{version}-MariaDB-log".encode().ljust(50, b"\0")
    log = tmp_path / "binlog.000001"
    log.write_bytes(content)
    assert_same_text(mariadb_tool, tmp_path, (), log)
