"""Consecutive little-endian fields of fixed size, read and written in one step."""

from __future__ import annotations

from struct import Struct
from typing import Any

from binspark.wire.meaning import Meaning

_KINDS = {
    "B": "uint8",
    "H": "uint16",
    "I": "uint32",
    "Q": "uint64",
    "b": "int8",
    "h": "int16",
    "i": "int32",
    "q": "int64",
    "f": "float",
    "d": "double",
}


class Layout:
    """Named fields of fixed size, one after the other, as `struct` codes without padding.

    `Layout(("seed1", "Q"), ("seed2", "Q"))` is sixteen bytes. An optional third item is the meaning for `explain`.
    """

    __slots__ = ("kinds", "meanings", "names", "sizes", "struct")

    def __init__(self, *columns: tuple[str, str] | tuple[str, str, Meaning]) -> None:
        self.names = tuple(column[0] for column in columns)
        self.meanings: tuple[Meaning, ...] = tuple(column[2] if len(column) == 3 else None for column in columns)
        self.kinds = tuple(_KINDS[column[1]] for column in columns)
        self.sizes = tuple(Struct("<" + column[1]).size for column in columns)
        self.struct = Struct("<" + "".join(column[1] for column in columns))

    @property
    def size(self) -> int:
        """The number of bytes of all fields together."""
        return self.struct.size

    def pack(self, *values: Any) -> bytes:
        """Return the bytes of one value for each field."""
        return self.struct.pack(*values)
