"""Every command reads recorded encrypted logs of real servers, and what it prints is what their servers sent."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from binspark.cli.main import COMMANDS, exit_code
from binspark.files import ReadOptions, read_events
from tests.corpus.cases import CORPUS, case_logs, log_id, witness

KEYRINGS = {
    "mysql": str(CORPUS / "mysql/encrypted/keyring"),
    "mariadb": str(CORPUS / "mariadb/encrypted/keys.txt"),
}
every_family = pytest.mark.parametrize("family", KEYRINGS)
LOGS = [log for family in KEYRINGS for log in case_logs(f"{family}/encrypted")]
_WITNESSED = re.compile(r"end_log_pos (\d+) CRC32 0x([0-9a-f]{8})")


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    found = exit_code(list(arguments))
    captured = capsys.readouterr()
    assert found == code, captured.err
    return captured.out if code == 0 else captured.err


@pytest.mark.parametrize("log", LOGS, ids=log_id)
def test_events_are_those_that_the_server_sent(log: Path) -> None:
    keyring = KEYRINGS[log.parent.parent.name]
    sent = {(int(position), checksum) for position, checksum in _WITNESSED.findall(witness(log))}
    events = list(read_events(log, ReadOptions(expand_payloads=False), keyring=keyring))
    ours = {(event.end_offset, event.frame.data[: event.frame.body_end - 1 : -1].hex()) for event in events}
    # The server says of a log of MariaDB that it is encrypted; in clear, that event is one to be ignored.
    changed = {event.end_offset for event in events if event.type == "IGNORABLE"}
    positions = {position for position, _ in sent}
    assert {pair for pair in ours if pair[0] in positions - changed} <= sent
    assert positions <= {position for position, _ in ours}
    assert len(positions - changed) >= 3


@every_family
@pytest.mark.parametrize(
    "command",
    ["events", "transactions", "rows", "stat", "explain", "verify"],
)
def test_a_command_reads_encrypted_logs(capsys: pytest.CaptureFixture[str], family: str, command: str) -> None:
    folder = str(CORPUS / family / "encrypted")
    shown = run(capsys, command, folder, "--keyring", KEYRINGS[family], "--format", "jsonl")
    assert shown
    if command == "rows":
        rows = [json.loads(line) for line in shown.splitlines()]
        assert rows[0]["after"] == {"id": 1, "a": "in the first file"}
    if command == "stat":
        assert "shop" in shown
    if command == "verify":
        assert "intact" in shown


@every_family
def test_rows_are_exported(capsys: pytest.CaptureFixture[str], family: str, tmp_path: Path) -> None:
    run(
        capsys, "export", str(CORPUS / family / "encrypted"), "--keyring", KEYRINGS[family], "-o", str(tmp_path / "out")
    )
    assert list((tmp_path / "out").rglob("*.parquet"))


@every_family
def test_a_range_of_positions_is_read(capsys: pytest.CaptureFixture[str], family: str) -> None:
    log = str(CORPUS / family / "encrypted/binlog.000002")
    shown = run(capsys, "events", log, "--keyring", KEYRINGS[family], "--format", "jsonl")
    positions = [json.loads(line)["pos"] for line in shown.splitlines()]
    options = ("--start-position", str(positions[4]), "--stop-position", str(positions[7]))
    part = run(capsys, "events", log, "--keyring", KEYRINGS[family], "--format", "jsonl", *options)
    assert [json.loads(line)["pos"] for line in part.splitlines()] == positions[4:7]


@every_family
def test_an_index_is_read(capsys: pytest.CaptureFixture[str], family: str, tmp_path: Path) -> None:
    shutil.copytree(CORPUS / family / "encrypted", tmp_path / "logs")
    shown = run(capsys, "rows", str(tmp_path / "logs/binlog.index"), "--keyring", KEYRINGS[family], "--format", "jsonl")
    assert len(shown.splitlines()) == 4


@every_family
@pytest.mark.parametrize("command", ["events", "transactions", "rows", "stat", "explain", "export"])
def test_a_command_with_the_wrong_keyring_ends_with_the_reason(
    capsys: pytest.CaptureFixture[str], family: str, command: str, tmp_path: Path
) -> None:
    other = KEYRINGS["mariadb" if family == "mysql" else "mysql"]
    output = ("-o", str(tmp_path / "out")) if command == "export" else ()
    message = run(capsys, command, str(CORPUS / family / "encrypted"), "--keyring", other, *output, code=1)
    assert "binlog.000001" in message
    assert other in message
    assert "Traceback" not in message


@every_family
def test_verify_finds_logs_whose_key_is_wrong(capsys: pytest.CaptureFixture[str], family: str) -> None:
    other = KEYRINGS["mariadb" if family == "mysql" else "mysql"]
    code = exit_code(["verify", str(CORPUS / family / "encrypted"), "--keyring", other, "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    found = [finding["code"] for file in report["files"] for finding in file["findings"]]
    assert (code, found) == (1, ["encrypted"] * 4)


def test_a_missing_keyring_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    message = run(capsys, "rows", str(LOGS[0]), "--keyring", "nowhere.json", code=1)
    assert "nowhere.json: no such file" in message.lower()


def test_a_password_without_a_keyring_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    message = run(capsys, "rows", str(LOGS[0]), "--keyring-password-file", "x", code=2)
    assert message == "binspark: --keyring-password-file is the password of a key file; give keyring too\n"


def test_all_commands_that_read_files_have_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    without = []
    for command in COMMANDS:
        usage = run(capsys, command, "--help")
        if re.search(r"Usage: .*(FILE|LOG|PATH|ARCHIVE)", usage) and "--keyring FILE" not in usage:
            without.append(command)
    assert without == []
