"""`binspark gtid`: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from binspark.cli.gtid import gtid_command

A = "b8ae2fd2-3005-11f0-8be8-0242ac150002"
B = "c8ae2fd2-3005-11f0-8be8-0242ac150002"


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(gtid_command, arguments, input=stdin)


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("union", f"{A}:1-5", f"{A}:3-9", f"{B}:1"), f"{A}:1-9,{B}:1"),
        (("intersect", f"{A}:1-5", f"{A}:3-9"), f"{A}:3-5"),
        (("subtract", f"{A}:1-9:t:1", f"{A}:3", f"{A}:5"), f"{A}:1-2:4:6-9:t:1"),
        (("subtract", f"{A}:1", f"{A}:1"), ""),
        (("count", f"{A}:1-5:t:1"), "6"),
        (("normalize", f" {A.upper()}:3:1:2 ,"), f"{A}:1-3"),
        (("normalize", ""), ""),
        (("next", f"{A}:1-5:7"), f"{A}:6"),
        (("next", f"{A}:2:t:1,{B}:1"), f"{A}:1\n{A}:t:2\n{B}:2"),
        (("union", "0-1-100,1-1-1", "0-2-101"), "0-2-101,1-1-1"),
        (("union", "0-1-100,0-2-101", "0-3-7"), "0-1-100,0-3-7,0-2-101"),
        (("intersect", "0-1-100,1-1-1", "0-2-101"), "0-1-100"),
        (("subtract", "0-1-100,1-1-1", "0-1-99,1-1-1"), "0-1-100"),
        (("count", "0-1-100,1-1-1"), "2"),
        (("normalize", "1-1-1,0-1-100", "0-1-5,0-1-6"), "0-1-100,1-1-1\n0-1-6"),
        (("next", "0-1-100"), "0-1-101"),
        (("normalize", "12345678-1234-1234-1234-123456789012:1"), "12345678-1234-1234-1234-123456789012:1"),
        (("normalize", "12345678-1234-5678"), "12345678-1234-5678"),
        (("union", "", "0-1-1"), "0-1-1"),
    ],
)
def test_an_operation_prints_its_result(arguments: tuple[str, ...], printed: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.output) == (0, printed + "\n")


@pytest.mark.parametrize(
    ("arguments", "printed", "exit_code"),
    [
        (("contains", f"{A}:1-10", f"{A}:1-5"), "true", 0),
        (("contains", f"{A}:1-5", f"{A}:1-10"), "false", 1),
        (("contains", f"{A}:1-5", f"{A}:1", f"{A}:7"), "false", 1),
        (("contains", "0-1-100", "0-2-7"), "true", 0),
        (("contains", f"{A}:1", ""), "true", 0),
        (("equal", f"{A}:1-2", f"{A}:2:1"), "true", 0),
        (("equal", f"{A}:1-2", f"{A}:2"), "false", 1),
        (("equal", "0-1-2,1-1-1", "1-1-1,0-1-2"), "true", 0),
    ],
)
def test_a_question_is_answered_by_text_and_exit_code(arguments: tuple[str, ...], printed: str, exit_code: int) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.output) == (exit_code, printed + "\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Missing argument"),
        (("missing", f"{A}:1"), "missing needs --from SIDE and --to SIDE"),
        (("missing", "--from", f"{A}:1"), "missing needs --from SIDE and --to SIDE"),
        (("missing", "--from", f"{A}:1", "--to", "0-1-1"), "cannot compare GTIDs of MySQL and MariaDB"),
        (("missing", "--from", f"{A}:1-x", "--to", f"{A}:1"), "--from"),
        (("union", f"{A}:1", "--to", f"{A}:1"), "--from and --to are for missing"),
        (("union",), "Missing argument"),
        (("unite", f"{A}:1"), "unite"),
        (("subtract", f"{A}:1"), "at least 2 sets"),
        (("contains", f"{A}:1"), "at least 2 sets"),
        (("union", f"{A}:1", "0-1-1"), "cannot combine GTIDs of MySQL and MariaDB"),
        (("normalize", f"{A}:1-x"), "expected a number up to 9223372036854775806 at offset 39, marked [HERE]"),
        (("normalize", "0-1"), "expected domain-server-sequence at offset 0, marked [HERE]"),
        (("normalize", "nonsense"), "expected a UUID"),
        (("normalize", "@no/such/file"), "No such file"),
        (("union", "-", "-"), "- (standard input) can be given only once"),
        (("next", f"{A}:1-9223372036854775806"), "used up"),
    ],
)
def test_wrong_use_ends_with_two_and_says_why(arguments: tuple[str, ...], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("source", "target", "printed"),
    [
        (f"{A}:1-9", f"{A}:1-9", "nothing is missing: both sides have the same GTIDs"),
        (f"{A}:1-9", f"{A}:1-5:7,{B}:1", f"missing  3 transactions: {A}:6:8-9\nerrant   1 transaction: {B}:1"),
        ("", f"{A}:1", f"errant   1 transaction: {A}:1"),
        ("0-1-100", "0-1-90", "missing  up to 10 transactions: 0-1-91..0-1-100"),
        ("0-1-100", "0-2-100", "nothing is missing: both sides have the same GTIDs"),  # positions of one domain
        ("0-1-100,0-2-95", "0-1-100,0-2-94", "missing  up to 1 transaction: 0-2-95"),
        ("0-1-100", "1-1-7,0-1-100", "errant   up to 7 transactions: 1-1-1..1-1-7"),
        ("", "0-1-1", "errant   up to 1 transaction: 0-1-1"),
    ],
)
def test_missing_prints_what_one_side_lacks(source: str, target: str, printed: str) -> None:
    result = run("missing", "--from", source, "--to", target)
    assert (result.exit_code, result.output) == (0 if "nothing" in printed else 1, printed + "\n")


def test_a_set_comes_from_standard_input_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "executed").write_text(f"{A}:1-5,\n{B}:1\n")
    result = run("subtract", f"@{tmp_path / 'executed'}", "-", stdin=f"{A}:2\n")
    assert result.output == f"{A}:1:3-5,{B}:1\n"
    assert run("normalize", "-", stdin="0-1-7\n").output == "0-1-7\n"


def test_bytes_that_are_not_text_are_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"\xfebin\xff")
    result = run("normalize", f"@{tmp_path / 'log'}")
    assert (result.exit_code, "not UTF-8 text" in result.output) == (2, True)


def test_json_lines_name_their_value() -> None:
    printed = [
        run(*arguments, "--format", "jsonl").output
        for arguments in (
            ("union", f"{A}:1", f"{A}:2"),
            ("contains", f"{A}:1", f"{A}:2"),
            ("equal", f"{A}:1", f"{A}:1"),
            ("count", f"{A}:1-5"),
            ("next", f"{A}:1-5"),
        )
    ]
    assert [json.loads(line) for line in printed] == [
        {"set": f"{A}:1-2"},
        {"contains": False},
        {"equal": True},
        {"count": 5},
        {"gtid": f"{A}:6"},
    ]


def test_missing_refuses_what_it_reads_if_that_is_no_text_of_gtids() -> None:
    result = run("missing", "--from", "-", "--to", f"{A}:1", stdin="binlog\0bytes")
    assert result.exit_code == 2
    assert "--from must be GTIDs if it is read from -, got 'binlog\\x00bytes'; name logs by their path" in result.output
