"""No log keeps a kernel for ever, and no command is deaf to SIGINT while kernels read a log for it."""

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

ITEMS = table("shop.items", integer("id"), varchar("name", 200))
IN_PROGRESS_BYTES = 4 << 20
INTERRUPTED = 130
COMMANDS = [
    ["events", "-"],
    ["transactions", "-"],
    ["rows", "-"],
    ["stat", "-"],
    ["cut", "--tables", "shop.*", "-o", "new", "-"],
    ["export", "-o", "exported", "-"],
]


@pytest.mark.parametrize(
    "numbers", [(0, 4), pytest.param((4, 150), marks=pytest.mark.slow)], ids=lambda numbers: f"{numbers[0]}"
)
def test_every_hostile_log_is_read_or_refused_in_bounded_time(numbers: tuple[int, int], tmp_path: Path) -> None:
    """The program ends by SIGPROF if a log takes too much processor time. Its number is in the file `current`."""
    words = [sys.executable, "-m", "tests.support.kernels.hostile", str(tmp_path), *map(str, numbers)]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr, (tmp_path / "current").read_text()) == (0, "", str(numbers[1] - 1))


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


SERVERS = {
    MYSQL_9_7: [*COMMANDS, ["dump", "-v", "-"]],
    MARIADB_10_11: [*COMMANDS, ["dump", "-v", "--skip-gtid-strict-mode", "-"]],
}


@pytest.mark.parametrize(
    ("command", "server"),
    [(command, server) for server, commands in SERVERS.items() for command in commands],
    ids=lambda value: value[0] if isinstance(value, list) else value.server_version,
)
def test_a_command_ends_by_sigint_although_its_log_never_ends(
    command: list[str], server: ServerKind, tmp_path: Path
) -> None:
    words = [sys.executable, "-m", "binspark", *command]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, cwd=tmp_path, **streams) as process:  # type: ignore[call-overload]
        in_progress = Event()
        writer = Thread(target=feed, args=(process.stdin, server, in_progress), daemon=True)
        writer.start()
        in_progress.wait()
        process.send_signal(signal.SIGINT)
        assert process.wait() == INTERRUPTED
        writer.join()
