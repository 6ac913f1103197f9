"""Output that cannot be written: a full disk, a closed output, an encoding that lacks a character."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from binspark.testing.builder import BinlogBuilder, insert, integer, table, varchar

COMMAND = [sys.executable, "-m", "binspark"]
NOTES = table("shop.notes", integer("id"), varchar("text", 100))
TEXT = "Žluťoučký kůň, 馬, 🐎"


@pytest.fixture
def log(tmp_path: Path) -> str:
    builder = BinlogBuilder()
    for number in range(200):
        builder.transaction(insert(NOTES, (number, TEXT)), text=f"INSERT INTO notes VALUES ({number}, '{TEXT}')")
    [path] = builder.save(tmp_path)
    return str(path)


def run(*arguments: str, stdout: int, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments], stdout=stdout, stderr=subprocess.PIPE, check=False, env={**os.environ, **environment}
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has /dev/full")
@pytest.mark.parametrize(
    ("command", "form"),
    [
        *(("events", "text"), ("transactions", "jsonl"), ("rows", "text"), ("rows", "jsonl")),
        *(("stat", "text"), ("stat", "jsonl"), ("explain", "text")),
    ],
)
def test_a_full_disk_is_a_message(command: str, form: str, log: str) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        done = run(command, "--format", form, log, stdout=full)
    finally:
        os.close(full)
    assert done.stderr.decode() == "binspark: cannot write the output: No space left on device\n"
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("command", "encoding"),
    [("events", "ascii"), ("transactions", "latin-1"), ("rows", "ascii"), ("rows", "latin-1"), ("explain", "ascii")],
)
def test_characters_that_the_encoding_lacks_are_escaped(command: str, encoding: str, log: str) -> None:
    done = run(command, log, stdout=subprocess.PIPE, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_json_is_valid_in_any_encoding(encoding: str, log: str) -> None:
    done = run("rows", "--format", "jsonl", log, stdout=subprocess.PIPE, PYTHONIOENCODING=encoding)
    texts = {json.loads(line)["after"]["text"] for line in done.stdout.splitlines()}
    assert texts == {TEXT}
    done = run(
        "events", "--type", "ROWS_QUERY", "--format", "jsonl", log, stdout=subprocess.PIPE, PYTHONIOENCODING=encoding
    )
    assert all(TEXT in json.loads(line)["body"]["query"] for line in done.stdout.splitlines())


def test_an_output_that_was_closed_before_is_no_traceback(log: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m binspark rows {log} >&-"], capture_output=True, check=False, env=os.environ
    )
    assert b"Traceback" not in done.stderr
