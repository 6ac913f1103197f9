"""The options of `cut`."""

from __future__ import annotations

from binspark.options import values
from binspark.options.option import Option, Surface

_NOT_IN_SPARK = frozenset({Surface.COMMAND_LINE})

DROP_EMPTY = Option(
    name="drop_empty", parse=values.flag, metavar="", default="false", surfaces=_NOT_IN_SPARK,
    help="Remove transactions of which nothing is left. Otherwise their GTIDs are kept, without changes, so that a "
    "replica does not miss them.",
)  # fmt: skip
