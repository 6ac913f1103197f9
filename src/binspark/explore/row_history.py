"""The history of rows: the changes of a table's rows that meet a condition, such as `id = 42`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from binspark.changes.change import Change
from binspark.changes.from_batches import changes_of
from binspark.changes.lines import change_json
from binspark.changes.selection_options import make_selection
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.errors import BinlogError, OptionError
from binspark.explore.explored_log import ExploredLog
from binspark.explore.explorer import Explorer
from binspark.explore.log_index import LogRange
from binspark.explore.scan import read_part
from binspark.explore.search import MAX_HITS, MAX_SECONDS, RANGE_BYTES, Cursor, Found
from binspark.files.windows import by_window
from binspark.options.option import Surface

_MAX_EXACT_DIGITS = 15
"""The longest number that is exact in a browser; longer ones are sent as text."""


def row_history(explorer: Explorer, table: str, condition: str, cursor: Cursor, seconds: float = MAX_SECONDS) -> Found:
    """Return the changes of a table, from a cursor on, as `binspark rows --where` selects them."""
    if not table.strip():
        raise OptionError("is empty: which table?", option="table")
    options: dict[str, Any] = {"tables": [table.strip()]}
    if condition.strip():
        options["where"] = condition.strip()
    selection = make_selection(options, Surface.PYTHON)
    found = Found()
    deadline = time.monotonic() + seconds
    for number in range(cursor.log, len(explorer.logs)):
        start = cursor.offset if number == cursor.log else 0
        if not explorer.ensure_read(number, max(0.0, deadline - time.monotonic())):
            found.next = Cursor(number, start)
            return found
        after = _in_log(explorer, number, start, selection, found, deadline)
        if after is not None:
            found.next = Cursor(number, after)
            return found
    return found


def _in_log(
    explorer: Explorer, number: int, start: int, selection: Selection, found: Found, deadline: float
) -> int | None:
    """Add the changes of a log from an offset on; return the offset at which to continue, None at the end of the log.

    The log is read in parts, so that an answer comes in time although nothing is found.
    """
    explored = explorer.logs[number]
    index = explored.index
    if index.format is None or start >= index.size:
        return None
    part: LogRange | None = index.range_at(start, RANGE_BYTES)
    while part is not None:
        last = start
        try:
            for change in _changes(explorer, explored, part, start, selection):
                is_full = len(found.hits) >= MAX_HITS or time.monotonic() >= deadline
                if is_full and change.pos != last:
                    return change.pos
                last = change.pos
                found.hits.append(
                    {"log": number, "name": explored.name, **json.loads(change_json(change), parse_int=_number)}
                )
        except BinlogError:
            if part.damage is None:
                raise
        part = index.next_range(part, RANGE_BYTES)
        if part is not None and time.monotonic() >= deadline:
            return part.start.offset
    return None


def _changes(
    explorer: Explorer, explored: ExploredLog, part: LogRange, start: int, selection: Selection
) -> Iterator[Change]:
    """Yield the changes of a part of a log that are not before an offset."""
    name = explored.source.name
    reader = BatchReader(selection.with_complete_rows(), explorer.definitions.at(explored, part.start.offset))
    with explored.opened() as file:
        for batches in by_window(read_part(reader, file, name, explored.index, part.bounds)):
            yield from (change for change in changes_of(batches, name) if change.pos >= start)


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_EXACT_DIGITS else digits
