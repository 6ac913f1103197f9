"""An explanation as text: a strip with the layout of the event, and a box with a row for each field.

Lines are lists of parts, each with the name of its style, so that a terminal can color them and a file need not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len

from binspark.frames import ChecksumState
from binspark.render.explain.explanation import Explanation, Field, Section
from binspark.render.explain.rows import VALUE_KIND

_BORDER = 1
_PADDING = 2
_BREAKS = "._-|"


@dataclass(frozen=True, slots=True)
class Grid:
    """A box whose columns have these widths, a blank on both sides of each."""

    widths: tuple[int, ...]

    @property
    def width(self) -> int:
        """The width of the box, with its borders."""
        return sum(self.widths) + _around(len(self.widths))

    def top(self) -> str:
        """Return the line above the first row."""
        return self._line("┌", "┬", "┐")

    def middle(self) -> str:
        """Return a line between two rows."""
        return self._line("├", "┼", "┤")

    def bottom(self) -> str:
        """Return the line below the last row."""
        return self._line("└", "┴", "┘")

    def _line(self, left: str, between: str, right: str) -> str:
        return left + between.join("─" * (width + _PADDING) for width in self.widths) + right


def cell_width(text: str) -> int:
    """Return how many columns of a terminal a text needs."""
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
        *full, line = _cut(word, width)
        lines += full
    return [*lines, line] if line else lines


def fit(needs: Sequence[int], least: Sequence[int], width: int) -> tuple[int, ...]:
    """Return column widths for a box of `width`: the widest columns shrink first, the last one gets the rest.

    No column becomes narrower than its least width.
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
    """Return the width of borders and padding."""
    return _BORDER + (_PADDING + _BORDER) * columns


def _cut(word: str, width: int) -> list[str]:
    """Cut one word into parts of at most `width`, after punctuation if there is some in the second half."""
    parts = [""]
    for letter in word:
        if cell_width(parts[-1] + letter) > width:
            last = parts[-1]
            cut = max(last.rfind(mark) + 1 for mark in _BREAKS)
            if cut <= len(last) // 2:
                cut = len(last)
            parts[-1:] = [last[:cut], last[cut:]]
        parts[-1] += letter
    return parts


_SHOWN_BYTES = 16
_SHOWN_CHARACTERS = 400


class Cells(NamedTuple):
    """The texts of one field."""

    offset: str
    hex: str
    field: str
    value: str
    meaning: str


HEADINGS = Cells("offset", "bytes", "field", "value", "meaning")


def cells_of(field: Field, *, full_hex: bool = False) -> Cells:
    """Return the cells of a field, without anything that a terminal would take for a control sequence."""
    return Cells(
        str(field.offset),
        hex_of(field.data, full=full_hex),
        printable(field.name),
        value_of(field),
        printable(field.meaning),
    )


def hex_of(data: bytes, *, full: bool = False) -> str:
    """Return bytes in hex; unless `full`, of more than a line only the first ones, and how many there are."""
    if full or len(data) <= _SHOWN_BYTES:
        return data.hex(" ")
    return f"{data[:_SHOWN_BYTES].hex(' ')} … {len(data):,} bytes"


def value_of(field: Field) -> str:
    """Return the value of a field: text in quotes, bytes by their number."""
    value = field.value
    if value is None:
        return "-"
    if isinstance(value, bytes):
        return counted(len(value), "byte")
    if not isinstance(value, str):
        return f"0x{value:08x}" if field.kind == "crc32" else str(value)
    if field.kind.startswith(VALUE_KIND):
        return shortened(value)
    return value if field.kind == "uuid" else quoted(value)


def counted(number: int, unit: str) -> str:
    """Return a number of things: `1 byte`, `2,048 bytes`."""
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def quoted(text: str) -> str:
    """Return text in quotes; of a long one only the beginning, and how long it is."""
    shown = printable(text[:_SHOWN_CHARACTERS])
    return f'"{shown}"' if len(text) <= _SHOWN_CHARACTERS else f'"{shown}" … {len(text):,} characters'


def shortened(text: str) -> str:
    """Return text; of a long one only the beginning, and how long it is."""
    shown = printable(text[:_SHOWN_CHARACTERS])
    return shown if len(text) <= _SHOWN_CHARACTERS else f"{shown} … {len(text):,} characters"


