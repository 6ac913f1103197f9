"""What a reader read from a log, and in what time."""

from __future__ import annotations

from dataclasses import dataclass


class PeerUnavailable(Exception):
    """A reader that cannot be measured here; the message says why."""


@dataclass(frozen=True, slots=True)
class Figure:
    """How many rows of how many bytes of a log were read, in how many seconds, and how many of CPU time if measured."""

    seconds: float
    log_bytes: int
    rows: int
    cpu_seconds: float | None = None

    @property
    def megabytes_per_second(self) -> float:
        return self.log_bytes / self.seconds / 1e6

    @property
    def million_rows_per_second(self) -> float:
        return self.rows / self.seconds / 1e6
