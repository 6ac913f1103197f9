"""How much of an archive is kept: by age, by size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from binspark.errors import OptionError

_DAY = 86_400


class KeptLog(NamedTuple):
    """A log of an archive: its size, and when the server created it."""

    name: str
    size: int
    created: int


@dataclass(frozen=True, slots=True)
class Retention:
    """What is kept: logs that ended within this number of days, this number of bytes in all. None is no limit."""

    days: float | None = None
    bytes: int | None = None

    def __post_init__(self) -> None:
        if self.days is not None and not self.days > 0:
            raise OptionError(f"must be positive, got {self.days}", option="keep_days")
        if self.bytes is not None and not self.bytes > 0:
            raise OptionError(f"must be positive, got {self.bytes}", option="keep_bytes")

    @property
    def has_limits(self) -> bool:
        """Whether anything is ever removed."""
        return self.days is not None or self.bytes is not None

    def outdated(self, logs: Sequence[KeptLog], now: float) -> list[str]:
        """Return which logs are to be removed, the oldest first. The last one stays: it is being written.

        A log ended when the next one was created.
        """
        removed: list[str] = []
        size = sum(log.size for log in logs)
        for log, following in pairwise(logs):
            is_too_old = self.days is not None and now - following.created > self.days * _DAY
            is_too_much = self.bytes is not None and size > self.bytes
            if not is_too_old and not is_too_much:
                break
            removed.append(log.name)
            size -= log.size
        return removed
