"""The progress bar: on a terminal, on standard error, for every command that reads logs; nothing elsewhere."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import IO, NamedTuple

import pytest

from binspark.cli import progress
from binspark.cli.main import COMMANDS
from binspark.testing.builder import BinlogBuilder, insert, integer, table, varchar
from binspark.testing.servers import Server
from tests.support.restored import options_of
from tests.support.terminal import terminal_output

PROGRAM = """
import json, sys
from binspark.cli import progress
from binspark.cli.main import exit_code
from binspark.kernels import cache
cache.enable()
progress.AFTER_SECONDS = float(sys.argv[1])
for line in sys.argv[2:]:
    code = exit_code(json.loads(line))
    sys.stderr.flush()
    print(f"<exit code {code}>", file=sys.stderr, flush=True)
"""

READING = {
    "events": ["{log}"],
    "transactions": ["{log}"],
    "rows": ["{log}"],
    "sql": ["{log}"],
    "dump": ["{log}"],
    "explain": ["{log}", "--type", "gtid"],
    "verify": ["{log}"],
    "gtid": ["missing", "--from", "{log}", "--to", "{log}"],
    "diff": ["{log}", "{log}"],
    "restore": ["{log}"],
    "stat": ["{log}"],
    "report": ["{log}", "-o", "{folder}/page.html"],
    "cut": ["{log}", "-o", "{folder}/cut.000001"],
    "export": ["{log}", "-o", "{folder}/exported"],
}
"""Commands that read logs, and how to try them."""

NOT_READING = {
    "archive": "copies from a server, see below",
    "tail": "has no end",
    "serve": "has no end",
    "explore": "has no end",
    "mirror": "shows a table of its own",
    "doctor": "reads no log",
    "status": "reads no log",
    "demo": "prints what it does",
}


class Shown(NamedTuple):
    """What one command has written: on the terminal, without its commands; its exit code."""

    text: str
    code: int


def run(commands: list[list[str]], output: IO[bytes] | None = None, after_seconds: float = 0) -> list[Shown]:
    """Run commands in one process, with standard error on a terminal, and standard output too unless it is given."""
    main, terminal = pty.openpty()
    words = [sys.executable, "-c", PROGRAM, str(after_seconds), *map(json.dumps, commands)]
    environment = {"TERM": "xterm", **os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=output or terminal, stderr=terminal, env=environment
    )
    os.close(terminal)
    text = b"".join(terminal_output(main)).decode()
    assert process.wait() == 0
    parts = re.split(r"<exit code (\d+)>", text)
    return [Shown(shown, int(code)) for shown, code in zip(parts[::2], parts[1::2], strict=False)]


def on_screen(text: str) -> list[str]:
    """Return the lines that remain on a terminal, which obeys carriage returns and erases the rest of a line."""
    lines, column = [""], 0
    for part in re.findall(r"\x1b\[[0-9;]*[a-zA-Z]|[\r\n]|[^\x1b\r\n]+", text):
        if part == "\n":
            lines.append("")
        elif part == "\r":
            column = 0
        elif part == "\x1b[K":
            lines[-1] = lines[-1][:column]
        elif not part.startswith("\x1b"):
            lines[-1] = lines[-1][:column] + part + lines[-1][column + len(part) :]
            column += len(part)
    return [line for line in lines if line.strip()]


def frames(text: str) -> list[str]:
    """Return all states of the bar."""
    return re.findall(r"\r([a-z]+ [^\r\n\x1b]+)\x1b\[K", text)


def titles(text: str) -> list[str]:
    """Return the titles of the bar, in their order."""
    return list(dict.fromkeys(frame.split()[0] for frame in frames(text)))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> str:
    builder = BinlogBuilder()
    items = table("shop.items", integer("id"), varchar("name", 400))
    for number in range(50):
        builder.transaction(insert(items, (number, "x" * 300)))
    return str(builder.save(tmp_path_factory.mktemp("progress"))[0])


def test_every_command_is_known_here() -> None:
    assert READING.keys() | NOT_READING.keys() == COMMANDS.keys()


def test_what_commands_print_erases_the_bar_first() -> None:
    """Only modules that print nothing while logs are read print by themselves."""
    folder = Path(progress.__file__).parent
    printing = {path.stem for path in folder.glob("*.py") if re.search(r"click\.s?echo|Console\(", path.read_text())}
    assert printing <= {"output", "progress", "main", "explain", "doctor", "demo", "mirror_output"}


def test_every_command_that_reads_logs_shows_how_far_it_is(log: str, tmp_path: Path) -> None:
    commands = [[name, *words_of(name, log, tmp_path)] for name in READING]
    with open(tmp_path / "output", "wb") as output:
        shown = dict(zip(READING, run(commands, output), strict=True))
    assert {name: found.text for name, found in shown.items() if found.code} == {}
    size = os.path.getsize(log) / 1000
    totals = [f"/{passes * size:.1f} kB" for passes in (1, 2, 4)]
    for name, found in shown.items():
        reading = [frame for frame in frames(found.text) if frame.startswith("reading ")]
        assert reading, name
        assert any(total in reading[-1] for total in totals), (name, reading)
        assert ("drawing" in titles(found.text)) == (name == "report")
        left = [line for line in on_screen(found.text) if not line.startswith("wrote ")]
        assert left == [], name


def words_of(name: str, log: str, folder: Path) -> list[str]:
    return [word.format(log=log, folder=folder) for word in READING[name]]


def test_the_undo_script_has_a_bar_of_its_own(log: str, tmp_path: Path) -> None:
    with open(tmp_path / "undo.sql", "wb") as output:
        (shown,) = run([["sql", "--undo", log]], output)
    assert titles(shown.text) == ["reading", "writing"]


def test_a_bar_and_lines_on_the_same_terminal_do_not_mix(log: str) -> None:
    with_bar, without = run([["rows", log]])[0], run([["rows", log]], after_seconds=3600)[0]
    assert frames(with_bar.text) != []
    assert frames(without.text) == []
    assert on_screen(with_bar.text) == on_screen(without.text)
    assert len(on_screen(with_bar.text)) > 50


def test_a_table_on_the_same_terminal_is_not_disturbed(log: str) -> None:
    commands = [["stat", log], ["verify", log]]
    with_bar, without = run(commands), run(commands, after_seconds=3600)
    assert [on_screen(shown.text) for shown in with_bar] == [on_screen(shown.text) for shown in without]


def test_an_error_stays_on_the_screen(log: str, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.000001"
    content = bytearray(Path(log).read_bytes())
    content[len(content) // 2] ^= 0xFF
    damaged.write_bytes(content)
    with open(tmp_path / "output", "wb") as output:
        (shown,) = run([["rows", str(damaged)]], output)
    (line, *_) = on_screen(shown.text)
    assert shown.code == 1
    assert line.startswith("binspark: ")


def test_a_pipe_gets_no_bar(log: str) -> None:
    words = [sys.executable, "-c", PROGRAM, "0", json.dumps(["stat", log])]
    process = subprocess.run(words, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    assert process.stderr.decode() == "<exit code 0>\n"


def test_a_terminal_that_cannot_erase_gets_no_bar(log: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with open(tmp_path / "output", "wb") as output:
        (shown,) = run([["stat", log]], output)
    assert shown.text == ""


def test_it_comes_by_itself_when_a_command_takes_long(log: str, tmp_path: Path) -> None:
    """The log comes from a pipe, of which the second half is written only when the bar was seen."""
    main, terminal = pty.openpty()
    content = Path(log).read_bytes()
    with open(tmp_path / "output", "wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "binspark", "transactions", "-"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=terminal,
            env=os.environ | {"TERM": "xterm"},
        )
        os.close(terminal)
        assert process.stdin is not None
        process.stdin.write(content[: len(content) // 2])
        process.stdin.flush()
        seen, chunks = b"", terminal_output(main)
        while b"reading" not in seen:
            seen += next(chunks)
        process.stdin.write(content[len(content) // 2 :])
        process.stdin.close()
        seen += b"".join(chunks)
    assert process.wait() == 0
    assert seen.endswith(b"\r\x1b[K")
    assert (tmp_path / "output").read_bytes().count(b"insert shop.items") == 50


@pytest.mark.mysql
def test_a_server_is_read_copied_and_restored_with_a_bar(mysql: Server, tmp_path: Path) -> None:
    mysql.query("FLUSH BINARY LOGS")
    before, server = position(mysql), options_of(mysql)
    mysql.run_sql("CREATE DATABASE progress; CREATE TABLE progress.t (id INT); INSERT INTO progress.t VALUES (1), (2)")
    part = ["--start", before, "--until", position(mysql)]
    commands = [[name, *server, *part] for name in ("rows", "events", "transactions", "stat")]
    copy = str(tmp_path / "copy")
    copying = ["archive", *server, "-o", copy, "--start", before.split(":")[0], "--until", "end"]
    with open(tmp_path / "output", "wb") as output:
        *reading, archived, restored = run([*commands, copying, ["restore", copy, *server, "--apply"]], output)
    for shown in reading:
        assert shown.code == 0, shown.text
        assert re.search(r"reading ━+ (\d+)/\1 bytes", frames(shown.text)[-1]), frames(shown.text)
    assert archived.code == 0, archived.text
    assert re.search(r"copying .*/[\d.,]+ ", frames(archived.text)[0])
    assert on_screen(archived.text)[-1].endswith("/s")
    assert restored.code == 0, restored.text
    assert titles(restored.text) == ["reading", "applying"]
    assert on_screen(restored.text)[-1].endswith("the recovery is complete")


def position(server: Server) -> str:
    file, offset, *_ = server.query("SHOW BINARY LOG STATUS")[0]
    return f"{file}:{offset}"
