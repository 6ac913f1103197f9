"""Archivers that are killed at any time, again and again, while the server writes."""

from __future__ import annotations

import multiprocessing
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from binspark.archive.archiver import open_archiver
from binspark.testing.servers import Family, Server
from binspark.verify import verify_logs
from tests.support.archive.archiving import (
    archive,
    big_options,
    files_in,
    files_of_server,
    make_table,
    quick,
    wait_until,
)
from tests.support.servers import StartServer, config_of, every_family

pytestmark = pytest.mark.timeout(300)

KILLS = 8
PADS = (5, 500, 50_000) * 4 + (3_000_000,)
PAUSE_SECONDS = 0.05
"""A server that writes without a pause fills a disk: what it logs is copied, compared and verified in the end."""


def copy_for_good(port: int, folder: str) -> None:
    open_archiver(config_of(port), folder, quick(sync_seconds=0.05)).run()


@contextmanager
def busy(server: Server) -> Iterator[None]:
    """Keep a server at work: transactions of all sizes, several rows each, and rotations between them."""
    done = threading.Event()

    def work() -> None:
        choose = random.Random(7)
        with server.connect() as connection, connection.cursor() as cursor:
            while not done.is_set():
                pad = choose.choice(PADS)
                rows = ", ".join([f"(REPEAT('y', {pad}))"] * choose.randint(1, 3))
                cursor.execute(f"INSERT INTO d.t (pad) VALUES {rows}")
                cursor.execute(
                    choose.choice(["DELETE FROM d.t ORDER BY id LIMIT 3", "FLUSH BINARY LOGS", "DO 0", "DO 0"])
                )
                time.sleep(PAUSE_SECONDS)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def has_grown(folder: Path, before: int) -> bool:
    return bytes_in(folder) > before


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.suffix[1:].isdecimal())


@pytest.mark.slow
@every_family
def test_a_copy_that_is_killed_again_and_again_is_the_servers_files(
    family: Family, start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server(family, big_options(family))
    make_table(server)
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload([copy_for_good.__module__])
    moments = random.Random(3)
    with busy(server):
        for _ in range(KILLS):
            before = bytes_in(tmp_path)
            copying = processes.Process(target=copy_for_good, args=(server.port, str(tmp_path)))
            copying.start()
            wait_until(partial(has_grown, tmp_path, before))
            time.sleep(moments.uniform(0, 0.4))
            copying.kill()
            copying.join()
    archive(server, tmp_path)
    assert files_in(tmp_path) == files_of_server(server)
    assert verify_logs(tmp_path).ok


@every_family
def test_a_copy_continues_wherever_it_was_cut(family: Family, start_server: StartServer, tmp_path: Path) -> None:
    """In the magic, in the first event, in a header, in a body, between events."""
    server = start_server(family)
    make_table(server)
    server.query("FLUSH BINARY LOGS")
    for number in range(3):
        server.query(f"INSERT INTO d.t (pad) VALUES ('{number}')")
    archive(server, tmp_path)
    last = tmp_path / server.log_files()[-1].name
    content = last.read_bytes()
    first_event = int.from_bytes(content[13:17], "little")
    for size in (0, 2, 4, 50, 4 + first_event, 300, 301, 310, len(content) - 1, len(content)):
        last.write_bytes(content[:size])
        archive(server, tmp_path)
        assert files_in(tmp_path) == files_of_server(server)
