"""Bytes of the log that are text: statements, and members of ENUM and SET columns."""

from __future__ import annotations

import re

from binspark.errors import Unsupported
from binspark.values.charsets import charset_of, decode_text, encode_text
from binspark.values.column import BINARY_COLLATION

_DEFINES = re.compile(r"(CREATE|ALTER|DROP|RENAME|TRUNCATE)\b", re.IGNORECASE)
_CHANGES_ROWS = re.compile(r"(INSERT|UPDATE|DELETE|REPLACE|LOAD|WITH|SELECT)\b", re.IGNORECASE)
_ROLLS_BACK = re.compile(r"\s*(?:XA\s+)?ROLLBACK\b", re.IGNORECASE)
_SPACE = r"(?:\s|;|/\*(?!M?!)(?:[^*]|\*(?!/))*+\*/|/\*M?!\d*|\*/|#[^\n]*+\n|--\s[^\n]*+\n)"
_SPACES = re.compile(rf"{_SPACE}*+")
_UNFINISHED_COMMENT = re.compile(r"/\*|#|--\s")
_SET_STATEMENT = re.compile(rf"SET{_SPACE}++STATEMENT\b", re.IGNORECASE)
_SETTING = re.compile(
    r"""\w++|'(?:[^'\\]|\\.|'')*+(?:'|\Z)|"(?:[^"\\]|\\.|"")*+(?:"|\Z)|`[^`]*+(?:`|\Z)|.""", re.DOTALL
)


def member_text(raw: bytes, collation: int | None, *, mariadb: bool) -> str:
    """Decode a member; as UTF-8 if the column is binary or its collation is none that binspark knows.

    Servers may leave the bytes of members as they are when the character set becomes another, and then show what they
    mean in it: a question mark for what is not a character; on MariaDB also for a part of one at the end.
    """
    if collation is None or collation == BINARY_COLLATION or not is_known(collation):
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


def is_known(collation: int) -> bool:
    """Return whether the character set of a collation is known: it is not that of a collation which a user added."""
    try:
        return bool(charset_of(collation))
    except Unsupported:
        return False


def literal_member(raw: bytes, collation: int | None, *, mariadb: bool) -> str | None:
    """Return the member that a literal of bytes defines, None if that is not known.

    Characters of several bytes are completed with zeros: X'61' in utf16 is X'0061'.
    """
    if collation is None:
        return raw.decode() if raw.isascii() else None
    unit = 1 if collation == BINARY_COLLATION else WIDE_CHARSETS.get(charset_of(collation), 1)
    return member_text(raw.rjust(-(-len(raw) // unit) * unit, b"\0"), collation, mariadb=mariadb)


def limited_text(text: str, collation: int) -> str:
    """Return text as it is after a conversion to the character set of a collation: `?` for what it does not have."""
    try:
        encode_text(text, collation)
    except UnicodeEncodeError:
        return "?" if len(text) == 1 else "".join(limited_text(character, collation) for character in text)
    return text


WIDE_CHARSETS = {"ucs2": 2, "utf16": 2, "utf16le": 2, "utf32": 4}
"""How many bytes a character has at least, where that is more than one."""


def statement_text(raw: bytes, collation: int | None) -> str:
    """Decode a statement, which is in the character set of the client. Bytes that are not valid text are escaped."""
    return shown_text(exact_text(raw, collation)[0])


def exact_text(raw: bytes, collation: int | None) -> tuple[str, bool]:
    """Decode a statement, and return whether it is text in the character set of the client.

    If it is not, or if the client said that it sends bytes, those that are not UTF-8 are surrogates, so that no byte is
    lost.
    """
    try:
        if collation != BINARY_COLLATION:
            return raw.decode() if collation is None else decode_text(raw, collation), True
    except (UnicodeDecodeError, Unsupported):
        pass
    return raw.decode("utf-8", "surrogateescape"), False


def shown_text(text: str) -> str:
    """Return text with escapes for bytes that are not text."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def may_define(sql: str) -> bool:
    """Return whether a statement may be DDL, judging by its first word: a fast check, because most are not.

    The beginning of a statement is enough. If it ends before the first word, or if a comment is before it that some
    servers execute, the statement may be DDL.
    """
    offset = first_word(sql)
    return offset is None or "!" in sql[:offset] or _DEFINES.match(sql, offset) is not None


def may_change_rows(sql: str) -> bool:
    """Return whether a statement in a log changes rows, judging by its first word. Its beginning is enough.

    A SELECT is in a log because it calls a function that changes rows.
    """
    offset = first_word(sql)
    return offset is not None and _CHANGES_ROWS.match(sql, offset) is not None


def rolls_back(sql: str) -> bool:
    """Return whether a statement rolls back what is in the log before it: all of it, to a savepoint, or prepared."""
    return bool(_ROLLS_BACK.match(sql))


def has_words(statement: bytes) -> bool:
    """Return whether a statement is more than a comment, as servers log one in place of an event for other servers."""
    offset = first_word(statement.decode("latin-1"))
    return offset is not None and offset < len(statement)


def first_word(sql: str) -> int | None:
    """Return where the first word of a statement is, None if the text ends before it.

    That is after comments, but the text inside `/*!50000 … */` is a part of the statement; and after MariaDB's
    `SET STATEMENT variable = value, … FOR`.
    """
    offset = _after_space(sql, 0)
    while match := _SET_STATEMENT.match(sql, offset):
        after = _after_settings(sql, match.end())
        if after is None:
            return None
        offset = _after_space(sql, after)
    return None if _UNFINISHED_COMMENT.match(sql, offset) else offset


def _after_settings(sql: str, offset: int) -> int | None:
    """Return the offset after the FOR of SET STATEMENT, which is not in parentheses; None if there is none."""
    depth = 0
    while match := _SETTING.match(sql, _after_space(sql, offset)):
        offset = match.end()
        depth += (match[0] == "(") - (match[0] == ")")
        if not depth and match[0].upper() == "FOR":
            return offset
    return None


def _after_space(sql: str, offset: int) -> int:
    match = _SPACES.match(sql, offset)
    return offset if match is None else match.end()
