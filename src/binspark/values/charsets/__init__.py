"""Text in all character sets of MySQL and MariaDB.

A column has a collation, which belongs to one character set; no id belongs to different character sets in the two
families. Bytes that are not valid text raise UnicodeDecodeError: what to do about them is the caller's policy.
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
"""All character sets of both families, by name."""

_CHARSET_OF: Mapping[int, str] = {
    collation: charset
    for charset, ranges in COLLATIONS.items()
    for first, last in ranges
    for collation in range(first, last + 1)
}


def charset_of(collation: int) -> str:
    """Return the name of the character set of a collation."""
    try:
        return _CHARSET_OF[collation]
    except KeyError:
        raise Unsupported(f"unknown collation {collation}") from None


def codec_of(collation: int) -> Codec:
    """Return the codec of the character set of a collation."""
    return CODECS[charset_of(collation)]


def decode_text(raw: bytes, collation: int) -> str:
    """Decode bytes in the character set of a collation."""
    return codec_of(collation).decode(raw)


def encode_text(text: str, collation: int) -> bytes:
    """Encode text as the bytes that servers store for it."""
    return codec_of(collation).encode(text)


@cache
def single_byte_table(charset: str) -> tuple[int, ...]:
    """Return the code point of each of the 256 bytes of a single-byte character set; -1 for none."""
    return tuple(-1 if character == NO_CHARACTER else ord(character) for character in decoding_text(charset))
