"""The history of rows: the changes of a table's rows that meet a condition, such as `id = 42`."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

from binspark.changes.lines import change_json
from binspark.changes.selection_options import make_selection
from binspark.errors import BinlogError, OptionError
from binspark.explore.explorer import Explorer
from binspark.explore.search import MAX_HITS, MAX_SECONDS, Cursor, Found
from binspark.files.changes import changes_in_bulk
from binspark.options.option import Surface
from binspark.schema.history import SchemaHistory

_MAX_EXACT_DIGITS = 15
"""Numbers in a browser are exact up to so many digits; longer ones are sent as text."""


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
    history = SchemaHistory()
    for number in range(cursor.log, len(explorer.logs)):
        explored = explorer.logs[number]
        start = cursor.offset if number == cursor.log else 0
        source = replace(explored.source, start=start, stop=explored.index.end or None)
        last = start
        try:
            for change in changes_in_bulk([source], selection, history, None):
                is_full = len(found.hits) >= MAX_HITS or time.monotonic() >= deadline
                if is_full and change.pos != last:
                    found.next = Cursor(number, change.pos)
                    return found
                last = change.pos
                found.hits.append(
                    {"log": number, "name": explored.name, **json.loads(change_json(change), parse_int=_number)}
                )
        except BinlogError as error:
            if explored.index.damage is None:
                raise error
    return found


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_EXACT_DIGITS else digits
