"""The character sets with one byte per character: a table of 256 characters each.

Each is one of Python's codecs, corrected where the servers differ. Bytes that servers convert to U+FFFD (some of
tis620) are not characters here, like the bytes that they convert to `?`.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from functools import cache

from binspark.values.charsets.codec import NO_CHARACTER, Codec, Layout
from binspark.values.charsets.collations import MAX_BYTES
from binspark.values.charsets.tables import SINGLE_BYTE


def single_byte_codecs() -> tuple[Codec, ...]:
    """Return the codecs of all single-byte character sets."""
    return tuple(_table_codec(charset) for charset in SINGLE_BYTE)


@cache
def decoding_text(charset: str) -> str:
    """Return the character of each byte: 256 characters, NO_CHARACTER if there is none."""
    python_name, differences = SINGLE_BYTE[charset]
    return _corrected(_python_table(python_name), differences)


def _python_table(python_name: str) -> list[str]:
    decoded = (bytes([byte]).decode(python_name, "replace") for byte in range(256))
    return [NO_CHARACTER if character == "\ufffd" else character for character in decoded]


def _corrected(table: list[str], differences: Mapping[int, str]) -> str:
    """Return the table with the characters that differ, given as consecutive characters from a first byte on."""
    for first, characters in differences.items():
        table[first : first + len(characters)] = characters
    return "".join(table)


def _table_codec(charset: str) -> Codec:
    """Return the codec of a character set, which makes its table when it is first used."""

    def decode(raw: bytes) -> str:
        return codecs.charmap_decode(raw, "strict", decoding_text(charset))[0]

    def encode(text: str) -> bytes:
        return codecs.charmap_encode(text, "strict", _first_bytes(charset))[0]

    return Codec(charset, Layout.SINGLE_BYTE, MAX_BYTES[charset], decode, encode)


@cache
def _first_bytes(charset: str) -> dict[int, int]:
    """Return the byte of each character: the first one if several are the same character."""
    first_bytes = {ord(character): byte for byte, character in reversed(list(enumerate(decoding_text(charset))))}
    first_bytes.pop(ord(NO_CHARACTER), None)
    return first_bytes
