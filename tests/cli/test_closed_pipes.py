"""Commands whose output nobody reads to its end, as under `| head -1`: they leave quietly, as other programs do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest

from binspark.cli.demo import SHOP

COMMAND = (sys.executable, "-m", "binspark")
LOGS = str(SHOP / "mysql")
COPIES = 8
NO_LOG = str(SHOP / "mysql" / "no-such-log")
SHELL_SHOWS_SIGPIPE = 141


@pytest.mark.parametrize("command", ["rows", "events", "transactions"])
@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_a_reader_of_one_line_ends_a_listing(command: str, form: str, tmp_path: Path) -> None:
    logs = [str(copytree(LOGS, tmp_path / str(number))) for number in range(COPIES)]
    arguments = [*COMMAND, command, "--format", form, *logs]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == ("", SHELL_SHOWS_SIGPIPE)


@pytest.mark.parametrize(
    "arguments",
    [["stat", LOGS], ["stat", "--format", "jsonl", LOGS], ["--help"], ["rows", "--help"], ["--version"]],
    ids=" ".join,
)
def test_short_output_that_nobody_reads_is_no_failure(arguments: list[str]) -> None:
    unread = closed_pipe()
    result = subprocess.run([*COMMAND, *arguments], stdout=unread, stderr=subprocess.PIPE, text=True, check=False)
    os.close(unread)
    assert (result.stderr, result.returncode) == ("", SHELL_SHOWS_SIGPIPE)


@pytest.mark.parametrize("arguments", [["rows", NO_LOG], ["rows"]], ids=["no log", "wrong use"])
def test_messages_that_nobody_reads_are_no_failure(arguments: list[str]) -> None:
    unread = closed_pipe()
    result = subprocess.run([*COMMAND, *arguments], stdout=unread, stderr=unread, check=False)
    os.close(unread)
    assert result.returncode == SHELL_SHOWS_SIGPIPE


def closed_pipe() -> int:
    """Return an end to write to of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing
