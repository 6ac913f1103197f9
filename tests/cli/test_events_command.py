"""`binspark events`, as a person and as a program would run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from binspark.cli.main import exit_code
from binspark.testing.builder import BinlogBuilder
from tests.corpus.cases import case_logs

LOG = case_logs("mysql/format-row")[0]
COMPRESSED = case_logs("mysql/compressed")[0]


def records(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_event_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["events", "--format", "jsonl", str(LOG)]) == 0
    shown = records(capsys)
    assert shown[0]["type"] == "FORMAT_DESCRIPTION"
    assert [(record["pos"]) for record in shown[1:]] == [record["end_pos"] for record in shown[:-1]]


def test_a_type_is_found_by_its_name_in_any_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["events", "--format", "jsonl", "--type", "previous_gtids", str(LOG)]) == 0
    assert [record["type"] for record in records(capsys)] == ["PREVIOUS_GTIDS"]


def test_a_misspelt_type_is_wrong_use_and_names_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["events", "--type", "QUERRY", str(LOG)]) == 2
    expected = "binspark: --type must be the name of an event type, got 'QUERRY'; did you mean QUERY?\n"
    assert capsys.readouterr().err == expected


def test_events_inside_a_payload_follow_it_and_are_numbered(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["events", "--format", "jsonl", str(COMPRESSED)]) == 0
    shown = records(capsys)
    first = next(index for index, record in enumerate(shown) if record["type"] == "TRANSACTION_PAYLOAD")
    assert [record["inner"] for record in shown[first + 1 : first + 4]] == [0, 1, 2]
    assert shown[first + 1]["end_pos"] == shown[first]["end_pos"]


def test_a_payload_can_be_left_closed(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["events", "--format", "jsonl", "--no-expand-payloads", str(COMPRESSED)]) == 0
    assert not [record for record in records(capsys) if "inner" in record]


def test_positions_bound_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    bounds = ["--start-position", "127", "--stop-position", "240"]
    assert exit_code(["events", "--format", "jsonl", *bounds, str(LOG)]) == 0
    shown = records(capsys)
    assert shown[0]["pos"] == 127
    assert max(int(str(record["pos"])) for record in shown) < 240


def test_damage_is_reported_and_what_follows_is_still_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray(LOG.read_bytes())
    data[300] ^= 0xFF
    damaged = tmp_path / "binlog.000001"
    damaged.write_bytes(data)
    assert exit_code(["events", "--format", "jsonl", str(damaged)]) == 1
    captured = capsys.readouterr()
    shown = [json.loads(line) for line in captured.out.splitlines()]
    assert [record["checksum"] for record in shown].count("bad") == 1
    assert f"{damaged}:" in captured.err
    assert shown[-1]["end_pos"] == len(data)


def test_a_truncated_log_shows_its_complete_events_and_where_it_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "binlog.000001"
    cut.write_bytes(LOG.read_bytes()[:200])
    assert exit_code(["events", str(cut)]) == 1
    assert ":158 (" in capsys.readouterr().err


def test_a_missing_file_is_an_error_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["events", "no-such-log"]) == 1
    assert capsys.readouterr().err == "binspark: no-such-log: no such file\n"


def test_no_file_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["events"]) == 2
    assert "FILE" in capsys.readouterr().err


def test_a_misspelt_command_is_wrong_use_and_names_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["evnts"]) == 2
    assert "no such command: evnts; did you mean events?" in capsys.readouterr().err


def test_standard_input_is_a_log() -> None:
    command = [sys.executable, "-m", "binspark", "events", "-"]
    with LOG.open("rb") as log:
        result = subprocess.run(command, stdin=log, capture_output=True, text=True, check=True)
    heading, first, *_ = result.stdout.splitlines()
    assert heading.split() == ["position", "end_log_pos", "type", "size", "time", "contents"]
    assert "FORMAT_DESCRIPTION" in first
    assert result.stderr == ""


def test_lines_have_their_file_if_there_are_several(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["events", str(LOG), str(COMPRESSED)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith(f"{LOG.name}:4 ")
    assert sum(line.startswith("position") for line in lines) == 1


def test_artificial_events_are_marked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = BinlogBuilder(relay=True)
    log.artificial_rotate("binlog.000007")
    [path] = log.save(tmp_path)
    assert exit_code(["events", str(path)]) == 0
    [rotate] = [line for line in capsys.readouterr().out.splitlines() if "ROTATE" in line]
    assert rotate.endswith("binlog.000007:4  [artificial]")


def test_lines_fit_the_terminal(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.ddl("CREATE TABLE t (" + ", ".join(f"column_{number} INT" for number in range(50)) + ")", schema="shop")
    [path] = log.save(tmp_path)
    command = f"{sys.executable} -m binspark events {path}"
    script = f"import pty, os; os.environ['COLUMNS'] = '70'; pty.spawn({command.split()!r})"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    lines = shown.replace("\r", "").splitlines()
    assert max(map(len, lines)) == 70
    assert lines[-1].endswith("…")
