"""Copies of a server's logs, for tests of what copying needs of a stream."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from binspark.archive.archiver import Archiver, open_archiver
from binspark.archive.settings import ArchiveSettings
from binspark.testing.servers import Server
from tests.support.replication.following import QUICK_RETRY, in_background, quick_stream
from tests.support.servers import config_of

MAX_WAIT = 60


def archiver_of(server: Server, folder: Path, *, until_end: bool = False) -> Archiver:
    settings = ArchiveSettings(
        until_end=until_end, stream=quick_stream(), retry=QUICK_RETRY, sync_seconds=0.1, progress_seconds=0
    )
    return open_archiver(config_of(server.port), folder, settings)


def copy_now(server: Server, folder: Path) -> dict[str, bytes]:
    """Copy what is there now, or continue with that; return the files of the copy."""
    archiver_of(server, folder, until_end=True).run()
    return copied_files(folder)


def copied_files(folder: Path) -> dict[str, bytes]:
    """Read the logs of a copy as they are when they are closed: without the flag of use."""
    contents = {path.name: bytearray(path.read_bytes()) for path in folder.glob("binlog.0*")}
    for content in contents.values():
        content[4 + 17] &= 0xFE
    return {name: bytes(content) for name, content in contents.items()}


@contextmanager
def copying(server: Server, folder: Path) -> Iterator[None]:
    """Copy in the background; a failure is the test's failure."""
    archiver = archiver_of(server, folder)
    with in_background(archiver.run):
        try:
            yield
        finally:
            archiver.stop()


def wait_for_size(path: Path, size: int) -> None:
    """Wait until a copy has come this far."""
    deadline = time.monotonic() + MAX_WAIT
    while not path.exists() or path.stat().st_size < size:
        assert time.monotonic() < deadline, f"{path.name} does not grow to {size} bytes"
        time.sleep(0.02)


def write_cut(folder: Path, files: dict[str, bytes], file: str, offset: int) -> None:
    """Write a copy that was interrupted in a file."""
    folder.mkdir()
    for name, content in files.items():
        if name < file:
            (folder / name).write_bytes(content)
    (folder / file).write_bytes(files[file][:offset])
