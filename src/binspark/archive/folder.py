"""A folder that holds copies of a server's logs: which ones, their index, and whose they are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from binspark.archive.disk import disk_errors, replace_file, sync_folder
from binspark.archive.names import base_of, is_log_name
from binspark.errors import OptionError
from binspark.files.sources import log_order
from binspark.position import Position

STATE_NAME = "archive.json"


class ArchiveFolder:
    """The logs of one server, oldest first, beside an index file that lists them by their names."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with disk_errors(path):
            path.mkdir(parents=True, exist_ok=True)

    def logs(self) -> list[str]:
        """Return the names of the logs that are there."""
        with disk_errors(self.path):
            names = [entry.name for entry in self.path.iterdir() if is_log_name(entry.name) and entry.is_file()]
        bases = {base_of(name) for name in names}
        if len(bases) > 1:
            message = f"the folder holds logs of several names ({', '.join(sorted(bases))}): use one folder for each"
            raise OptionError(message, Position(file=str(self.path)))
        return sorted(names, key=log_order)

    def size(self, name: str) -> int:
        """Return how many bytes a log has."""
        with disk_errors(self.path / name):
            return (self.path / name).stat().st_size

    def write_index(self, names: Sequence[str]) -> None:
        """List logs in the index file, at once. A folder without logs has none."""
        if not names:
            return
        index = self.path / f"{base_of(names[0])}.index"
        content = "".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape")
        with disk_errors(index):
            is_right = index.is_file() and index.read_bytes() == content
        if not is_right:
            replace_file(index, content)

    def remove(self, names: Iterable[str]) -> None:
        """Remove logs. The index no longer lists them before the first is gone."""
        gone = set(names)
        if not gone:
            return
        self.write_index([name for name in self.logs() if name not in gone])
        with disk_errors(self.path):
            for name in sorted(gone, key=log_order):
                (self.path / name).unlink(missing_ok=True)
            sync_folder(self.path)

    @property
    def server(self) -> str:
        """The server whose logs these are; empty if that was not noted."""
        try:
            return str(json.loads((self.path / STATE_NAME).read_bytes())["server"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def note_server(self, server: str) -> None:
        """Note whose logs these are."""
        if server != self.server:
            replace_file(self.path / STATE_NAME, json.dumps({"server": server}).encode() + b"\n")
