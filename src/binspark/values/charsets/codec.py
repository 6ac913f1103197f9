"""The codec of a character set: its name, the layout of its bytes, and functions to and from text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from binspark.values.charsets.collations import MAX_BYTES

NO_CHARACTER = "\ufffe"
"""The mark in a table for bytes without a character, as Python's charmap codec defines it."""


class Layout(Enum):
    """How the bytes of a character set represent characters, as far as a kernel can use it."""

    UTF8 = "utf8"
    """The bytes are UTF-8, with sequences of at most `max_bytes`: ascii, utf8mb3, utf8mb4."""

    SINGLE_BYTE = "single byte"
    """Every byte is a character: see `single_byte_table`."""

    MULTI_BYTE = "multi byte"
    """The first byte of a character determines how many follow."""

    FIXED = "fixed"
    """Units of two or four bytes: ucs2, utf16, utf16le, utf32."""

    BINARY = "binary"
    """Not text. If text is needed nevertheless, servers treat the bytes as UTF-8, and so does binspark."""


@dataclass(frozen=True, slots=True)
class Codec:
    """A character set of the servers.

    decode  raises UnicodeDecodeError for bytes that are not valid text
    encode  raises UnicodeEncodeError for characters that the character set does not have; the result decodes to the
            same text, and is what servers store for it
    """

    charset: str
    layout: Layout
    max_bytes: int
    decode: Callable[[bytes], str]
    encode: Callable[[str], bytes]


def python_codec(charset: str, layout: Layout, python_name: str) -> Codec:
    """Return a codec that is one of Python's, unchanged."""

    def decode(raw: bytes) -> str:
        return raw.decode(python_name)

    def encode(text: str) -> bytes:
        return text.encode(python_name)

    return Codec(charset, layout, MAX_BYTES[charset], decode, encode)
