"""One archiver for one folder: the system keeps the lock for as long as its process lives, and not longer."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from binspark.archive.disk import disk_errors
from binspark.errors import OptionError
from binspark.position import Position

LOCK_NAME = "archive.lock"


def who_i_am() -> dict[str, Any]:
    """Return what a lock says of who holds it."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {"pid": os.getpid(), "host": socket.gethostname(), "since": now}


def told_holder(content: bytes) -> str:
    """Say who holds a lock, as far as its file tells."""
    try:
        holder = json.loads(content)
        return f"process {holder['pid']} on {holder['host']}, since {holder['since']}"
    except (ValueError, KeyError, TypeError):
        return "a process that did not say who it is"


class FolderLock:
    """Held as a context: entering it is refused while somebody else does."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_NAME
        self._file = -1

    def __enter__(self) -> Self:
        with disk_errors(self._path):
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = told_holder(os.pread(self._file, 1 << 12, 0))
            self._release()
            message = f"another archiver writes to this folder: {holder}"
            raise OptionError(message, Position(file=str(self._path.parent))) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, json.dumps(who_i_am()).encode() + b"\n", 0)
        return self

    def __exit__(self, *_: object) -> None:
        self._release()

    def _release(self) -> None:
        os.close(self._file)
        self._file = -1
