"""The character sets of Unicode, where Python's codecs and the servers differ only in what is invalid.

A surrogate is not a character, so it is invalid everywhere. It is for MySQL, too, except that a ucs2 column stores it
and converts it to NULL; MariaDB accepts it in utf8mb3, utf8mb4, ucs2 and utf32.
"""

from __future__ import annotations

import re

from binspark.values.charsets.codec import Codec, Layout, python_codec
from binspark.values.charsets.collations import MAX_BYTES

_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")
"""Characters that need four bytes in UTF-8 and two units in UTF-16: utf8mb3 and ucs2 do not have them."""


def unicode_codecs() -> tuple[Codec, ...]:
    """Return the codecs of ascii, of the UTF family, and of binary."""
    return (
        python_codec("ascii", Layout.UTF8, "ascii"),
        _bmp_codec("utf8mb3", Layout.UTF8, "utf-8"),
        python_codec("utf8mb4", Layout.UTF8, "utf-8"),
        _bmp_codec("ucs2", Layout.FIXED, "utf-16-be"),
        python_codec("utf16", Layout.FIXED, "utf-16-be"),
        python_codec("utf16le", Layout.FIXED, "utf-16-le"),
        python_codec("utf32", Layout.FIXED, "utf-32-be"),
        python_codec("binary", Layout.BINARY, "utf-8"),
    )


def _bmp_codec(charset: str, layout: Layout, python_name: str) -> Codec:
    """Return one of Python's codecs without the characters beyond U+FFFF."""

    def decode(raw: bytes) -> str:
        text = raw.decode(python_name)
        beyond = _BEYOND_BMP.search(text)
        if beyond:
            start = len(text[: beyond.start()].encode(python_name))
            raise UnicodeDecodeError(charset, raw, start, start + 4, "the character set ends at U+FFFF")
        return text

    def encode(text: str) -> bytes:
        beyond = _BEYOND_BMP.search(text)
        if beyond:
            raise UnicodeEncodeError(charset, text, *beyond.span(), "the character set ends at U+FFFF")
        return text.encode(python_name)

    return Codec(charset, layout, MAX_BYTES[charset], decode, encode)
