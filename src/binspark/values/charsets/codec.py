"""What every character set is to a decoder: a name, how its bytes are laid out, and the way to and from text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from binspark.values.charsets.collations import MAX_BYTES

NO_CHARACTER = "\ufffe"
"""What stands in a table for bytes without a character; Python's charmap codec reads it so."""


class Layout(Enum):
    """How the bytes of a character set stand for characters, as far as a bulk decoder can use it."""

    UTF8 = "utf8"
    """The bytes are UTF-8 already, with sequences of at most `max_bytes`: ascii, utf8mb3, utf8mb4."""

    SINGLE_BYTE = "single byte"
    """Every byte is a character: `single_byte_table` says which."""

    MULTI_BYTE = "multi byte"
    """The first byte of a character says how many follow."""

    FIXED = "fixed"
    """Units of two or four bytes: ucs2, utf16, utf16le, utf32."""

    BINARY = "binary"
    """No text at all. Where text is wanted all the same, the servers take the bytes for UTF-8, and so do we."""


@dataclass(frozen=True, slots=True)
class Codec:
    """A character set of the servers.

    decode  raises UnicodeDecodeError for bytes that stand for no text
    encode  raises UnicodeEncodeError for text that the character set does not have; what it returns decodes to the
            same text, and is what the servers store for it
    """

    charset: str
    layout: Layout
    max_bytes: int
    decode: Callable[[bytes], str]
    encode: Callable[[str], bytes]


def python_codec(charset: str, layout: Layout, python_name: str) -> Codec:
    """Take Python's codec as it is."""

    def decode(raw: bytes) -> str:
        return raw.decode(python_name)

    def encode(text: str) -> bytes:
        return text.encode(python_name)

    return Codec(charset, layout, MAX_BYTES[charset], decode, encode)
