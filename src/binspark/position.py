"""Where something is: the one value that errors, events and offsets share."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a log. A part that is not known is None."""

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
        place = self.file or ""
        if self.offset is not None:
            place = f"{place}:{self.offset}" if place else f"offset {self.offset}"
        if self.source:
            place = f"{self.source} {place}".strip()
        details = [part for part in (self.event, self.gtid) if part]
        if details:
            place = f"{place} ({', '.join(details)})" if place else ", ".join(details)
        return place
