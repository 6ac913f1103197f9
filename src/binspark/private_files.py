"""How files with data of others are created: for this user and its group, and never through a symbolic link.

Copies of logs, spools, exports, cut logs, dumps and reports hold what the tables of a company hold. They get the mode
0640, and folders 0750, as MySQL gives to its own logs, less what the umask of the process takes away. A file that is
there keeps its mode.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

FILE_MODE = 0o640
FOLDER_MODE = 0o750


def create_folder(folder: Path, mode: int = FOLDER_MODE) -> None:
    """Create a folder, and those above it that are missing."""
    for path in reversed((folder, *folder.parents)):
        if not path.is_dir():
            path.mkdir(mode, exist_ok=True)


def create_file(path: str | Path, mode: int = FILE_MODE) -> int:
    """Create a file that must not be there, not even as a link; return its descriptor, for reading and writing."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)


def open_file(path: str | Path, flags: int) -> int:
    """Open a file, created if the flags say so, but not a link; return its descriptor."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)


def create_again(path: Path, mode: int = FILE_MODE) -> BinaryIO:
    """Create a file in place of one that was left over under its name."""
    path.unlink(missing_ok=True)
    return open(create_file(path, mode), "w+b")


def open_output(path: str | Path) -> BinaryIO:
    """Open a file that a user wants to be written. A link to a file is replaced; pipes and devices are written to."""
    try:
        is_file = stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        is_file = True
    if not is_file:
        return open(path, "wb")
    if os.path.islink(path):
        os.unlink(path)
    return open(open_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb")


def replace_file(path: Path, content: bytes, *, mode: int = FILE_MODE, unfinished: str = ".new") -> None:
    """Replace a file atomically: readers see the old content or the new, also after a crash.

    `unfinished` is what the name ends with until then.
    """
    written = path.with_name(path.name + unfinished)
    with create_again(written, mode) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    written.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
