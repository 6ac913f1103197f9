"""The cells of a field as people read them, whatever they are drawn on."""

from __future__ import annotations

from typing import NamedTuple

from binspark.render.explain import Field

_SHOWN_BYTES = 16
_SHOWN_CHARACTERS = 400


class Cells(NamedTuple):
    """One field: where it is, its bytes, its name, its value, what that means."""

    offset: str
    hex: str
    field: str
    value: str
    meaning: str


HEADINGS = Cells("offset", "bytes", "field", "value", "meaning")


def cells_of(field: Field) -> Cells:
    """Return the cells of a field. They hold nothing that a terminal could take for a command."""
    return Cells(
        str(field.offset), hex_of(field.data), printable(field.name), value_of(field), printable(field.meaning)
    )


def hex_of(data: bytes) -> str:
    """Return bytes in hex; of many only the first ones, and how many there are."""
    if len(data) <= _SHOWN_BYTES:
        return data.hex(" ")
    return f"{data[:_SHOWN_BYTES].hex(' ')} … {len(data):,} bytes"


def value_of(field: Field) -> str:
    """Return the value of a field: text in quotes, bytes by their number."""
    value = field.value
    if isinstance(value, bytes):
        return counted(len(value), "byte")
    if not isinstance(value, str):
        return f"0x{value:08x}" if field.kind == "crc32" else str(value)
    return value if field.kind == "uuid" else quoted(value)


def counted(number: int, unit: str) -> str:
    """Return a number of things: `1 byte`, `2,048 bytes`."""
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def quoted(text: str) -> str:
    """Return text in quotes; of a long one only the beginning, and how long it is."""
    shown = printable(text[:_SHOWN_CHARACTERS])
    return f'"{shown}"' if len(text) <= _SHOWN_CHARACTERS else f'"{shown}" … {len(text):,} characters'


def printable(text: str) -> str:
    """Return text with everything that does not print written as an escape."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
