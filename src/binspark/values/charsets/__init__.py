"""Text in every character set of both servers.

A column names its text by a collation; a collation belongs to one character set, and no id means different character
sets in the two families. Bytes that stand for no text raise UnicodeDecodeError: what then happens is the caller's
policy, and `replace` gives U+FFFD.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from binspark.errors import Unsupported
from binspark.values.charsets.codec import NO_CHARACTER, Codec, Layout
from binspark.values.charsets.collations import COLLATIONS
from binspark.values.charsets.multi_byte import multi_byte_codecs
from binspark.values.charsets.single_byte import decoding_text, single_byte_codecs
from binspark.values.charsets.unicode import unicode_codecs

__all__ = ["CODECS", "Codec", "Layout", "charset_of", "codec_of", "decode_text", "encode_text", "single_byte_table"]

CODECS: Mapping[str, Codec] = {
    codec.charset: codec for codec in (*unicode_codecs(), *single_byte_codecs(), *multi_byte_codecs())
}
"""Every character set that a server of either family has, by its name."""

_CHARSET_OF: Mapping[int, str] = {
    collation: charset
    for charset, ranges in COLLATIONS.items()
    for first, last in ranges
    for collation in range(first, last + 1)
}


def charset_of(collation: int) -> str:
    """Name the character set that a collation belongs to."""
    try:
        return _CHARSET_OF[collation]
    except KeyError:
        raise Unsupported(f"collation {collation} is not known") from None


def codec_of(collation: int) -> Codec:
    """Find the codec of the character set that a collation belongs to."""
    return CODECS[charset_of(collation)]


def decode_text(raw: bytes, collation: int) -> str:
    """Turn the bytes of a column into text."""
    return codec_of(collation).decode(raw)


def encode_text(text: str, collation: int) -> bytes:
    """Turn text into the bytes that the servers store for it."""
    return codec_of(collation).encode(text)


@cache
def single_byte_table(charset: str) -> tuple[int, ...]:
    """Say which code point each of the 256 bytes of a single-byte character set stands for; -1 for none."""
    return tuple(-1 if character == NO_CHARACTER else ord(character) for character in decoding_text(charset))
