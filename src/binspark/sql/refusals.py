"""Statements that a script cannot contain, or cannot undo: why, and what to do instead."""

from __future__ import annotations

import re

from binspark.errors import CannotUndo, Unsupported
from binspark.event import Event
from binspark.hidden_secrets import hide_secrets
from binspark.position import Position, log_name
from binspark.schema.text import first_word
from binspark.sql.range_options import RangeOptions
from binspark.sql.transactions import one_line

_MAX_STATEMENT = 4096
_EMPTIES = re.compile(r"(?:TRUNCATE|DROP\s+(?:TABLE|DATABASE|SCHEMA)|CREATE\s+OR\s+REPLACE\s+TABLE)\b", re.IGNORECASE)


def refused_undo(event: Event, start: Position, range_options: RangeOptions) -> CannotUndo:
    """Return the error for a statement that is to be undone; its transaction begins at `start`."""
    text: str = event.body.query[:_MAX_STATEMENT].decode(errors="backslashreplace")
    rows = (
        ". The rows that it removed are not in the log: recover them from a backup with `binspark restore`"
        if _EMPTIES.match(text, first_word(text) or 0)
        else ""
    )
    return CannotUndo(
        f"cannot undo a statement: {one_line(hide_secrets(text))}; "
        f"{range_options.around(start, event)}; or leave it out with --skip-statements{rows}",
        event.position,
    )


def refused_load(event: Event) -> Unsupported:
    """Return the error for LOAD DATA that was logged as a statement."""
    where = f"--start-position {log_name(event.file)}:{event.offset}"
    return Unsupported(
        "LOAD DATA was logged as a statement with its file, which a script cannot contain; use --skip-statements, or "
        f"`binspark dump --local-load DIR {where}`, which writes the file, too",
        event.position,
    )
