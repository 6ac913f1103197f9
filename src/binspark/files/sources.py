"""Which logs a path means: a file, a glob, a directory, an index file, standard input."""

from __future__ import annotations

import glob
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from binspark.errors import OptionError, SourceError
from binspark.frames.magic import ENCRYPTED_MAGIC, MAGIC
from binspark.position import Position

STANDARD_INPUT = "-"
_NUMBERED = re.compile(r"(.*?)\.(\d+)$")

Paths = str | Path | Iterable[str | Path]


@dataclass(frozen=True, slots=True)
class LogSource:
    """One log that can be opened. `name` is how the caller called it."""

    name: str

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the log for reading."""
        if self.name == STANDARD_INPUT:
            yield sys.stdin.buffer
            return
        try:
            file = open(self.name, "rb")  # noqa: SIM115 (closed below)
        except OSError as error:
            raise SourceError(error.strerror or str(error), Position(file=self.name)) from None
        with file:
            yield file


def find_logs(paths: Paths) -> list[LogSource]:
    """Return the logs that paths mean, in the order of the paths; within a glob or directory by number."""
    if isinstance(paths, str | Path):
        paths = [paths]
    found = [LogSource(name) for path in paths for name in _names(str(path))]
    if not found:
        raise OptionError("no log was named")
    return found


def log_order(name: str) -> tuple[str, int]:
    """Order logs as their server wrote them: `binlog.1000000` comes after `binlog.999999`."""
    match = _NUMBERED.match(name)
    return (match[1], int(match[2])) if match else (name, -1)


def _names(path: str) -> list[str]:
    if path == STANDARD_INPUT:
        return [path]
    if Path(path).is_dir():
        return _logs_in(Path(path))
    if path.endswith(".index") and Path(path).is_file():
        return index_entries(Path(path))
    if Path(path).exists():
        return [path]
    if glob.has_magic(path):
        names = [name for name in glob.glob(path) if Path(name).is_file() and not name.endswith(".index")]
        if names:
            return sorted(names, key=log_order)
        raise SourceError("no file matches", Position(file=path))
    raise SourceError("no such file", Position(file=path))


def _logs_in(directory: Path) -> list[str]:
    """Return the files of a directory that begin like a binary log."""
    names = [str(path) for path in directory.iterdir() if path.is_file() and _begins_like_a_log(path)]
    if not names:
        raise SourceError("the directory holds no binary log", Position(file=str(directory)))
    return sorted(names, key=log_order)


def _begins_like_a_log(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) in (MAGIC, ENCRYPTED_MAGIC)
    except OSError:
        return False


def index_entries(index: Path) -> list[str]:
    """Return the logs that an index file lists. A log that was moved together with its index is found beside it."""
    lines = index.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return [str(_beside(index, line.strip())) for line in lines if line.strip()]


def _beside(index: Path, entry: str) -> Path:
    listed = Path(entry)
    path = listed if listed.is_absolute() else index.parent / listed
    moved = index.parent / listed.name
    return moved if not path.exists() and moved.exists() else path
