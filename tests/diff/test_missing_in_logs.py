"""`binspark gtid missing` reads the GTIDs of logs."""

from __future__ import annotations

import json

import pytest

from binspark.cli.demo import SHOP
from binspark.cli.main import exit_code

LOGS = SHOP / "mysql"


def test_what_a_log_lacks_of_all_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    sides = ("--from", str(LOGS), "--to", str(LOGS / "binlog.000001"))
    assert exit_code(["gtid", "missing", *sides, "--format", "jsonl"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert (record["errant"], record["missing_count"]) == ("", 93)


def test_what_came_before_the_first_log_is_not_missing() -> None:
    assert exit_code(["gtid", "missing", "--from", str(LOGS), "--to", str(LOGS / "binlog.000003")]) == 0
