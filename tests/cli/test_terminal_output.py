"""Control characters from logs: escaped on a terminal, in one way over all commands; the same bytes in a pipe."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from binspark.cli.output import escaped, one_line
from binspark.testing.builder import BinlogBuilder, insert, integer, table, varchar
from tests.support.terminal import terminal_output

EVIL = "a\x1b[2Ja\x9b2Jb\x7f\u202ec"  # a command of terminals, a delete, and a mark that turns text around
NAME = "sh\x1b]0;evil\x07op"
RAW = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\u202e]|\x1b(?![\\[])")
COMMANDS = (["rows"], ["events"], ["transactions"], ["stat"], ["verify"], ["explain"], ["rows", "--format", "jsonl"])


@pytest.fixture
def log(tmp_path: Path) -> str:
    builder = BinlogBuilder()
    builder.ddl(f"CREATE TABLE shop.other (id INT) COMMENT '{EVIL}'")
    builder.transaction(insert(table(f"{NAME}.t", integer("id"), varchar("x\x1b[2Jy", 40)), (1, EVIL)))
    return str(builder.save(tmp_path)[0])


def in_pipe(*arguments: str) -> str:
    command = [sys.executable, "-m", "binspark", *arguments]
    return subprocess.run(command, capture_output=True, check=False).stdout.decode()


def on_terminal(*arguments: str) -> str:
    """Run a command on a pseudo-terminal; return what the terminal gets."""
    main, terminal = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "200"}
    command = [sys.executable, "-m", "binspark", *arguments]
    process = subprocess.Popen(command, stdout=terminal, stderr=terminal, stdin=subprocess.DEVNULL, env=environment)
    os.close(terminal)
    shown = b"".join(terminal_output(main))
    process.wait()
    return shown.decode()


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_terminal_gets_no_control_characters_of_a_log(log: str, command: list[str]) -> None:
    shown = on_terminal(*command, log)
    assert shown
    assert RAW.search(shown.replace("\r\n", "\n")) is None
    assert "\x1b[2J" not in shown


def test_they_are_escaped_in_one_way(log: str) -> None:
    assert "a\\x9b2Jb\\x7f\\u202ec" in on_terminal("rows", log)
    assert "a\\x9b2Jb\\x7f\\u202ec" in on_terminal("events", log)
    assert "\\x1b]0;evil\\x07" in on_terminal("transactions", log)


def test_a_pipe_gets_them_as_they_are(log: str) -> None:
    as_json = json.dumps(EVIL, ensure_ascii=False)
    assert as_json in in_pipe("rows", log)
    assert as_json in in_pipe("rows", "--format", "jsonl", log)
    assert NAME in in_pipe("rows", log)
    assert NAME in in_pipe("transactions", log)
    assert EVIL in in_pipe("events", log)


def test_long_values_are_cut_off_on_a_terminal_alone(tmp_path: Path) -> None:
    builder = BinlogBuilder()
    builder.transaction(insert(table("shop.t", integer("id"), varchar("x", 400)), (1, "x" * 300)))
    log = str(builder.save(tmp_path)[0])
    assert f'x="{"x" * 58}…' in on_terminal("rows", log)
    assert f'x="{"x" * 300}"' in in_pipe("rows", log)


def test_an_error_is_escaped_on_a_terminal(tmp_path: Path) -> None:
    assert "\\x9b2J" in on_terminal("rows", str(tmp_path / "no\x9b2J"))


def test_newlines_and_tabs_are_layout() -> None:
    assert escaped("a\n\tb\rc") == "a\n\tb\\x0dc"
    assert one_line("SELECT\r\n  1\x1b", 80) == "SELECT 1\x1b"
