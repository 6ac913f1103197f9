"""Logs as they are when a read is planned: how large, which, and whether they can be split."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from binspark.errors import DecodeError, Truncated
from binspark.files.log_head import fingerprint, is_begun, read_head
from binspark.files.sources import LogSource
from binspark.files.splits import PlannedLog

_PLANNERS = 16


def plan_logs(sources: Iterable[LogSource]) -> list[PlannedLog]:
    """Look at each log: how large it is now, and whether it can be split. Empty files hold nothing to read."""
    with ThreadPoolExecutor(_PLANNERS) as pool:
        planned = list(pool.map(_plan, sources))
    return [log for log in planned if log.size]


def _plan(source: LogSource) -> PlannedLog:
    with source.open() as file:
        size = file.size
        try:
            head = read_head(file, source.name)
        except DecodeError as error:  # whoever reads the log reports it
            size = 0 if isinstance(error, Truncated) and is_begun(file) else size
            return PlannedLog(source, size, fingerprint(file, size), can_split=False)
        if head.in_use:
            from binspark.files.active_log import whole_end  # few logs are, and it loads kernels

            size = whole_end(file, size, head, source.name)
        return PlannedLog(source, size, fingerprint(file, size), head.relay, head.can_split)
