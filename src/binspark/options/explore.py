"""The options of the explorer in the browser."""

from __future__ import annotations

from binspark.options import values
from binspark.options.option import Option, Surface

_COMMAND_LINE = frozenset({Surface.COMMAND_LINE})

WEB_PORT = Option(
    name="web_port", parse=values.integer_in(0, 65535), metavar="NUMBER", surfaces=_COMMAND_LINE,
    default="any that is free", help="The port of this machine that the page is served on.",
)  # fmt: skip
EXPLORE_OPTIONS = (WEB_PORT,)
