r"""Paths into JSON documents, as servers log them: `$.name."two words"[3][last-1]`.

A server quotes a name unless it is an identifier, with the escapes that it uses in JSON text. What it never logs is
not read: wildcards, ranges, spaces between the parts.
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
    """The member of an object with this name."""

    name: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of an array: the index counts from the first cell, or from the last one backwards."""

    index: int
    from_end: bool = False

    def place(self, length: int) -> tuple[int, bool]:
        """Return the cell's place in an array of this length, the nearest one if it is outside, and whether it is in.

        The nearest place is the end of the array, or its beginning for an index that counts backwards.
        """
        if self.index < length:
            return (length - 1 - self.index if self.from_end else self.index), True
        return (0 if self.from_end else length), False


Leg: TypeAlias = Member | Cell


def parse_path(path: str) -> tuple[Leg, ...]:
    """Parse a path into the steps that lead from the document to the place."""
    if not path.startswith("$"):
        raise Malformed(f"a JSON path does not begin with $: {path[:80]!r}")
    legs: list[Leg] = []
    offset = 1
    while offset < len(path):
        match = _LEG.match(path, offset)
        if match is None:
            raise Malformed(f"a JSON path that no server logs: {path[:80]!r}, at character {offset}")
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
        raise Malformed(f"a JSON path names cell {index}, more than 32 bits hold")
    return index
