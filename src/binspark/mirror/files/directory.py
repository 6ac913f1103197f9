"""The file system of a target's directory, as pyarrow reaches it, on the driver and on executors."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from binspark.files.storage.filesystems import open_system
from binspark.files.storage.options import Storage
from binspark.files.storage.uri import child_uri, parse_uri


class Directory(NamedTuple):
    """A directory: pyarrow's file system, and its path there."""

    files: Any
    root: str

    def path(self, name: str) -> str:
        """Return the path of a file in it."""
        return f"{self.root.rstrip('/')}/{name}"


def open_directory(uri: str, storage: Storage) -> Directory:
    """Return the directory at a path of this machine, or at a URI."""
    from pyarrow.fs import LocalFileSystem

    parsed = parse_uri(uri)
    if parsed is None or parsed.is_local:
        return Directory(LocalFileSystem(), str(local_directory(uri)))
    system = open_system(parsed.scheme, parsed.host, storage)
    return Directory(system.files, system.path(parsed.path))


def local_directory(uri: str) -> Path | None:
    """Return the absolute path of a directory on this machine; None if it is somewhere else."""
    parsed = parse_uri(uri)
    if parsed is None:
        return Path(uri).absolute()
    return Path(parsed.local_path()) if parsed.is_local else None


def is_absolute(path: str) -> bool:
    """Return whether the path of a data file is not relative to the directory of its table."""
    return path.startswith("/") or parse_uri(path) is not None


def child_directory(uri: str, *names: str) -> str:
    """Return the URI or path of a directory below another."""
    for name in names:
        uri = child_uri(uri, name)
    return uri
