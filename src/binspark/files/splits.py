"""Logs cut into splits, each of which is read by itself, without an index.

A split owns the transactions that begin in it, and reads past its end to finish the last one. The union of the splits
of a log is the log, whatever their size: see `columns.starts` for why two neighbours always agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from binspark.errors import OptionError
from binspark.files.sources import LogSource
from binspark.position import Position

DEFAULT_SPLIT_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class PlannedLog:
    """A log as it was when the read was planned.

    size         bytes that are read; what a server appends later is not
    fingerprint  what tells this log from another that took its name since
    first, last  transactions are read that begin at the one offset or later, and before the other
    """

    source: LogSource
    size: int
    fingerprint: int
    relay: bool = False
    can_split: bool = True
    first: int = 0
    last: int | None = None

    @property
    def is_narrowed(self) -> bool:
        return self.first > 0 or self.last is not None

    def narrowed(self, first: int, last: int | None) -> PlannedLog:
        """Return the same log, of which only the transactions between two offsets are read."""
        if not self.can_split and (first > 0 or last is not None):
            message = "positions in relay logs and in logs before version 4 cannot be asked for"
            raise OptionError(message, Position(file=self.name))
        return replace(self, first=first, last=last)

    @property
    def name(self) -> str:
        return self.source.name


@dataclass(frozen=True, slots=True)
class Split:
    """What one reader reads: a part of one log, or several logs that are read one after the other."""

    logs: tuple[PlannedLog, ...]
    start: int = 0
    end: int | None = None

    @property
    def is_part(self) -> bool:
        return self.start > 0 or self.end is not None

    def __str__(self) -> str:
        last = "" if len(self.logs) == 1 else f" … {self.logs[-1].name}"
        part = f"[{self.start}:{'' if self.end is None else self.end}]" if self.is_part else ""
        return f"{self.logs[0].name}{last}{part}"


def cut(logs: Iterable[PlannedLog], max_split_bytes: int = DEFAULT_SPLIT_BYTES) -> list[Split]:
    """Cut logs into splits of about the same size; small logs that follow each other make one together."""
    if max_split_bytes < 1:
        raise OptionError(f"a split of {max_split_bytes} bytes holds nothing")
    splits: list[Split] = []
    for group in _groups(logs, max_split_bytes):
        log = group[0]
        if log.is_narrowed or (len(group) == 1 and log.can_split and log.size > max_split_bytes):
            splits += _parts(log, max_split_bytes)
        else:
            splits.append(Split(group))
    return splits


def _parts(log: PlannedLog, max_split_bytes: int) -> Iterator[Split]:
    """Cut one log evenly, so that no part is much smaller than the others."""
    length = (log.size if log.last is None else min(log.last, log.size)) - log.first
    count = -(-length // max_split_bytes)
    borders = [log.first + length * number // count for number in range(count)]
    for start, end in pairwise([*borders, log.last]):
        assert start is not None
        yield Split((log,), start, end)


def _groups(logs: Iterable[PlannedLog], max_split_bytes: int) -> Iterator[tuple[PlannedLog, ...]]:
    """Put logs together that are read one after the other: small ones, and relay logs.

    In relay logs transactions go on from file to file, so those that follow each other are never parted.
    """
    group: list[PlannedLog] = []
    for log in logs:
        together = sum(member.size for member in group) + log.size <= max_split_bytes
        chained = bool(group) and group[-1].relay and log.relay
        apart = log.relay or log.is_narrowed or any(member.relay or member.is_narrowed for member in group)
        if group and not chained and (apart or not together):
            yield tuple(group)
            group = []
        group.append(log)
    if group:
        yield tuple(group)
