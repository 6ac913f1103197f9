"""The only way to read bytes: forwards, field by field, never past the end."""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import Any, Self
from uuid import UUID

from binspark.errors import Malformed, Truncated
from binspark.position import Position
from binspark.wire.layout import Layout
from binspark.wire.meaning import Meaning, quantity
from binspark.wire.packed import decode_varlen, packed_tail_length, unsigned_to_signed, varlen_length

_U16 = Struct("<H")
_U32 = Struct("<I")
_U64 = Struct("<Q")
_I64 = Struct("<q")
_F64 = Struct("<d")


@lru_cache(maxsize=256)
def _uuid_text(raw: bytes) -> str:
    return str(UUID(bytes=raw))


class Cursor:
    """Reads fields from `data[offset:end]`. Every method takes the field's name and consumes its bytes, or raises.

    It raises `Truncated` if fewer bytes remain than the field needs, and `Malformed` if the bytes are not valid for the
    field. The meaning that some methods take is for `explain`; only a recording cursor uses it.
    """

    __slots__ = ("data", "encoding", "end", "offset")

    def __init__(self, data: bytes, offset: int = 0, end: int | None = None, encoding: str = "utf-8") -> None:
        self.data = data
        self.offset = offset
        self.end = len(data) if end is None else end
        self.encoding = encoding

    @property
    def remaining(self) -> int:
        """The number of bytes that are not read yet."""
        return self.end - self.offset

    def fields(self, layout: Layout) -> tuple[Any, ...]:
        """Read all fields of a fixed layout."""
        start = self.offset
        stop = start + layout.struct.size
        if stop > self.end:
            raise self._too_short(layout.names[0], layout.struct.size)
        self.offset = stop
        return layout.struct.unpack_from(self.data, start)

    def u8(self, name: str, meaning: Meaning = None) -> int:
        """Read an unsigned integer of 1 byte."""
        start = self.offset
        if start >= self.end:
            raise self._too_short(name, 1)
        self.offset = start + 1
        return self.data[start]

    def u16(self, name: str, meaning: Meaning = None) -> int:
        """Read an unsigned integer of 2 bytes, little-endian."""
        value: int = _U16.unpack_from(self.data, self._advance(name, 2))[0]
        return value

    def u32(self, name: str, meaning: Meaning = None) -> int:
        """Read an unsigned integer of 4 bytes, little-endian."""
        value: int = _U32.unpack_from(self.data, self._advance(name, 4))[0]
        return value

    def u64(self, name: str, meaning: Meaning = None) -> int:
        """Read an unsigned integer of 8 bytes, little-endian."""
        value: int = _U64.unpack_from(self.data, self._advance(name, 8))[0]
        return value

    def i64(self, name: str, meaning: Meaning = None) -> int:
        """Read a signed integer of 8 bytes, little-endian."""
        value: int = _I64.unpack_from(self.data, self._advance(name, 8))[0]
        return value

    def f64(self, name: str, meaning: Meaning = None) -> float:
        """Read a double of 8 bytes, little-endian."""
        value: float = _F64.unpack_from(self.data, self._advance(name, 8))[0]
        return value

    def uint(self, name: str, length: int, meaning: Meaning = None) -> int:
        """Read a little-endian unsigned integer of any length."""
        start = self._advance(name, length)
        return int.from_bytes(self.data[start : start + length], "little")

    def uint_be(self, name: str, length: int, meaning: Meaning = None) -> int:
        """Read a big-endian unsigned integer of any length."""
        start = self._advance(name, length)
        return int.from_bytes(self.data[start : start + length], "big")

    def packed(self, name: str, meaning: Meaning = None) -> int:
        """Read a packed integer (see `binspark.wire.packed`)."""
        start = self.offset
        if start >= self.end:
            raise self._too_short(name, 1)
        first = self.data[start]
        if first < 251:
            self.offset = start + 1
            return first
        tail = packed_tail_length(first)
        if tail < 0:
            raise self.malformed(f"{name} begins with 0x{first:02x}, expected a packed integer")
        self._advance(name, 1 + tail)
        return int.from_bytes(self.data[start + 1 : self.offset], "little")

    def varlen(self, name: str, meaning: Meaning = None) -> int:
        """Read an unsigned varlen integer (see `binspark.wire.packed`)."""
        start = self.offset
        if start >= self.end:
            raise self._too_short(name, 1)
        self._advance(name, varlen_length(self.data[start]))
        return decode_varlen(self.data[start : self.offset])

    def signed_varlen(self, name: str, meaning: Meaning = None) -> int:
        """Read a signed varlen integer."""
        # Not self.varlen: a recording cursor overrides both and would record the field twice. So below.
        return unsigned_to_signed(Cursor.varlen(self, name))

    def raw(self, name: str, length: int, meaning: Meaning = None) -> bytes:
        """Read exactly `length` bytes."""
        start = self.offset
        stop = start + length
        if stop > self.end:
            raise self._too_short(name, length)
        self.offset = stop
        return self.data[start:stop]

    def rest(self, name: str, meaning: Meaning = None) -> bytes:
        """Read all remaining bytes."""
        start = self.offset
        self.offset = self.end
        return self.data[start : self.end]

    def text(self, name: str, length: int, meaning: Meaning = None) -> str:
        """Read an identifier: text in the character set that the server uses for names."""
        start = self.offset
        stop = start + length
        if stop > self.end:
            raise self._too_short(name, length)
        raw = self.data[start:stop]
        try:
            value = raw.decode(self.encoding)
        except UnicodeDecodeError:
            raise self.malformed(f"{name} is not valid {self.encoding}: 0x{raw.hex()}") from None
        self.offset = stop
        return value

    def rest_text(self, name: str, meaning: Meaning = None) -> str:
        """Read all that remains as text."""
        return Cursor.text(self, name, self.end - self.offset)

    def until_zero(self, name: str, meaning: Meaning = None) -> str:
        """Read text up to a zero byte, which is consumed but not returned."""
        stop = self.data.find(b"\0", self.offset, self.end)
        if stop < 0:
            raise Truncated(f"{name} has no terminating zero byte", Position(offset=self.offset))
        value = Cursor.text(self, name, stop - self.offset)
        self.offset = stop + 1
        return value

    def zero(self, name: str) -> None:
        """Read the zero byte that ends a text."""
        at = self.offset
        if at >= self.end:
            raise self._too_short(name, 1)
        if self.data[at] != 0:
            raise self.malformed(f"{name} is 0x{self.data[at]:02x}, expected a zero byte at the end of the text")
        self.offset = at + 1

    def uuid(self, name: str, meaning: Meaning = None) -> str:
        """Read the 16 bytes of a UUID; return it in its text form, in lower case."""
        start = self._advance(name, 16)
        return _uuid_text(self.data[start : start + 16])

    def sub(self, name: str, length: int) -> Self:
        """Return a cursor over the next `length` bytes and skip them."""
        start = self._advance(name, length)
        return self._over(start, self.offset)

    def enter(self, name: str, index: int | None = None) -> None:
        """Begin a group of fields called `name`. Only a recording cursor uses it."""

    def leave(self) -> None:
        """End the group of the last `enter`."""

    def expect_end(self) -> None:
        """Raise `Malformed` if bytes remain."""
        if self.offset != self.end:
            raise self.malformed(f"unexpected {_count(self.remaining)} after the last field")

    def malformed(self, message: str) -> Malformed:
        """Return an error with the current offset."""
        return Malformed(message, Position(offset=self.offset))

    def _over(self, start: int, end: int) -> Self:
        return type(self)(self.data, start, end, self.encoding)

    def _advance(self, name: str, length: int) -> int:
        start = self.offset
        stop = start + length
        if stop > self.end:
            raise self._too_short(name, length)
        self.offset = stop
        return start

    def _too_short(self, name: str, length: int) -> Truncated:
        message = f"{name} needs {_count(length)}, only {self.remaining} remain"
        return Truncated(message, Position(offset=self.offset))


_count = quantity("byte")
