"""A log that is explored: its index, and where its tables are defined."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from binspark.errors import Truncated
from binspark.explore.clear_copies import ClearCopies
from binspark.explore.log_index import LogIndex, LogRange
from binspark.explore.units import Unit, read_units
from binspark.files.damage import Damage
from binspark.files.sources import LogSource
from binspark.files.storage.store import LogFile
from binspark.position import log_name

MAX_DEFINITIONS = 100_000


@dataclass
class ExploredLog:
    """A log, and its index.

    copies       where compressed logs are in clear
    is_read      whether the index has all that the log had when it was last looked at
    is_active    whether a server is writing the log, or was when it crashed
    created      when the log begins, in microseconds since 1970; 0 if that is not known yet
    problem      why the log cannot be opened
    definitions  where transactions begin and end that define tables; of very many, the first
    show_secrets  whether passwords in statements can be searched for
    """

    source: LogSource
    copies: ClearCopies
    index: LogIndex = field(default_factory=LogIndex)
    is_read: bool = False
    is_active: bool = False
    created: int = 0
    problem: str | None = None
    definitions: list[tuple[int, int]] = field(default_factory=list)
    show_secrets: bool = False

    @property
    def name(self) -> str:
        """The name of the log, without its folder."""
        return log_name(self.source.name)

    def opened(self) -> AbstractContextManager[LogFile]:
        """Open the log, so that it can be read from any offset."""
        return self.copies.opened(self.source)

    def has_grown(self) -> bool:
        """Return whether the log is larger than its index."""
        if self.copies.has(self.source):
            return False
        return self.source.size() > self.index.size

    @property
    def problems(self) -> list[tuple[int | None, str]]:
        """What is wrong with the log: where, None if that is not known, and what."""
        damages = [each for each in self.index.damages if not self.is_incomplete(each)]
        found: list[tuple[int | None, str]] = [(each.start, each.error.message) for each in damages]
        return found if self.problem is None else [(None, self.problem), *found]

    def is_incomplete(self, damage: Damage) -> bool:
        """Return whether bytes cannot be read only because a server has not written the rest of their event yet."""
        return self.is_active and isinstance(damage.error, Truncated) and damage is self.index.tail_damage

    def units(self, part: LogRange) -> Iterator[Unit]:
        """Yield the units of a part of the log."""
        with self.opened() as file:
            is_incomplete = part.damage is not None and self.is_incomplete(part.damage)
            yield from read_units(file, self.source.name, self.index, part, is_incomplete=is_incomplete)
