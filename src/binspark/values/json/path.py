r"""Paths into JSON documents, as servers log them: `$.name."two words"[3][last-1]`.

A server quotes a name unless it is an identifier, with the escapes of JSON text. Syntax that servers never log is not
supported: wildcards, ranges, spaces between the parts.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TypeAlias

from binspark.errors import Malformed

_MAX_INDEX = (1 << 32) - 1

_LEG = re.compile(
    r"""
    \. (?P<name> [^\x00-\x20.\[*"\\]+ )
  | \. (?P<quoted> " (?: [^"\\\x00-\x1f] | \\["\\bfnrt] | \\u00[01][0-9a-f] )* " )
  | \[ (?P<index> [0-9]{1,10} ) \]
  | \[ last (?: - (?P<from_end> [0-9]{1,10} ) )? \]
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Member:
    """A step to the member of an object with this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A step to a cell of an array: the index counts from the first cell, or backwards from the last one."""

    index: int
    from_end: bool = False

    def index_in(self, length: int) -> tuple[int, bool]:
        """Return the index of the cell in an array of this length, and whether the array has it.

        If it has not, the index is the nearest one for an insert: the end of the array, or its beginning for a cell
        that is counted backwards.
        """
        if self.index < length:
            return (length - 1 - self.index if self.from_end else self.index), True
        return (0 if self.from_end else length), False


Leg: TypeAlias = Member | Cell


def parse_path(path: str) -> tuple[Leg, ...]:
    """Parse a path into the steps from the document to the value."""
    if not path.startswith("$"):
        raise Malformed(f"JSON path {path[:80]!r} does not begin with $")
    legs: list[Leg] = []
    offset = 1
    while offset < len(path):
        match = _LEG.match(path, offset)
        if match is None:
            raise Malformed(f"unsupported JSON path {path[:80]!r} at character {offset}")
        legs.append(_leg(match))
        offset = match.end()
    return tuple(legs)


def _leg(match: re.Match[str]) -> Leg:
    if match["name"] is not None:
        return Member(match["name"])
    if match["quoted"] is not None:
        return Member(json.loads(match["quoted"]))
    if match["index"] is not None:
        return Cell(_checked_index(match["index"]))
    return Cell(_checked_index(match["from_end"] or "0"), from_end=True)


def _checked_index(digits: str) -> int:
    index = int(digits)
    if index > _MAX_INDEX:
        raise Malformed(f"index {index} in a JSON path, expected at most {_MAX_INDEX}")
    return index
