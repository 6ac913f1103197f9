"""Logs planned for reading, and cut into splits that are read independently, without an index.

A split owns the transactions that begin in it, and reads past its end to finish the last one. The splits of a log
together are the log, whatever their size: see `columns.starts` for why two neighbors always agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise

from binspark.errors import DecodeError, OptionError, Truncated
from binspark.files.log_head import fingerprint, is_writing_head, read_head
from binspark.files.sources import LogSource
from binspark.position import Position

DEFAULT_SPLIT_BYTES = 64 << 20
UNKNOWN_SIZE = 1 << 62
"""The size of a compressed log, which is not known before it is read; more than any log has."""
_PARALLEL_READS = 16


@dataclass(frozen=True, slots=True)
class PlannedLog:
    """A log as it was when the read was planned.

    size         how many bytes are read; those that a server appends later are not
    fingerprint  identifies the log, in case another one takes its name before it is read
    start, end   the range of offsets in which the transactions begin that are read; `end` may be None
    """

    source: LogSource
    size: int
    fingerprint: int
    relay: bool = False
    can_split: bool = True
    start: int = 0
    end: int | None = None

    @property
    def name(self) -> str:
        """The name of the log, as positions in errors contain it."""
        return self.source.name

    @property
    def is_narrowed(self) -> bool:
        """Whether only a range of offsets is read."""
        return self.start > 0 or self.end is not None

    def narrowed(self, start: int, end: int | None) -> PlannedLog:
        """Return the same log, of which only the transactions that begin in a range of offsets are read."""
        if not self.can_split and (start > 0 or end is not None):
            kinds = "compressed logs, relay logs and logs before version 4"
            message = f"{kinds} can only be read completely, not from or up to a position"
            raise OptionError(message, Position(file=self.name))
        return replace(self, start=start, end=end)


def plan_logs(sources: Iterable[LogSource]) -> list[PlannedLog]:
    """Look up how large each log is now, and whether it can be split. Empty files are skipped."""
    with ThreadPoolExecutor(_PARALLEL_READS) as pool:
        planned = list(pool.map(_plan, sources))
    return [log for log in planned if log.size]


def _plan(source: LogSource) -> PlannedLog:
    with source.open() as file:
        size = UNKNOWN_SIZE if file.is_compressed else file.size
        try:
            head = read_head(file, source.name)
        except DecodeError as error:  # reported when the log is read
            size = 0 if isinstance(error, Truncated) and is_writing_head(file) else size
            return PlannedLog(source, size, fingerprint(file, size), can_split=False)
        if file.is_compressed:
            return PlannedLog(source, size, fingerprint(file, size), head.relay, can_split=False)
        if head.in_use:
            from binspark.files.active_log import complete_end  # loads kernels, which few plans need

            size = complete_end(file, size, head, source.name)
        return PlannedLog(source, size, fingerprint(file, size), head.relay, head.can_split)


@dataclass(frozen=True, slots=True)
class Split:
    """What one reader reads: a part of one log, or several complete logs in order."""

    logs: tuple[PlannedLog, ...]
    start: int = 0
    end: int | None = None

    @property
    def is_part(self) -> bool:
        """Whether this is a part of one log."""
        return self.start > 0 or self.end is not None

    def __str__(self) -> str:
        last = "" if len(self.logs) == 1 else f" … {self.logs[-1].name}"
        part = f"[{self.start}:{'' if self.end is None else self.end}]" if self.is_part else ""
        return f"{self.logs[0].name}{last}{part}"


def split_logs(logs: Iterable[PlannedLog], max_split_bytes: int = DEFAULT_SPLIT_BYTES) -> list[Split]:
    """Cut logs into splits of about the same size; consecutive small logs share a split."""
    if max_split_bytes < 1:
        raise OptionError(f"the size of a split must be at least 1 byte, got {max_split_bytes}")
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
    length = (log.size if log.end is None else min(log.end, log.size)) - log.start
    count = -(-length // max_split_bytes)
    boundaries = [log.start + length * number // count for number in range(count)]
    for start, end in pairwise([*boundaries, log.end]):
        assert start is not None
        yield Split((log,), start, end)


def _groups(logs: Iterable[PlannedLog], max_split_bytes: int) -> Iterator[tuple[PlannedLog, ...]]:
    """Group the logs that one reader reads in order: small logs, and relay logs.

    A transaction may continue from one relay log to the next, so consecutive relay logs always share a split.
    """
    group: list[PlannedLog] = []
    for log in logs:
        fits = sum(member.size for member in group) + log.size <= max_split_bytes
        chained = bool(group) and group[-1].relay and log.relay
        apart = _is_apart(log) or any(map(_is_apart, group))
        if group and not chained and (apart or not fits):
            yield tuple(group)
            group = []
        group.append(log)
    if group:
        yield tuple(group)


def _is_apart(log: PlannedLog) -> bool:
    return log.relay or log.is_narrowed or log.size == UNKNOWN_SIZE
