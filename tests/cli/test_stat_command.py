"""`binspark stat` and `binspark demo`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from binspark.cli.demo import SHOP
from binspark.cli.main import exit_code
from tests.corpus.cases import case_logs


def test_stat_counts_events_transactions_and_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["stat", "--format", "jsonl", str(SHOP / "mysql")]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["transactions"]["count"] == 159
    assert shown["endings"] == {"statement": 6, "xid": 153}
    deleted = [table for table in shown["tables"] if table["operation"] == "delete"]
    assert [(table["schema"], table["table"]) for table in deleted] == [("shop", "orders")]
    assert shown["largest"][0]["what"] == "delete shop.orders"


def test_stat_counts_every_byte_of_the_events(capsys: pytest.CaptureFixture[str]) -> None:
    logs = sorted((SHOP / "mariadb").glob("binlog.0*"))
    assert exit_code(["stat", "--format", "jsonl", *map(str, logs)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["events"]["bytes"] == sum(log.stat().st_size - 4 for log in logs)


def test_stat_of_a_damaged_log_counts_what_is_sound_and_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "binlog.000001"
    cut.write_bytes(case_logs("mysql/format-row")[0].read_bytes()[:2000])
    assert exit_code(["stat", "--format", "jsonl", str(cut)]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["events"]["count"] > 5
    assert "binlog.000001" in captured.err
