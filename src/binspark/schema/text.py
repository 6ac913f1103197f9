"""Bytes of the log that are text: statements, and members of ENUM and SET columns."""

from __future__ import annotations

import re

from binspark.errors import Unsupported
from binspark.values.charsets import charset_of, decode_text
from binspark.values.column import BINARY_COLLATION

_DEFINES = re.compile(r"\s*(CREATE|ALTER|DROP|RENAME|TRUNCATE)\b", re.IGNORECASE)
_CHANGES_ROWS = re.compile(r"\s*(INSERT|UPDATE|DELETE|REPLACE|LOAD|WITH|SELECT|SET\s+STATEMENT)\b", re.IGNORECASE)
_ROLLS_BACK = re.compile(r"\s*(?:XA\s+)?ROLLBACK\b", re.IGNORECASE)
_COMMENT = re.compile(r"\s*(?:/\*M?!\d*|/\*(?:[^*]++|\*(?!/))*+\*/|#[^\n]*\n|--\s[^\n]*\n)")
_UNFINISHED_COMMENT = re.compile(r"\s*(?:/\*|#|--\s)")


def member_text(raw: bytes, collation: int | None, *, mariadb: bool) -> str:
    """Decode a member; as UTF-8 if the column is binary or its collation is not known.

    Servers may leave the bytes of members as they are when the character set becomes another, and then show what they
    mean in it: a question mark for what is not a character; on MariaDB also for a part of one at the end.
    """
    if collation is None or collation == BINARY_COLLATION:
        return raw.decode("utf-8", "backslashreplace")
    unit = WIDE_CHARSETS.get(charset_of(collation), 1)
    rest = len(raw) % unit
    text, raw = "", raw[: len(raw) - rest]
    while raw:
        try:
            text, raw = text + decode_text(raw, collation), b""
        except UnicodeDecodeError as error:
            text += f"{decode_text(raw[: error.start], collation)}?"
            raw = raw[max(error.end, error.start + unit) :]
    return f"{text}?" if rest and mariadb else text


WIDE_CHARSETS = {"ucs2": 2, "utf16": 2, "utf16le": 2, "utf32": 4}
"""How many bytes a character has at least, where that is more than one."""


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
    offset = _first_word(sql)
    return bool(_DEFINES.match(sql, offset) or _UNFINISHED_COMMENT.match(sql, offset))


def may_change_rows(sql: str) -> bool:
    """Return whether a statement in a log changes rows, judging by its first word. Its beginning is enough.

    A SELECT is in a log because it calls a function that changes rows.
    """
    return bool(_CHANGES_ROWS.match(sql, _first_word(sql)))


def rolls_back(sql: str) -> bool:
    """Return whether a statement rolls back what is in the log before it: all of it, to a savepoint, or prepared."""
    return bool(_ROLLS_BACK.match(sql))


def _first_word(sql: str) -> int:
    """Return where a statement begins after comments; the text inside `/*!50000 … */` is a part of it."""
    offset = 0
    while match := _COMMENT.match(sql, offset):
        offset = match.end()
    return offset
