"""Boxes of fixed columns: their lines, folded text, and how wide each column may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

_BORDER = 1
_PADDING = 2
_BREAKS = "._-|"


@dataclass(frozen=True, slots=True)
class Grid:
    """A box whose columns have these widths, a blank on both sides of each."""

    widths: tuple[int, ...]

    @property
    def width(self) -> int:
        return sum(self.widths) + _around(len(self.widths))

    def top(self) -> str:
        return self._line("┌", "┬", "┐")

    def middle(self) -> str:
        return self._line("├", "┼", "┤")

    def bottom(self) -> str:
        return self._line("└", "┴", "┘")

    def _line(self, left: str, between: str, right: str) -> str:
        return left + between.join("─" * (width + _PADDING) for width in self.widths) + right


def cell_width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return len(text) if text.isascii() else cell_len(text)


def fold(text: str, width: int) -> list[str]:
    """Cut text into lines of at most `width`: between words if possible, else anywhere."""
    if cell_width(text) <= width:
        return [text] if text else []
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if cell_width(longer) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        *whole, line = _cut(word, width)
        lines += whole
    return [*lines, line] if line else lines


def fit(needs: Sequence[int], least: Sequence[int], width: int) -> tuple[int, ...]:
    """Return column widths whose box is `width` wide: the widest column gives way first, the last takes what is left.

    No column gets narrower than its least width.
    """
    widths = list(needs)
    room = width - _around(len(widths))
    while sum(widths) > room:
        spare = [have - low for have, low in zip(widths, least, strict=True)]
        if max(spare) <= 0:
            break
        widest = max((index for index, left in enumerate(spare) if left > 0), key=lambda index: widths[index])
        widths[widest] -= 1
    widths[-1] += max(0, room - sum(widths))
    return tuple(widths)


def _around(columns: int) -> int:
    """Return how much of a row is not text."""
    return _BORDER + (_PADDING + _BORDER) * columns


def _cut(word: str, width: int) -> list[str]:
    """Cut one word into pieces of at most `width`, behind a dot or a line if there is one far enough."""
    pieces = [""]
    for letter in word:
        if cell_width(pieces[-1] + letter) > width:
            last = pieces[-1]
            cut = max(last.rfind(mark) + 1 for mark in _BREAKS)
            if cut <= len(last) // 2:
                cut = len(last)
            pieces[-1:] = [last[:cut], last[cut:]]
        pieces[-1] += letter
    return pieces
