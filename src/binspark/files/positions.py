"""Which part of some logs is between two positions: the part of each log that is read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from binspark.columns.selection import Selection
from binspark.errors import OptionError
from binspark.files.sources import LogSource
from binspark.files.storage.store import base_name
from binspark.options.values import FilePosition
from binspark.position import log_name

NOWHERE = sys.maxsize
"""The start of a log of which no row is read, only its DDL."""


def part_between(logs: list[LogSource], selection: Selection, *, with_earlier: bool = True) -> list[LogSource]:
    """Return the logs with the offsets at which reading starts and stops.

    A position without a file is in the first log if it is a start, in the last if it is a stop. Logs after the stop are
    omitted. Those before the start are kept `with_earlier`, because their DDL may define the tables; no row is read.
    """
    start, stop = selection.start_position, selection.stop_position
    if start is None and stop is None:
        return logs
    names = [log.name for log in logs]
    first = index_of(names, start, "start_position", 0)
    last = index_of(names, stop, "stop_position", len(logs) - 1)
    check_order(first, start, last, stop)
    part = []
    for number, log in enumerate(logs[: last + 1]):
        if number < first and not with_earlier:
            continue
        begin = NOWHERE if number < first else start.offset if start is not None and number == first else 0
        part.append(replace(log, start=begin, stop=stop.offset if stop is not None and number == last else None))
    return part


def index_of(names: Sequence[str], position: FilePosition | None, option: str, default: int) -> int:
    """Return which of the logs with these names a position is in."""
    if position is None or not position.file:
        return default
    for number, name in enumerate(names):
        if position.file in (name, base_name(name), log_name(name)):
            return number
    raise OptionError(f"names {position.file}, which is none of the logs", option=option)


def check_order(first: int, start: FilePosition | None, last: int, stop: FilePosition | None) -> None:
    """Refuse a start that is after the stop."""
    if start is not None and stop is not None and (first, start.offset) > (last, stop.offset):
        raise OptionError(f"({start}) is after the position to stop at ({stop})", option="start_position")
