"""`--skip-damaged`: commands continue after damage, list what they skipped, and exit with 1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from binspark.cli.main import exit_code
from binspark.testing.builder import MYSQL_5_1_17, BinlogBuilder, insert, integer, table
from binspark.testing.builder.tables import PRE_GA
from tests.support.files.old_logs import ORDERS

TRANSACTIONS = 6
DAMAGED = 2


class Case:
    """A log of six transactions, the third of which has a wrong byte in its rows."""

    def __init__(self, folder: Path) -> None:
        log = BinlogBuilder()
        self.starts: list[int] = []
        for number in range(TRANSACTIONS):
            self.starts.append(log.offset)
            log.transaction(insert(ORDERS, (number, "note")))
        log.stop()
        content = bytearray(log.content)
        self.size = len(content)
        self.wrong = self.starts[DAMAGED + 1] - 40
        content[self.wrong] ^= 0xFF
        self.path = folder / "binlog.000001"
        self.path.write_bytes(bytes(content))
        self.next = self.starts[DAMAGED + 1]


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Run a command that must exit with 1; return its records, and its lines on standard error."""
    assert exit_code([*arguments, "--format", "jsonl"]) == 1
    shown = capsys.readouterr()
    return [json.loads(line) for line in shown.out.splitlines()], shown.err.splitlines()


def skipped(lines: list[str]) -> dict[str, Any]:
    [line] = lines
    record: dict[str, Any] = json.loads(line)["skipped"]
    return record


@pytest.mark.parametrize("command", ["rows", "transactions"])
def test_reading_continues_with_the_next_transaction(
    command: str, case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    records, lines = run(capsys, command, str(case.path), "--skip-damaged")
    part = skipped(lines)
    assert (part["file"], part["end"], part["type"]) == (str(case.path), case.next, "WRITE_ROWS")
    assert part["start"] <= case.wrong < part["start"] + part["bytes"] == case.next
    assert part["error"].startswith("checksum mismatch: ")
    if command == "rows":
        assert [record["after"]["id"] for record in records] == [0, 1, 3, 4, 5]
    else:
        assert [record["end"] for record in records] == ["xid", "xid", "interrupted", "xid", "xid", "xid"]


def test_a_person_gets_a_line(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["rows", str(case.path), "--skip-damaged"]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"binspark: {case.path}: skipped ")
    assert f"to {case.next}): checksum mismatch" in message


@pytest.mark.parametrize("command", ["rows", "transactions"])
def test_without_the_option_the_message_names_it(command: str, case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    records, [line] = run(capsys, command, str(case.path))
    assert len(records) in (2, 3)
    assert line.endswith("; use --skip-damaged to continue after it")


def test_an_event_with_a_wrong_checksum_is_shown_and_one_with_a_wrong_size_is_skipped(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    everything, [line] = run(capsys, "events", str(case.path), "--skip-damaged")
    assert [event["checksum"] for event in everything].count("bad") == 1
    assert "checksum mismatch" in line
    wrong = next(event["pos"] for event in everything if event["checksum"] == "bad")
    content = bytearray(case.path.read_bytes())
    content[wrong + 10] ^= 0xFF
    case.path.write_bytes(bytes(content))
    stopped, [line] = run(capsys, "events", str(case.path))
    assert [event["pos"] for event in stopped] == [event["pos"] for event in everything if event["pos"] < wrong]
    assert line.endswith("; use --skip-damaged to continue after it")
    continued, lines = run(capsys, "events", str(case.path), "--skip-damaged")
    assert [event["pos"] for event in continued] == [event["pos"] for event in everything if event["pos"] != wrong]
    assert skipped(lines)["start"] == wrong


def test_an_export_has_all_rows_but_those_of_the_damaged_transaction(
    case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ("export", str(case.path), "-o", str(out))
    _, [line] = run(capsys, *arguments)
    assert line.endswith("; use --skip-damaged to continue after it")
    assert not out.exists()
    [summary], lines = run(capsys, *arguments, "--skip-damaged")
    assert (summary["rows"], skipped(lines)["end"]) == (5, case.next)
    assert pq.read_table(out / "shop.orders")["id"].to_pylist() == [0, 1, 3, 4, 5]


def test_a_sound_log_has_nothing_to_skip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = BinlogBuilder()
    log.transaction(insert(ORDERS, (1, "note")))
    log.stop()
    [path] = log.save(tmp_path)
    for command in ("events", "rows", "transactions"):
        assert exit_code([command, str(path), "--skip-damaged"]) == 0
        assert capsys.readouterr().err == ""


def test_rows_of_5_1_17_are_refused_and_the_rest_of_the_log_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their TABLE_MAP ends after the column types, so that the log does not say how their values are stored."""
    from dataclasses import replace

    items = table("test.t1", integer("a"))
    log = BinlogBuilder(MYSQL_5_1_17)
    log.full_metadata = False
    log.query("BEGIN", "test")
    table_map, rows = log.change_specs((insert(items, (1,)),), PRE_GA)
    log.write([table_map._replace(body=replace(table_map.body, has_type_metadata=False)), rows])
    log.query("COMMIT", "test")
    log.query("DROP TABLE t1", "test")
    [path] = log.save(tmp_path)
    assert exit_code(["events", str(path)]) == 0
    assert exit_code(["stat", str(path)]) == 0
    assert exit_code(["explain", str(path)]) == 0
    assert "row images in the record format of the table" in capsys.readouterr().out
    assert exit_code(["transactions", str(path)]) == 0
    assert "insert test.t1" in capsys.readouterr().out
    records, lines = run(capsys, "rows", str(path), "--skip-damaged")
    assert [(record["table"], record["op"]) for record in records] == [("t1", "truncate")]
    assert "rows of a pre-release of 5.1 are not supported" in skipped(lines)["error"]
    _, lines = run(capsys, "export", str(path), "-o", str(tmp_path / "out"), "--skip-damaged")
    assert "rows of a pre-release of 5.1 are not supported" in skipped(lines)["error"]
