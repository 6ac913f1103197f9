"""Writing to this machine's disk so that it is there after a crash, and errors that say where."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from binspark.errors import SourceError
from binspark.position import Position


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn what a file system raises into the error that names the path."""
    try:
        yield
    except OSError as error:
        raise SourceError(error.strerror or str(error), Position(file=str(path))) from None


def write_all(file: int, data: bytes | bytearray | memoryview) -> None:
    """Write all of some bytes where a file stands."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file at once: whoever reads it sees the old content or the new, also after a crash."""
    unfinished = path.with_name(f"{path.name}.new")
    with disk_errors(path):
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        sync_folder(path.parent)
