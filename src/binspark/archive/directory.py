"""The folder of an archive: logs, the index that lists them, the server they are from, and a lock.

One archiver writes to a folder. The operating system keeps the lock for as long as its process lives, and not longer.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import socket
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from binspark.errors import Malformed, OptionError, SourceError
from binspark.files.sources import log_order
from binspark.os_errors import source_errors
from binspark.position import Position
from binspark.private_files import create_folder, open_file, replace_file, sync_folder

LOCK_NAME = "archive.lock"
STATE_NAME = "archive.json"

_LOG_NAME = re.compile(r"(?!\.)([^\0-\x1f\x7f/\\]+)\.(\d{1,18})")
_MAX_NAME_LENGTH = 255


# --- Names ------------------------------------------------------------------------------------------------------------


def is_log_name(name: str) -> bool:
    """Return whether a name is that of a log: a base, a dot, a number."""
    return _LOG_NAME.fullmatch(name) is not None and len(name.encode("utf-8", "surrogatepass")) <= _MAX_NAME_LENGTH


def checked_name(name: str) -> str:
    """Return a name that a server gives to a log; one that could lead elsewhere is refused."""
    if not is_log_name(name):
        raise Malformed(f"the server names a log {name!r}, expected a base name, a dot and a number")
    return name


def base_name(name: str) -> str:
    """Return what the names of all logs of a server begin with."""
    return name.rpartition(".")[0]


def next_name(name: str) -> str:
    """Return how a server names the log after this one."""
    base, _, number = name.rpartition(".")
    return f"{base}.{int(number) + 1:0{len(number)}}"


# --- Files ------------------------------------------------------------------------------------------------------------


def write_all(file: int, data: bytes | bytearray | memoryview) -> None:
    """Write all of some bytes at the current offset of a file."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


class ArchiveFolder:
    """The logs of one server, oldest first, and an index file that lists them by their names."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_dir():
            raise OptionError(f"the target of an archive must be a directory, got the file {path}")
        with source_errors(path):
            create_folder(path)

    def logs(self) -> list[str]:
        """Return the names of the logs in the folder."""
        with source_errors(self.path):
            names = [entry.name for entry in self.path.iterdir() if is_log_name(entry.name) and entry.is_file()]
        bases = {base_name(name) for name in names}
        if len(bases) > 1:
            found = ", ".join(sorted(bases))
            message = f"the folder contains logs of several base names ({found}), expected one: use a folder for each"
            raise OptionError(message, Position(file=str(self.path)))
        return sorted(names, key=log_order)

    def size(self, name: str) -> int:
        """Return how many bytes a log has."""
        with source_errors(self.path / name):
            return (self.path / name).stat().st_size

    def write_index(self, names: Sequence[str]) -> None:
        """List logs in the index file. A folder without logs has none."""
        if not names:
            return
        index = self.path / f"{base_name(names[0])}.index"
        content = index_content(names)
        with source_errors(index):
            if not index.is_file() or index.read_bytes() != content:
                replace_file(index, content)

    def remove(self, names: Iterable[str]) -> None:
        """Remove logs. The index no longer lists them before the first is removed."""
        removed = set(names)
        if not removed:
            return
        self.write_index([name for name in self.logs() if name not in removed])
        with source_errors(self.path):
            for name in sorted(removed, key=log_order):
                (self.path / name).unlink(missing_ok=True)
            sync_folder(self.path)

    @property
    def server(self) -> str:
        """The server that the logs are from; empty if that was not noted."""
        try:
            return str(json.loads((self.path / STATE_NAME).read_bytes())["server"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def note_server(self, server: str) -> None:
        """Note which server the logs are from."""
        if server != self.server:
            self.write(STATE_NAME, json.dumps({"server": server}).encode() + b"\n")

    def write(self, name: str, content: bytes) -> None:
        """Write a file that is not a log, and replace one of the same name."""
        with source_errors(self.path / name):
            replace_file(self.path / name, content)


def index_content(names: Iterable[str]) -> bytes:
    """Return the content of an index file."""
    return "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")


# --- Locks ------------------------------------------------------------------------------------------------------------


def lock_holder() -> dict[str, Any]:
    """Return what a lock file contains about this process."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {"pid": os.getpid(), "host": socket.gethostname(), "since": now}


def describe_holder(content: bytes) -> str:
    """Return which process has a lock, as far as its file says."""
    try:
        holder = json.loads(content)
        return f"process {holder['pid']} on {holder['host']}, since {holder['since']}"
    except (ValueError, KeyError, TypeError):
        return "an unknown process"


class FolderLock:
    """A context manager: entering it is refused while another process has the lock."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_NAME
        self._file = -1

    def __enter__(self) -> Self:
        with source_errors(self._path):
            self._file = open_file(self._path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = describe_holder(os.pread(self._file, 1 << 12, 0))
            self._release()
            message = f"another archiver writes to this folder: {holder}. Stop it first, or use another folder"
            raise OptionError(message, Position(file=str(self._path.parent))) from None
        try:
            with source_errors(self._path):
                os.ftruncate(self._file, 0)
                os.pwrite(self._file, json.dumps(lock_holder()).encode() + b"\n", 0)
        except SourceError:
            self._release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._release()

    def _release(self) -> None:
        os.close(self._file)
        self._file = -1