def printable(text: str) -> str:
    """Return text with everything that does not print written as an escape."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


class Part(NamedTuple):
    """Some text in one style: a key of STYLES."""

    text: str
    style: str = ""


Line = list[Part]

STYLES = {
    "": "",
    "frame": "bright_black",
    "title": "bold",
    "position": "cyan",
    "summary": "italic",
    "section": "bold magenta",
    "heading": "bright_black",
    "offset": "bright_black",
    "hex": "cyan",
    "field": "bold",
    "value": "green",
    "meaning": "",
    "ok": "green",
    "bad": "bold red",
}
"""The styles, as rich understands them."""

Sections = list[tuple[Section, tuple[Field, ...]]]
Row = list[list[Part]]

NARROWEST = 64
WIDEST = 160
_WIDE_FROM = 110
_HEX_WIDTH = 23  # eight bytes a line
_NARROW_HEX_WIDTH = 11  # four
_ROOMY_NAME, _ROOMY_VALUE, _ROOMY_MEANING = 30, 36, 20
_LEAST = 12


def text_lines(explanation: Explanation, width: int, *, full_hex: bool = False) -> Iterator[Line]:
    """Yield the lines of an explanation, none wider than `width` (or than NARROWEST, if that is more).

    With `full_hex` all bytes of each field are shown.
    """
    width = min(max(width, NARROWEST), WIDEST)
    yield from _title(explanation, width)
    if explanation.error is not None:
        for text in fold(f"error: {printable(explanation.error)}", width):
            yield [Part(text, "bad")]
    sections = list(explanation.sections())
    if len(sections) > 1:
        yield from _strip(sections, width)
    if sections:
        yield from _box(sections, width, full_hex=full_hex)


def _title(explanation: Explanation, width: int) -> Iterator[Line]:
    inside = "" if explanation.inner is None else f"event {explanation.inner} of the payload "
    position = f"  {inside}at {explanation.pos}, {_size(explanation.fields)}"
    title = [Part(explanation.type, "title"), Part(position, "position"), *_verdict(explanation.checksum)]
    if sum(len(part.text) for part in title) <= width:
        yield title
    else:
        yield from ([part] for part in title)
    for text in fold(printable(explanation.summary), width):
        yield [Part(text, "summary")]


def _verdict(checksum: ChecksumState) -> Line:
    if checksum is ChecksumState.NONE:
        return []
    return [Part(f"  checksum {checksum.value}", checksum.value)]


def _strip(sections: Sections, width: int) -> Iterator[Line]:
    """Draw the sections side by side, with their offsets below."""
    names = [section.value for section, _ in sections]
    sizes = [_size(fields) for _, fields in sections]
    offsets = [str(fields[0].offset) for _, fields in sections]
    grid = Grid(tuple(max(map(len, column)) for column in zip(names, sizes, offsets, strict=True)))
    below = "".join(offset.ljust(span + 3) for offset, span in zip(offsets, grid.widths, strict=True))
    below += str(sections[-1][1][-1].end)
    if max(grid.width, len(below)) > width:
        return
    yield [Part(grid.top(), "frame")]
    yield _row(grid, [Part(name, "section") for name in names])
    yield _row(grid, [Part(size) for size in sizes])
    yield [Part(grid.bottom(), "frame")]
    yield [Part(below, "offset")]


def _box(sections: Sections, width: int, *, full_hex: bool) -> Iterator[Line]:
    """Draw all fields in one box, each section under its name."""
    columns = _wide if width >= _WIDE_FROM else _narrow
    rows = [[columns(field, cells_of(field, full_hex=full_hex)) for field in fields] for _, fields in sections]
    headings = columns(None, HEADINGS)
    grid = Grid(_column_widths([headings, *(row for part in rows for row in part)], width))
    yield [Part(grid.top(), "frame")]
    yield from _rows(grid, headings)
    for (section, fields), part in zip(sections, rows, strict=True):
        yield _divider(grid, f" {section.value} · {_size(fields)} ")
        for row in part:
            yield from _rows(grid, row)
    yield [Part(grid.bottom(), "frame")]


def _wide(field: Field | None, cells: Cells) -> Row:
    """Return five columns."""
    styles = _styles(field)
    return [[Part(text, style)] for text, style in zip(cells, styles, strict=True)]


def _narrow(field: Field | None, cells: Cells) -> Row:
    """Return four columns: the meaning is below the value."""
    *others, value, meaning = _wide(field, cells)
    return [*others, [*value, *meaning]]


def _styles(field: Field | None) -> tuple[str, ...]:
    if field is None:
        return ("heading",) * len(HEADINGS)
    return ("offset", "hex", "field", "value", _meaning_style(field))


def _meaning_style(field: Field) -> str:
    if field.section is Section.UNDECODED:
        return "bad"
    if field.section is Section.CHECKSUM:
        return "bad" if field.meaning.startswith(ChecksumState.BAD.value) else "ok"
    return "meaning"


def _column_widths(rows: list[Row], width: int) -> tuple[int, ...]:
    """Give names and values their full width if possible; meanings are folded first."""
    needs = [
        min(max(cell_width(part.text) for row in rows for part in row[index]), width) for index in range(len(rows[0]))
    ]
    needs[1] = min(needs[1], _HEX_WIDTH if width >= _WIDE_FROM else _NARROW_HEX_WIDTH)
    roomy = [*needs[:2], min(needs[2], _ROOMY_NAME), *(min(need, _ROOMY_VALUE) for need in needs[3:])]
    roomy[-1] = min(roomy[-1], _ROOMY_MEANING)
    widths = fit(needs, roomy, width)
    return widths if Grid(widths).width <= width else fit(needs, [*needs[:2], *[_LEAST] * (len(needs) - 2)], width)


def _divider(grid: Grid, label: str) -> Line:
    line = grid.middle()
    return [Part(line[:2], "frame"), Part(label, "section"), Part(line[2 + len(label) :], "frame")]


def _rows(grid: Grid, row: Row) -> Iterator[Line]:
    """Yield the lines of a row: as many as its longest column needs."""
    columns = [
        [Part(text, part.style) for part in column for text in fold(part.text, width)]
        for column, width in zip(row, grid.widths, strict=True)
    ]
    for index in range(max(map(len, columns))):
        yield _row(grid, [column[index] if index < len(column) else Part("") for column in columns])


def _row(grid: Grid, parts: list[Part]) -> Line:
    line = [Part("│", "frame")]
    for part, width in zip(parts, grid.widths, strict=True):
        line += [Part(" "), part, Part(" " * (width - cell_width(part.text)) + " │", "frame")]
    return line


def _size(fields: Sequence[Field]) -> str:
    return counted(sum(len(field.data) for field in fields), "byte")
