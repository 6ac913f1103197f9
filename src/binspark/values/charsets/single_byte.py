"""The character sets of one byte a character: a table of 256 characters each.

Each is one of Python's codecs, corrected where the servers say something else. A byte for which the servers answer
U+FFFD (some of tis620) stands for no character here, and is refused like the bytes for which they answer `?`.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping

from binspark.values.charsets.codec import NO_CHARACTER, Codec, Layout
from binspark.values.charsets.collations import MAX_BYTES
from binspark.values.charsets.tables import SINGLE_BYTE


def single_byte_codecs() -> tuple[Codec, ...]:
    """Make the codec of every single-byte character set."""
    return tuple(_table_codec(charset, decoding_text(charset)) for charset in SINGLE_BYTE)


def decoding_text(charset: str) -> str:
    """Say which character each byte stands for: 256 characters, NO_CHARACTER where there is none."""
    python_name, differences = SINGLE_BYTE[charset]
    return _corrected(_python_table(python_name), differences)


def _python_table(python_name: str) -> list[str]:
    decoded = (bytes([byte]).decode(python_name, "replace") for byte in range(256))
    return [NO_CHARACTER if character == "\ufffd" else character for character in decoded]


def _corrected(table: list[str], differences: Mapping[int, str]) -> str:
    """Lay the runs of differing characters over the table, each from its first byte on."""
    for first, run in differences.items():
        table[first : first + len(run)] = run
    return "".join(table)


def _table_codec(charset: str, table: str) -> Codec:
    first_bytes = {ord(character): byte for byte, character in reversed(list(enumerate(table)))}
    first_bytes.pop(ord(NO_CHARACTER), None)

    def decode(raw: bytes) -> str:
        return codecs.charmap_decode(raw, "strict", table)[0]

    def encode(text: str) -> bytes:
        return codecs.charmap_encode(text, "strict", first_bytes)[0]

    return Codec(charset, Layout.SINGLE_BYTE, MAX_BYTES[charset], decode, encode)
