"""Bytes of the log that are text: statements, and members of ENUM and SET columns."""

from __future__ import annotations

import re

from binspark.errors import Malformed, Unsupported
from binspark.values.charsets import decode_text
from binspark.values.column import BINARY_COLLATION

_FIRST_WORD = re.compile(r"\s*(CREATE|ALTER|DROP|RENAME|TRUNCATE)\b", re.IGNORECASE)
_COMMENT = re.compile(r"\s*(?:/\*M?!\d*|/\*(?:[^*]++|\*(?!/))*+\*/|#[^\n]*\n|--\s[^\n]*\n)")
_UNFINISHED_COMMENT = re.compile(r"\s*(?:/\*|#|--\s)")


def member_text(raw: bytes, collation: int | None) -> str:
    """Decode a member; as UTF-8 if the column is binary or its collation is not known."""
    try:
        if collation is None or collation == BINARY_COLLATION:
            return raw.decode("utf-8", "backslashreplace")
        return decode_text(raw, collation)
    except UnicodeDecodeError as error:
        raise Malformed(f"member {raw!r} of an ENUM or SET is not valid {error.encoding}: {error.reason}") from None


def statement_text(raw: bytes, collation: int | None) -> str:
    """Decode a statement, which is in the character set of the client. Bytes that are not valid text are escaped."""
    try:
        return raw.decode() if collation is None else decode_text(raw, collation)
    except (UnicodeDecodeError, Unsupported):
        return raw.decode("utf-8", "backslashreplace")


def may_define(sql: str) -> bool:
    """Return whether a statement may be DDL, judging by its first word: a fast check, because most are not.

    The beginning of a statement is enough. If it ends inside a comment, the statement may be DDL.
    """
    offset = 0
    while match := _COMMENT.match(sql, offset):
        offset = match.end()
    return bool(_FIRST_WORD.match(sql, offset) or _UNFINISHED_COMMENT.match(sql, offset))
