"""SQL text into tokens, by the rules of both families.

A comment `/*!50100 ... */` is executed by servers from that version on, `/*M!100301 ... */` by MariaDB only; what the
server did not execute is skipped here, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from functools import cache
from typing import NamedTuple

from binspark.schema.session import Session
from binspark.schema.text import shown_text
from binspark.wire.sql_modes import SqlMode


class Kind(Enum):
    """What a token is. A quoted name is never a keyword. BYTES are literals such as X'41', 0x41, b'01' and 0b01."""

    WORD = auto()
    NAME = auto()
    TEXT = auto()
    BYTES = auto()
    NUMBER = auto()
    SIGN = auto()
    END = auto()


class Token(NamedTuple):
    """A token. `value` is without quotes and escapes; that of BYTES has one character for each byte.

    `word` is a keyword in upper case, or empty.
    """

    kind: Kind
    value: str
    word: str = ""


END = Token(Kind.END, "end of the statement")

_PATTERN = r"""
    (?P<space>\s+|\#[^\n]*|--(?=[\s\x00-\x1f]|\Z)[^\n]*|/\*(?!M?!)(?:[^*]++|\*(?!/))*+(?:\*/|\Z))
  | (?P<opens>/\*(?P<maria>M?)!(?P<version>\d{5,6})?)
  | (?P<closes>\*/)
  | (?P<name>`(?:[^`]++|``)*+`)
  | (?P<qualified>(?<=[\w$`"\u0080-\U0010ffff])\.(?=[\w$]))
  | (?P<hex>[xX]'[0-9a-fA-F]*'|0x[0-9a-fA-F]+(?![\w$]))
  | (?P<bits>[bB]'[01]*'|0b[01]+(?![\w$]))
  | (?P<text>[nN]?'(?:BODY|'')*+')
  | (?P<double>"(?:DOUBLE|"")*+")
  | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w$]))
  | (?P<word>@{0,2}[\w$\u0080-\U0010ffff]+)
  | (?P<sign>.)
"""
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_IDENTIFIER = re.compile(r"[\w$\u0080-\U0010ffff]+")
_COMMENT_ENDS = re.compile(r"/\*|\*/")


@cache
def _pattern(*, backslash: bool) -> re.Pattern[str]:
    body, double = (r"[^'\\]++|\\.", r'[^"\\]++|\\.') if backslash else (r"[^']++", r'[^"]++')
    return re.compile(_PATTERN.replace("BODY", body).replace("DOUBLE", double), re.VERBOSE | re.DOTALL)


_QUOTES = ("'", '"', "`")
_MYSQL_ONLY = range(50700, 100000)
_NO_SERVER_YET = 999999


def tokens(sql: str, session: Session) -> Iterator[Token]:
    """Yield the tokens of a text without comments; adjacent strings are one token."""
    pending: Token | None = None
    for token in _single_tokens(sql, session):
        if pending is not None and token.kind is Kind.TEXT and pending.kind is Kind.TEXT:
            pending = Token(Kind.TEXT, pending.value + token.value)
            continue
        if pending is not None:
            yield pending
        pending = token
    if pending is not None:
        yield pending


def _single_tokens(sql: str, session: Session) -> Iterator[Token]:
    backslash = not session.has_mode(SqlMode.NO_BACKSLASH_ESCAPES)
    pattern = _pattern(backslash=backslash)
    offset = 0
    while match := pattern.match(sql, offset):
        offset = match.end()
        if match["opens"]:
            offset = offset if _is_executed(match, session) else _after_comment(sql, offset)
        elif match["qualified"]:
            yield Token(Kind.SIGN, ".")
            if identifier := _IDENTIFIER.match(sql, offset):  # also of digits alone: shop.20151214
                yield Token(Kind.WORD, identifier[0], identifier[0].upper())
                offset = identifier.end()
        elif not (match["space"] or match["closes"]):
            token = _token(match, backslash, session.has_mode(SqlMode.ANSI_QUOTES))
            yield token
            if token.kind is Kind.SIGN and token.value in _QUOTES:
                return  # the quote is not closed: the rest cannot be read


def _is_executed(match: re.Match[str], session: Session) -> bool:
    """Return whether the server executes a comment. MariaDB does not execute those for MySQL 5.7 and later."""
    version = int(match["version"] or 0)
    if (match["maria"] and not session.mariadb) or version >= _NO_SERVER_YET:
        return False
    if session.mariadb and not match["maria"] and version in _MYSQL_ONLY:
        return False
    return session.version is None or version <= session.version


def _after_comment(sql: str, offset: int) -> int:
    """Return the offset after a comment that is not executed. It may have comments in it."""
    depth = 1
    while depth and (match := _COMMENT_ENDS.search(sql, offset)):
        depth += 1 if match[0] == "/*" else -1
        offset = match.end()
    return len(sql) if depth else offset


def _token(match: re.Match[str], backslash: bool, ansi_quotes: bool) -> Token:
    if quoted := match["name"]:
        return Token(Kind.NAME, shown_text(quoted[1:-1].replace("``", "`")))
    if quoted := match["double"]:
        if ansi_quotes:
            return Token(Kind.NAME, shown_text(quoted[1:-1].replace('""', '"')))
        return Token(Kind.TEXT, _unquoted(quoted, '"', backslash))
    if quoted := match["text"]:
        return Token(Kind.TEXT, _unquoted(quoted, "'", backslash))
    if literal := match["hex"] or match["bits"]:
        return Token(Kind.BYTES, _literal_bytes(literal, 4 if match["hex"] else 1).decode("latin-1"))
    if number := match["number"]:
        return Token(Kind.NUMBER, number)
    if word := shown_text(match["word"] or ""):
        return Token(Kind.WORD, word, word.upper())
    return Token(Kind.SIGN, match["sign"])


def _literal_bytes(literal: str, bits_per_digit: int) -> bytes:
    """Return the bytes of a literal such as X'0a', 0x61, b'1' or 0b01; zeros come before the first digit."""
    digits = literal[2:].rstrip("'")
    return int(digits or "0", 1 << bits_per_digit).to_bytes((len(digits) * bits_per_digit + 7) // 8, "big")


def _unquoted(quoted: str, quote: str, backslash: bool) -> str:
    inner = quoted[quoted.index(quote) + 1 : -1]
    if backslash and "\\" in inner:
        parts = re.split(r"(\\.)", inner, flags=re.DOTALL)
        return "".join(_unescaped(part) if part.startswith("\\") else part.replace(quote * 2, quote) for part in parts)
    return inner.replace(quote * 2, quote)


def _unescaped(escape: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), escape)
