"""Dumps of logs, by binspark and by the server's own tool."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from binspark.cli.dump import dump_command
from binspark.testing.servers import MySQL
from binspark.testing.servers.programs import Programs
from tests.support.event.log_readers import reader_of


def our_dump(logs: Sequence[Path], *options: str) -> bytes:
    """Return what `binspark dump` prints on standard output, in UTC."""
    result = CliRunner().invoke(dump_command, ["--timezone", "UTC", *options, *map(str, logs)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout_bytes


class Mysqlbinlog:
    """Runs mysqlbinlog 9.7. Files of LOAD DATA are written to a directory that is empty before each run."""

    def __init__(self, programs: Programs, folder: Path) -> None:
        self._programs = programs
        self._folder = folder

    def compare(self, logs: Sequence[Path], *options: str) -> None:
        """Assert that binspark prints the same bytes for logs, and leaves the same files of LOAD DATA."""
        local = ("--local-load", f"{self._folder}{os.sep}")
        self._empty()
        theirs = self._programs.run("mysqlbinlog", "--no-defaults", *local, *options, *map(str, logs)).stdout
        their_files = self._files()
        self._empty()
        ours = our_dump(logs, *local, *options)
        assert first_difference(ours, theirs) == ""
        assert self._files() == their_files

    def _empty(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()

    def _files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self._folder.iterdir()}


def first_difference(ours: bytes, theirs: bytes) -> str:
    """Return the first line that differs, empty if all are the same."""
    if ours == theirs:
        return ""
    our_lines, their_lines = ours.split(b"\n"), theirs.split(b"\n")
    pairs = zip(our_lines, their_lines, strict=False)
    shorter = min(len(our_lines), len(their_lines))
    number = next((number for number, (one, other) in enumerate(pairs) if one != other), shorter)
    return f"line {number + 1}: {our_lines[number : number + 1]} instead of {their_lines[number : number + 1]}"


def find_mysqlbinlog(folder: Path) -> Mysqlbinlog:
    """Return the tool; skip the test where it is not version 9.7 or cannot be had."""
    programs = reader_of(MySQL)
    if not programs.version.startswith("9.7."):
        pytest.skip(f"mysqlbinlog is of version {programs.version}, not 9.7")
    return Mysqlbinlog(programs, folder)
