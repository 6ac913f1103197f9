"""The history of rows: changes of rows that meet a condition, such as `id = 42`, or that have a key value."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
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
from binspark.explore.row_match import Matched, Matches, RowMatch, parse_row_match
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
    return _search(explorer, _Wanted(make_selection(options, Surface.PYTHON)), cursor, seconds)


def rows_by_key(explorer: Explorer, text: str, cursor: Cursor, seconds: float = MAX_SECONDS) -> Found:
    """Return the changes of rows that have a key value, from a cursor on; `row_match` says how it is written."""
    match = parse_row_match(text)
    return _search(explorer, _Wanted(match.selection, match), cursor, seconds)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Which changes are wanted: those of a selection, and of these the ones that match."""

    selection: Selection
    match: RowMatch | None = None


def _search(explorer: Explorer, wanted: _Wanted, cursor: Cursor, seconds: float) -> Found:
    found = Found()
    deadline = time.monotonic() + seconds
    for number in range(cursor.log, len(explorer.logs)):
        start = cursor.offset if number == cursor.log else 0
        if not explorer.ensure_read(number, max(0.0, deadline - time.monotonic())):
            found.next = Cursor(number, start)
            return found
        after = _in_log(explorer, number, start, wanted, found, deadline)
        if after is not None:
            found.next = Cursor(number, after)
            return found
    return found


def _in_log(explorer: Explorer, number: int, start: int, wanted: _Wanted, found: Found, deadline: float) -> int | None:
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
            for change, matched in _changes(explorer, explored, part, start, wanted):
                is_full = len(found.hits) >= MAX_HITS or time.monotonic() >= deadline
                if is_full and change.pos != last:
                    return change.pos
                last = change.pos
                record = json.loads(change_json(change), parse_int=_number)
                image, column = (None, None) if matched is None else (matched.image.value, matched.column)
                found.hits.append({"log": number, "name": explored.name, "image": image, "column": column, **record})
        except BinlogError:
            if part.damage is None:
                raise
        part = index.next_range(part, RANGE_BYTES)
        if part is not None and time.monotonic() >= deadline:
            return part.start.offset
    return None


def _changes(
    explorer: Explorer, explored: ExploredLog, part: LogRange, start: int, wanted: _Wanted
) -> Iterator[tuple[Change, Matched | None]]:
    """Yield the changes of a part of a log that are not before an offset, and what of them was found."""
    name = explored.source.name
    reader = BatchReader(wanted.selection.with_complete_rows(), explorer.definitions.at(explored, part.start.offset))
    with explored.opened() as file:
        for batches in by_window(read_part(reader, file, name, explored.index, part.bounds)):
            matches: Matches = {}
            found = batches if wanted.match is None else [wanted.match.find(item, matches) for item in batches]
            for change in changes_of(found, name):
                if change.pos >= start:
                    yield change, matches.get((change.pos, change.row))


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_EXACT_DIGITS else digits
