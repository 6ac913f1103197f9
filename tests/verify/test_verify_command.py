"""`binspark verify`, for people and for scripts."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from binspark.cli import verify
from binspark.cli.main import exit_code
from binspark.cli.verify import verify_command
from binspark.verify import Extent, Summary, verify_logs
from tests.corpus.cases import CORPUS
from tests.support.verify.logs import chain, copy_case, flip

ROTATION = str(CORPUS / "mysql/rotation")
FILE_KEYS = [
    "file",
    "verdict",
    "bytes",
    "sound_bytes",
    "events",
    "transactions",
    "server_version",
    "server_id",
    "checksum",
    "first_time",
    "last_time",
    "gtids_before",
    "gtids",
    "errors",
    "warnings",
    "findings",
    "omitted",
]


def run(*arguments: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(verify_command, [str(argument) for argument in arguments], input=stdin)


def lines_of(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_an_intact_chain_is_a_row_for_each_file_and_a_summary_line() -> None:
    result = run(ROTATION)
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0].split() == re.split(" ", "file verdict events transactions bytes server checksum first last GTIDs")
    assert lines[1].startswith("binlog.000001  intact")
    covered = "from binlog.000001 to binlog.000004:517"
    assert lines[-1] == f"4 files, 36 events: nothing is damaged or missing {covered}"
    assert len(lines) == 6


def test_damage_is_reported_with_advice(tmp_path: Path) -> None:
    folder = copy_case("mysql/rotation", tmp_path)
    flip(folder / "binlog.000002", 300)
    result = run(folder)
    assert result.exit_code == 1
    mismatch = r"checksum mismatch: stored 0x[0-9a-f]{8}, computed 0x[0-9a-f]{8} \(71-byte QUERY event\) \[checksum\]"
    assert re.search(r"binlog\.000002:277 \(QUERY\): " + mismatch, result.stdout)
    assert "Copy the file again." in result.stdout
    assert result.stdout.splitlines()[-1] == "4 files, 36 events: 1 error, 0 warnings"


def test_advice_is_printed_once_for_each_code(tmp_path: Path) -> None:
    folder = copy_case("mysql/rotation", tmp_path)
    flip(folder / "binlog.000001", 300)
    flip(folder / "binlog.000002", 300)
    assert run(folder).stdout.count("The bytes have changed since the server wrote them.") == 1


def test_findings_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    folder = copy_case("mysql/rotation", tmp_path)
    flip(folder / "binlog.000001", 240)
    flip(folder / "binlog.000001", 500)
    assert "and 1 more of [checksum]" in run("--limit", 1, folder).stdout


def test_a_warning_does_not_fail_unless_strict() -> None:
    still_open = CORPUS / "mysql/still-open"
    assert run(still_open).exit_code == 0
    assert run(still_open).stdout.splitlines()[-1] == "2 files, 31 events: no error, 1 warning"
    assert run("--strict", still_open).exit_code == 1


def test_an_encrypted_log_fails_and_the_others_are_verified() -> None:
    result = run("--format", "jsonl", CORPUS / "mysql/encrypted", ROTATION)
    verdicts = [line["verdict"] for line in lines_of(result)[:-1]]
    assert result.exit_code == 1
    assert verdicts == ["not intact"] * 4 + ["intact"] * 4


def test_json_is_one_object() -> None:
    result = run("--format", "json", ROTATION)
    answer = json.loads(result.stdout)
    assert list(answer) == ["files", "summary"]
    assert [list(file) for file in answer["files"]] == [FILE_KEYS] * 4
    assert answer["summary"] == {
        "ok": True,
        "files": 4,
        "events": 36,
        "transactions": 6,
        "bytes": 2557,
        "errors": 0,
        "warnings": 0,
        "extents": [
            {"from": f"{ROTATION}/binlog.000001", "to": f"{ROTATION}/binlog.000004", "end": 517, "gtids_before": ""}
        ],
    }


def test_json_lines_are_an_object_for_each_file_and_the_summary() -> None:
    lines = lines_of(run("--format", "jsonl", ROTATION))
    assert [list(line) for line in lines] == [FILE_KEYS] * 4 + [["summary"]]


def test_a_finding_in_json_has_code_and_position() -> None:
    lines = lines_of(run("--format", "jsonl", CORPUS / "mysql/incident"))
    assert lines[0]["findings"] == [
        {
            "severity": "error",
            "code": "incident",
            "message": "the server lost events: Non-transactional changes were not written to the binlog.",
            "pos": 634,
            "type": "INCIDENT",
        }
    ]


def test_strict_is_part_of_the_json_summary() -> None:
    assert lines_of(run("--format", "jsonl", "--strict", CORPUS / "mysql/crash"))[-1]["summary"]["ok"] is False


def test_standard_input_is_verified_too() -> None:
    content = (CORPUS / "mysql/crash-truncated/binlog.000001").read_bytes()
    result = run("--format", "jsonl", "-", stdin=content)
    assert result.exit_code == 1
    assert lines_of(result)[0]["sound_bytes"] == 55751


@pytest.mark.parametrize(
    "arguments",
    [(), ("nowhere.000001",), ("--format", "xml", ROTATION), ("--limit", "0", ROTATION)],
    ids=["nothing", "no such file", "no such format", "no limit"],
)
def test_wrong_use_is_exit_2(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1].startswith(("Error: ", "binspark: "))


def test_the_main_command_gives_the_same_exit_codes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    paths = chain().save(tmp_path)
    assert exit_code(["verify", str(tmp_path)]) == 0
    paths[1].unlink()
    assert exit_code(["verify", str(tmp_path)]) == 1
    assert exit_code(["verify", str(tmp_path / "nowhere")]) == 2
    assert "binlog.000002 is missing" in capsys.readouterr().out


@pytest.mark.parametrize(("width", "columns"), [(80, 5), (200, 10)])
def test_a_terminal_gets_as_many_columns_as_fit(width: int, columns: int) -> None:
    files = verify_logs(ROTATION).files
    table = verify._table(files, wide=width >= verify.WIDE_TERMINAL)
    output = io.StringIO()
    Console(file=output, width=width, force_terminal=True).print(table)
    assert len(table.columns) == columns
    assert "…" not in output.getvalue()


@pytest.mark.parametrize(
    ("summary", "line"),
    [
        (
            Summary(files=1, events=1, extents=(Extent("a/b.000001", "a/b.000001", 900, ""),)),
            "1 file, 1 event: nothing is damaged or missing from the start of b.000001 to 900",
        ),
        (
            Summary(files=3, events=1204, extents=(Extent("b.000001", "b.000003", 517, "u:1-3"),)),
            "3 files, 1,204 events: nothing is damaged or missing from b.000001 to b.000003:517 "
            "(earlier logs were not given)",
        ),
        (
            Summary(files=3, events=7, extents=(Extent("b.000002", "b.000003", 517, ""), Extent("c", "c", 5, ""))),
            "3 files, 7 events: nothing is damaged or missing from b.000002 to b.000003:517 "
            "(earlier logs were not given), or from the start of c to 5",
        ),
        (Summary(files=3, events=7, warnings=2), "3 files, 7 events: no error, 2 warnings"),
        (Summary(files=3, events=7, errors=2, warnings=1), "3 files, 7 events: 2 errors, 1 warning"),
    ],
)
def test_the_last_line_is_a_summary(summary: Summary, line: str) -> None:
    assert verify.conclusion(summary) == line
