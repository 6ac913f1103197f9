"""No input keeps a kernel for ever, and no command is deaf to SIGINT while kernels read a log for it."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import BinaryIO

import pytest

from binspark.frames import ChecksumAlgorithm, Framer
from binspark.testing.builder import (
    MARIADB_10_11,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    insert,
    integer,
    table,
    varchar,
)
from tests.support.kernels.doors import kernel_doors

ITEMS = table("shop.items", integer("id"), varchar("name", 200))
IN_PROGRESS_BYTES = 4 << 20
INTERRUPTED = 130
CPU_SECONDS = 20
COMMANDS = [
    ["events", "-"],
    ["transactions", "-"],
    ["rows", "-"],
    ["stat", "-"],
    ["cut", "--tables", "shop.*", "-o", "new", "-"],
    ["export", "-o", "exported", "-"],
]


READERS = {
    "cut.transactions": "commands",
    "digests": "documents",
    "event_filter": "commands",
    "event_list": "commands",
    "mariadb_binlog.events": "commands",
    "mysqlbinlog.events": "commands",
    "mysqlbinlog.inner": "commands",
    "objects.json_lines": "commands",
    "objects.order": "commands",
    "objects.rows": "documents",
    "objects.text_lines": "commands",
    "pack": "archive",
    "packets": "packets",
    "parallelism": "commands",
    "result_rows": "results",
    "row_counts": "commands",
    "scan": "commands",
    "sequence": "commands",
    "sessions": "commands",
    "sound.transactions": "commands",
    "sql.documents": "commands",
    "sql.literals": "commands",
    "sql.statements": "commands",
    "sql.transactions": "commands",
    "starts": "archive",
    "statements": "commands",
    "table_maps": "commands",
    "transaction_list": "commands",
    "variant.document": "documents",
    "variant.keys": "documents",
    "variant.numbers": "documents",
    "variant.rows": "documents",
    "variant.strings": "documents",
    "walk": "archive",
}
"""Which hostile input each module of kernels gets whose functions Python calls or hands over."""


def doors_by_module() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for door in kernel_doors():
        found.setdefault(door.removeprefix("binspark.kernels.").rpartition(".")[0], set()).add(door)
    return found


def run_hostile(folder: Path, kind: str, numbers: tuple[int, int], seconds: float) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "tests.support.kernels.hostile", str(folder), kind, *map(str, numbers), str(seconds)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_every_kernel_that_python_calls_gets_hostile_input() -> None:
    """A new module of kernels needs a line in READERS, and a reader in `tests.support.kernels` that reaches it."""
    assert set(doors_by_module()) == set(READERS)


@pytest.mark.parametrize("numbers", [(0, 4), pytest.param((4, 150), marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("kind", sorted(set(READERS.values())))
def test_hostile_input_is_read_or_refused_in_bounded_time(kind: str, numbers: tuple[int, int], tmp_path: Path) -> None:
    """The program ends by SIGPROF if one input takes too much processor time."""
    ended = run_hostile(tmp_path, kind, numbers, CPU_SECONDS)
    current = (tmp_path / "current").read_text()
    assert (ended.returncode, ended.stderr, current) == (0, "", f"{kind} {numbers[1] - 1}")
    called = set((tmp_path / "doors").read_text().splitlines())
    expected = {door for module, doors in doors_by_module().items() if READERS[module] == kind for door in doors}
    assert expected - called == set()


def test_a_kernel_that_never_ends_is_ended_and_named(tmp_path: Path) -> None:
    ended = run_hostile(tmp_path, "endless", (7, 8), 0.5)
    assert ended.returncode == -signal.SIGPROF
    assert (tmp_path / "current").read_text() == "endless 7"
    assert (tmp_path / "doors").read_text().splitlines()[-1] == "__main__.spin"


def endless_log(server: ServerKind) -> tuple[bytes, bytes]:
    """Return the beginning of a log, and transactions that may follow any number of times."""
    builder = BinlogBuilder(server, checksum=ChecksumAlgorithm.NONE)
    start = len(builder.content)
    for number in range(500):
        builder.transaction(
            insert(ITEMS, *((number, "x" * 150) for _ in range(10))),
            gtid="0-1-1" * (server is MARIADB_10_11) or "anonymous",
        )
    content = bytearray(builder.content)
    offsets = [frame.offset for frame in Framer().feed(bytes(content)) if frame.offset >= start]
    for offset in offsets:
        content[offset + 13 : offset + 17] = bytes(4)  # without a position they fit anywhere
    return bytes(content[:start]), bytes(content[start:])


def feed(pipe: BinaryIO, server: ServerKind, in_progress: Event) -> None:
    """Write an endless log into a pipe until its reader is gone."""
    head, transactions = endless_log(server)
    with suppress(BrokenPipeError):
        pipe.write(head)
        for written in range(sys.maxsize):
            pipe.write(transactions)
            if written * len(transactions) > IN_PROGRESS_BYTES:
                in_progress.set()
    in_progress.set()  # the reader is gone
    with suppress(BrokenPipeError):
        pipe.close()


def hear_sigint() -> None:
    """Let a process hear SIGINT, also if these tests were started in the background and ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


SERVERS = {
    MYSQL_9_7: [*COMMANDS, ["dump", "-v", "-"]],
    MARIADB_10_11: [*COMMANDS, ["dump", "-v", "--skip-gtid-strict-mode", "-"]],
}


@pytest.mark.parametrize(
    ("command", "server"),
    [(command, server) for server, commands in SERVERS.items() for command in commands],
    ids=lambda value: value[0] if isinstance(value, list) else value.server_version,
)
@pytest.mark.timeout(300)
def test_a_command_ends_by_sigint_although_its_log_never_ends(
    command: list[str], server: ServerKind, tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "binspark", *command]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, cwd=tmp_path, preexec_fn=hear_sigint, **streams) as process:  # type: ignore[call-overload]
        in_progress = Event()
        writer = Thread(target=feed, args=(process.stdin, server, in_progress), daemon=True)
        writer.start()
        in_progress.wait()
        process.send_signal(signal.SIGINT)
        assert process.wait() == INTERRUPTED
        writer.join()
