"""The counterpart of the cursor: appends fields to a buffer."""

from __future__ import annotations

import struct
from typing import Any
from uuid import UUID

from binspark.errors import EncodeError
from binspark.wire.layout import Layout
from binspark.wire.packed import encode_packed, encode_signed_varlen, encode_varlen


class Writer:
    """Writes what a cursor reads. A value that does not fit in its field is an `EncodeError`."""

    __slots__ = ("_buffer", "encoding")

    def __init__(self, encoding: str = "utf-8") -> None:
        self._buffer = bytearray()
        self.encoding = encoding

    def __len__(self) -> int:
        return len(self._buffer)

    def take(self) -> bytes:
        """Return all bytes that were written."""
        return bytes(self._buffer)

    def fields(self, layout: Layout, *values: Any) -> None:
        """Write one value for each field of a layout."""
        try:
            self._buffer += layout.pack(*values)
        except struct.error as error:
            named = ", ".join(f"{name}={value!r}" for name, value in zip(layout.names, values, strict=False))
            raise EncodeError(f"{error}: {named}") from None

    def u8(self, value: int) -> None:
        """Write an unsigned integer of 1 byte."""
        self.uint(value, 1)

    def u16(self, value: int) -> None:
        """Write an unsigned integer of 2 bytes, little-endian."""
        self.uint(value, 2)

    def u32(self, value: int) -> None:
        """Write an unsigned integer of 4 bytes, little-endian."""
        self.uint(value, 4)

    def u64(self, value: int) -> None:
        """Write an unsigned integer of 8 bytes, little-endian."""
        self.uint(value, 8)

    def i64(self, value: int) -> None:
        """Write a signed integer of 8 bytes, little-endian."""
        self._integer(value, 8, "little", signed=True)

    def f64(self, value: float) -> None:
        """Write a double of 8 bytes, little-endian."""
        self._buffer += struct.pack("<d", value)

    def uint(self, value: int, length: int) -> None:
        """Write an unsigned integer of `length` bytes, little-endian."""
        self._integer(value, length, "little", signed=False)

    def uint_be(self, value: int, length: int) -> None:
        """Write an unsigned integer of `length` bytes, big-endian."""
        self._integer(value, length, "big", signed=False)

    def packed(self, value: int) -> None:
        """Write a packed integer of 1, 3, 4 or 9 bytes."""
        self._buffer += encode_packed(value)

    def varlen(self, value: int) -> None:
        """Write an unsigned integer of variable length, 1 to 9 bytes."""
        self._buffer += encode_varlen(value)

    def signed_varlen(self, value: int) -> None:
        """Write a signed integer of variable length, 1 to 9 bytes."""
        self._buffer += encode_signed_varlen(value)

    def raw(self, value: bytes) -> None:
        """Write bytes as they are."""
        self._buffer += value

    def tagged(self, kind: int, value: bytes) -> None:
        """Write a field as its kind and its length, both packed integers, and its value."""
        self.packed(kind)
        self.packed(len(value))
        self.raw(value)

    def text(self, value: str) -> None:
        """Write text in the encoding of the log, without length or terminator."""
        self._buffer += self.encode_text(value)

    def encode_text(self, value: str) -> bytes:
        """Return the bytes of an identifier, whose length is written before it."""
        try:
            return value.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise EncodeError(f"{value!r} cannot be encoded as {self.encoding}: {error.reason}") from None

    def zero(self) -> None:
        """Write the zero byte that terminates text."""
        self._buffer.append(0)

    def uuid(self, value: str) -> None:
        """Write the 16 bytes of a UUID that is given in its text form."""
        self._buffer += UUID(value).bytes

    def _integer(self, value: int, length: int, order: Any, *, signed: bool) -> None:
        try:
            self._buffer += value.to_bytes(length, order, signed=signed)
        except OverflowError:
            kind = "a signed" if signed else "an unsigned"
            raise EncodeError(f"{value} does not fit in {kind} integer of {length} bytes") from None
