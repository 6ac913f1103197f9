"""Events into changed rows, one row at a time, in plain Python; and the options that select rows.

module             what it defines
change             a changed row
lines              changed rows as lines, of JSON and for people
reader             changed rows out of events
selection_options  the options that select rows, for the command line, Python and Spark
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from binspark.lazy import names_in

if TYPE_CHECKING:
    from binspark.changes.change import Change, key_json
    from binspark.changes.lines import change_heading, change_json, change_line
    from binspark.changes.reader import ChangeReader

__all__ = ["Change", "ChangeReader", "change_heading", "change_json", "change_line", "key_json"]

__getattr__ = names_in(
    __name__,
    {
        "change": "Change key_json",
        "lines": "change_heading change_json change_line",
        "reader": "ChangeReader",
    },
)
