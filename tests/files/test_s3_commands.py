"""Commands on logs in S3, which is configured through the environment as for Amazon's own tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from binspark.cli.main import exit_code
from binspark.testing.builder import BinlogBuilder, insert, integer, table
from tests.corpus.cases import case_logs
from tests.support.files.s3_store import Bucket

ITEMS = table("shop.items", integer("id"))


@pytest.fixture
def chain(bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """A bucket with two logs that follow each other, and their index."""
    for name, value in bucket.environment.items():
        monkeypatch.setenv(name, value)
    builder = BinlogBuilder()
    builder.transaction(insert(ITEMS, (1,), (2,)))
    builder.rotate()
    builder.transaction(insert(ITEMS, (3,)))
    builder.stop()
    (tmp_path / "local").mkdir()
    paths = builder.save(tmp_path / "local")
    for path in paths:
        bucket.put(f"logs/{path.name}", path.read_bytes())
    bucket.put("logs/binlog.index", "".join(f"/var/lib/mysql/{path.name}\n" for path in paths).encode())
    return bucket


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert exit_code(list(arguments)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", ["events", "transactions", "rows", "stat", "explain"])
@pytest.mark.parametrize("path", ["logs", "logs/binlog.0*", "logs/binlog.index"])
def test_a_command_prints_the_same_as_for_local_logs(
    capsys: pytest.CaptureFixture[str], chain: Bucket, tmp_path: Path, command: str, path: str
) -> None:
    local = output(capsys, command, str(tmp_path / "local"), "--format", "jsonl")
    remote = output(capsys, command, chain.uri(path), "--format", "jsonl")
    assert remote.replace(chain.uri("logs"), str(tmp_path / "local")) == local


@pytest.mark.parametrize("path", ["logs", "logs/", "logs/binlog.*", "logs/binlog.index"])
def test_a_chain_is_verified(capsys: pytest.CaptureFixture[str], chain: Bucket, path: str) -> None:
    report = json.loads(output(capsys, "verify", chain.uri(path), "--format", "json"))
    assert [file["file"] for file in report["files"]] == [chain.uri(f"logs/binlog.00000{n}") for n in (1, 2)]
    assert [file["verdict"] for file in report["files"]] == ["intact", "intact"]


def test_a_damaged_log_is_found_among_the_others(capsys: pytest.CaptureFixture[str], chain: Bucket) -> None:
    chain.put("logs/binlog.000003", b"\0" * 200)
    assert exit_code(["verify", chain.uri("logs"), "--format", "json"]) == 1
    last = json.loads(capsys.readouterr().out)["files"][-1]
    assert (last["file"], last["bytes"]) == (chain.uri("logs/binlog.000003"), 200)


def test_a_missing_log_that_an_index_lists_is_reported(capsys: pytest.CaptureFixture[str], chain: Bucket) -> None:
    chain.files().delete_file(f"{chain.name}/logs/binlog.000002")
    assert exit_code(["verify", chain.uri("logs/binlog.index"), "--format", "json"]) == 1
    last = json.loads(capsys.readouterr().out)["files"][-1]
    assert [finding["code"] for finding in last["findings"]] == ["missing-file"]


def test_rows_are_exported(capsys: pytest.CaptureFixture[str], chain: Bucket, tmp_path: Path) -> None:
    import pyarrow.parquet

    output(capsys, "export", chain.uri("logs"), "-o", str(tmp_path / "out"))
    files = sorted((tmp_path / "out").rglob("*.parquet"))
    assert [row["id"] for file in files for row in pyarrow.parquet.read_table(file).to_pylist()] == [1, 2, 3]


def test_an_error_of_the_store_is_one_line(capsys: pytest.CaptureFixture[str], chain: Bucket) -> None:
    assert exit_code(["events", "s3://no-such-bucket/logs"]) == 1
    assert (
        "binspark: s3://no-such-bucket/logs: no such file: there is no s3://no-such-bucket\n" in capsys.readouterr().err
    )


@pytest.mark.parametrize("arguments", [("events",), ("verify",)])
def test_a_command_ends_cleanly(chain: Bucket, arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-W", "error", "-m", "binspark", *arguments, chain.uri("logs")]
    result = subprocess.run(command, capture_output=True, env=dict(os.environ), check=False)
    assert (result.returncode, result.stderr) == (0, b"")


def test_a_program_that_leaves_a_log_open_ends_cleanly(chain: Bucket) -> None:
    script = f"import binspark; events = binspark.events({chain.uri('logs')!r}); print(next(events).type)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, env=dict(os.environ), check=False)
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.parametrize("family", ["mysql", "mariadb"])
def test_encrypted_logs_in_s3_are_read_with_a_keyring_in_s3(
    capsys: pytest.CaptureFixture[str], bucket: Bucket, monkeypatch: pytest.MonkeyPatch, family: str
) -> None:
    for name, value in bucket.environment.items():
        monkeypatch.setenv(name, value)
    logs, keyring = case_logs(f"{family}/encrypted"), "keyring" if family == "mysql" else "keys.txt"
    for path in logs:
        bucket.put(f"logs/{path.name}", path.read_bytes())
    bucket.put("keys", (logs[0].parent / keyring).read_bytes())
    shown = output(capsys, "rows", bucket.uri("logs"), "--keyring", bucket.uri("keys"), "--format", "jsonl")
    assert len(shown.splitlines()) == 4
    assert "intact" in output(capsys, "verify", bucket.uri("logs"), "--keyring", bucket.uri("keys"))
