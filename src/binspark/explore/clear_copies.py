"""Copies of logs that cannot be read from any offset: compressed ones, and standard input. They are made once."""

from __future__ import annotations

import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock

from binspark.files.sources import LogSource
from binspark.files.standard_input import STANDARD_INPUT
from binspark.files.storage.local import LocalFile
from binspark.files.storage.store import LogFile
from binspark.os_errors import source_errors

MAX_COPIES = 8


class ClearCopies:
    """The copies, in a temporary folder. The last ones that were read are kept, and that of standard input."""

    def __init__(self, max_copies: int = MAX_COPIES) -> None:
        self.made = 0
        self._max = max_copies
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._paths: OrderedDict[str, Path] = OrderedDict()
        self._known: set[str] = set()
        self._lock = Lock()
        self._copying = Lock()

    @contextmanager
    def opened(self, source: LogSource) -> Iterator[LogFile]:
        """Open a log, or its copy, so that it can be read from any offset."""
        with source_errors(source.name), ExitStack() as stack:
            copy = self._open_copy(source.name)
            if copy is None:
                file = None if source.name in self._known else stack.enter_context(source.open())
                if file is not None and source.name != STANDARD_INPUT and not file.is_compressed:
                    yield file
                    return
                copy = self._copied(source, file)
            yield stack.enter_context(copy)

    def has(self, source: LogSource) -> bool:
        """Return whether a log was copied. Such a log does not grow."""
        return source.name in self._known

    @property
    def paths(self) -> list[Path]:
        """The copies that are kept."""
        with self._lock:
            return list(self._paths.values())

    def close(self) -> None:
        """Delete all copies."""
        with self._lock:
            self._paths.clear()
            if self._folder is not None:
                self._folder.cleanup()
                self._folder = None

    def _open_copy(self, name: str) -> LogFile | None:
        with self._lock:
            path = self._paths.get(name)
            if path is None:
                return None
            self._paths.move_to_end(name)
            return LogFile(LocalFile(str(path)))

    def _copied(self, source: LogSource, file: LogFile | None) -> LogFile:
        """Copy a log, unless another thread has done so meanwhile, and open the copy."""
        with self._copying, ExitStack() as stack:
            copy = self._open_copy(source.name)
            if copy is not None:
                return copy
            content = stack.enter_context(source.open()) if file is None else file
            path = self._new_path()
            with path.open("wb") as target:
                shutil.copyfileobj(content, target, 1 << 20)
            with self._lock:
                self._known.add(source.name)
                self._paths[source.name] = path
                self._forget_old()
                return LogFile(LocalFile(str(path)))

    def _new_path(self) -> Path:
        with self._lock:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="binspark-explore-")
            self.made += 1
            return Path(self._folder.name) / f"copy.{self.made:06}"

    def _forget_old(self) -> None:
        for name in [name for name in self._paths if name != STANDARD_INPUT][: -self._max]:
            self._paths.pop(name).unlink(missing_ok=True)  # who is reading it, keeps it
