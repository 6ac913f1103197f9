"""Warnings in Python about tables and columns that a call names and that no table in its logs has."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from binspark.columns.selection import Selection
from binspark.errors import BinlogWarning
from binspark.options.option import Surface, frames_to_caller

_Item = TypeVar("_Item")


class UnmatchedWarning(BinlogWarning):
    """A table or a column that options name was not found in what was read."""


def warning_at_end(items: Iterable[_Item], selection: Selection, tables: str = "tables") -> Iterator[_Item]:
    """Yield items; after the last one, warn as `warn_of_unmatched`."""
    yield from items
    warn_of_unmatched(selection, tables)


def warn_of_unmatched(selection: Selection, tables: str = "tables") -> None:
    """Warn the Python code that called binspark of what the selection names and no table that was read has.

    `tables` is the option by which the caller named the tables.
    """
    for found in selection.unmatched():
        named = replace(found, option=tables) if found.option == "tables" else found
        warnings.warn(named.message(Surface.PYTHON), UnmatchedWarning, stacklevel=frames_to_caller())
