"""The position of something in a log, as errors and events report it."""

from __future__ import annotations

from dataclasses import dataclass, fields

COMPRESSED_SUFFIXES = (".gz", ".zst", ".xz", ".bz2", ".lz4")
"""How the names of compressed logs end."""


def log_name(path: str) -> str:
    """Return the name of a log as its server wrote it: without folder, and without the suffix of a compressed copy.

    >>> log_name("backup/binlog.000003.gz")
    'binlog.000003'
    """
    name = path.rpartition("/")[2]
    suffix = next((suffix for suffix in COMPRESSED_SUFFIXES if name.lower().endswith(suffix)), "")
    return name[: len(name) - len(suffix)]


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a log. A part that is not known is None.

    file    the log
    offset  where the event begins in it, in bytes
    event   the type of the event
    gtid    the transaction
    source  the server that sent the event
    """

    file: str | None = None
    offset: int | None = None
    event: str | None = None
    gtid: str | None = None
    source: str | None = None

    def or_else(self, other: Position) -> Position:
        """Return this position with its unknown parts taken from `other`."""
        known = {f.name: getattr(self, f.name) for f in fields(self)}
        filled = {name: getattr(other, name) if value is None else value for name, value in known.items()}
        return Position(**filled)

    def __str__(self) -> str:
        text = self.file or ""
        if self.offset is not None:
            text = f"{text}:{self.offset}" if text else f"offset {self.offset}"
        if self.source:
            text = f"{self.source} {text}".strip()
        details = [part for part in (self.event, self.gtid) if part]
        if details:
            text = f"{text} ({', '.join(details)})" if text else ", ".join(details)
        return text
