"""Events into changed rows: the reference path, one row at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from binspark.lazy import names_in

if TYPE_CHECKING:
    from binspark.changes.change import Change, change_json, key_json
    from binspark.changes.reader import ChangeReader

__all__ = ["Change", "ChangeReader", "change_json", "key_json"]

__getattr__ = names_in(
    __name__,
    {
        "change": "Change change_json key_json",
        "reader": "ChangeReader",
    },
)
