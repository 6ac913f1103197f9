"""How much of an archive is kept: by age, by size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from binspark.errors import OptionError

_DAY = 86_400


class KeptLog(NamedTuple):
    """A log of an archive: how large it is, and when the server had made it."""

    name: str
    size: int
    created: int


@dataclass(frozen=True, slots=True)
class Retention:
    """What is kept: logs that ended within so many days, so many bytes of all. None is no limit."""

    days: float | None = None
    bytes: int | None = None

    def __post_init__(self) -> None:
        if self.days is not None and not self.days > 0:
            raise OptionError(f"keep_days: {self.days} is not a time to keep logs")
        if self.bytes is not None and not self.bytes > 0:
            raise OptionError(f"keep_bytes: {self.bytes} is not a size")

    @property
    def limits(self) -> bool:
        return self.days is not None or self.bytes is not None

    def outdated(self, logs: Sequence[KeptLog], now: float) -> list[str]:
        """Return which logs go, the oldest first. The last one stays: it is being written.

        A log has ended when the one behind it was made.
        """
        gone: list[str] = []
        left = sum(log.size for log in logs)
        for log, following in pairwise(logs):
            too_old = self.days is not None and now - following.created > self.days * _DAY
            too_much = self.bytes is not None and left > self.bytes
            if not too_old and not too_much:
                break
            gone.append(log.name)
            left -= log.size
        return gone
