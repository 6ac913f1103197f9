"""Names and text as SQL that means the same in every sql_mode.

A name is in backticks. Text is in single quotes, with a quote in it doubled. Text with a backslash, which is an escape
in some modes and a character in others, or with control characters, is written in hexadecimal, with its character set.
"""

from __future__ import annotations

import re
from functools import lru_cache

from binspark.errors import Unsupported
from binspark.values.charsets import charset_of
from binspark.values.column import BINARY_COLLATION

_UTF8 = frozenset({"utf8mb4", "utf8mb3"})
_WIDE = {"ucs2": "utf-16-be", "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be"}
_OWN_LETTERS = frozenset({"swe7"})
_SAFE_ASCII = re.compile(rb"[ -\[\]-}]*")  # neither a backslash nor a tilde, which some character sets lack
_UNSAFE = re.compile(rb"[\x00-\x1f\x7f\\]")


def quoted_name(name: str) -> str:
    """Return the name of a column, table or database as an identifier.

    >>> quoted_name("odd`name")
    '`odd``name`'
    """
    return "`" + name.replace("`", "``") + "`"


def quoted_text(text: str) -> str:
    r"""Return text as a literal; the connection must use utf8mb4.

    >>> quoted_text("it's"), quoted_text("a\\b")
    ("'it''s'", "_utf8mb4 X'615C62'")
    """
    return utf8_literal(text.encode("utf-8", "surrogateescape"))


def hexadecimal(raw: bytes) -> str:
    """Return bytes as a literal."""
    return f"X'{raw.hex().upper()}'" if raw else "''"


def utf8_literal(raw: bytes) -> str:
    """Return text in UTF-8 as a literal; where it is not safe to print, in hexadecimal."""
    plain = _plain_utf8(raw)
    return f"_utf8mb4 {hexadecimal(raw)}" if plain is None else plain


def text_literal(raw: bytes, collation: int | None) -> str:
    """Return text in the character set of a collation as a literal of this character set.

    Where the character set is not known, the bytes are written.
    """
    charset = _charset(collation)
    plain = _plain(raw, charset)
    if plain is not None:
        return plain
    return hexadecimal(raw) if charset is None else f"_{charset} {hexadecimal(raw)}"


def bytes_of_text(raw: bytes, collation: int | None) -> str:
    """Return a literal with the bytes of text, to be compared with the bytes of a column."""
    charset = _charset(collation)
    plain = _plain(raw, charset) if charset not in _WIDE else None
    return hexadecimal(raw) if plain is None else plain


@lru_cache(maxsize=512)
def _charset(collation: int | None) -> str | None:
    """Return the character set of a collation; None for bytes, and if it is not known."""
    if collation is None or collation == BINARY_COLLATION:
        return None
    try:
        return charset_of(collation)
    except Unsupported:
        return None


def _plain(raw: bytes, charset: str | None) -> str | None:
    """Return text in quotes, None if it is not safe to print."""
    if not raw:
        return "''"
    if charset is None or charset in _OWN_LETTERS:
        return None
    if charset in _UTF8:
        return _plain_utf8(raw)
    if charset in _WIDE:
        try:
            raw = raw.decode(_WIDE[charset]).encode("ascii")
        except UnicodeError:
            return None
    return _in_quotes(raw.decode("ascii")) if _SAFE_ASCII.fullmatch(raw) else None


def _plain_utf8(raw: bytes) -> str | None:
    if _UNSAFE.search(raw):
        return None
    try:
        return _in_quotes(raw.decode())
    except UnicodeDecodeError:
        return None


def _in_quotes(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
