"""What finding and opening logs asks of a place, be it this machine or a store far away."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, Protocol

from binspark.files.storage.file import LogFile


class Kind(Enum):
    """What a name stands for. Something else may be a pipe, which can be read."""

    FILE = "file"
    DIRECTORY = "directory"
    OTHER = "other"


class Entry(NamedTuple):
    """What is there, by the name that a caller would give it."""

    name: str
    kind: Kind
    size: int


class Place(Protocol):
    """Where logs are. All names are names as callers give them; a failure is a `SourceError` that says which."""

    def entry(self, name: str) -> Entry | None:
        """Return what a name means, None if nothing."""

    def missing_root(self, name: str) -> str | None:
        """Return the bucket of a name if there is no such bucket."""

    def entries(self, directory: str) -> list[Entry]:
        """Return what a directory holds."""

    def glob(self, pattern: str) -> list[str]:
        """Return the files that a pattern matches."""

    def join(self, directory: str, base_name: str) -> str:
        """Name a file of a directory."""

    def listed(self, index: str, line: str) -> str:
        """Name the file that a line of an index file means."""

    def heads(self, names: list[str], length: int) -> list[bytes]:
        """Return the first bytes of many files."""

    def open(self, name: str) -> LogFile:
        """Open a file."""

    def identity(self, name: str) -> str:
        """Return what changes when a file is replaced by another of its name."""


def base_name(name: str) -> str:
    """Return the last part of a name."""
    return name.rpartition("/")[2]
