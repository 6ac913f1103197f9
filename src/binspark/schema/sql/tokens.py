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
from binspark.wire.sql_modes import SqlMode


class Kind(Enum):
    """What a token is. A quoted name is never a keyword."""

    WORD = auto()
    NAME = auto()
    TEXT = auto()
    NUMBER = auto()
    SIGN = auto()
    END = auto()


class Token(NamedTuple):
    """A token. `value` is without quotes and escapes. `word` is a keyword in upper case, or empty."""

    kind: Kind
    value: str
    word: str = ""


END = Token(Kind.END, "end of the statement")

_PATTERN = r"""
    (?P<space>\s+|\#[^\n]*|--(?=[\s\x00-\x1f]|\Z)[^\n]*|/\*(?!M?!)(?:[^*]++|\*(?!/))*+(?:\*/|\Z))
  | (?P<opens>/\*(?P<maria>M?)!(?P<version>\d{5,6})?)
  | (?P<closes>\*/)
  | (?P<name>`(?:[^`]++|``)*+`)
  | (?P<binary>[xX]'(?P<hex>[0-9a-fA-F]*)'|[bB]'[01]*')
  | (?P<text>(?:(?:_[A-Za-z0-9]+\s*|[nN])(?='))?'(?:BODY|'')*+')
  | (?P<double>(?:_[A-Za-z0-9]+\s*(?="))?"(?:DOUBLE|"")*+")
  | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w$]))
  | (?P<word>@?[\w$\u0080-\U0010ffff]+)
  | (?P<sign>.)
"""
_ESCAPES = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


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
    end = sql.find("*/", offset)
    return len(sql) if end < 0 else end + 2


def _token(match: re.Match[str], backslash: bool, ansi_quotes: bool) -> Token:
    if quoted := match["name"]:
        return Token(Kind.NAME, quoted[1:-1].replace("``", "`"))
    if quoted := match["double"]:
        if ansi_quotes:
            return Token(Kind.NAME, quoted[quoted.index('"') + 1 : -1].replace('""', '"'))
        return Token(Kind.TEXT, _unquoted(quoted, '"', backslash))
    if quoted := match["text"]:
        return Token(Kind.TEXT, _unquoted(quoted, "'", backslash))
    if quoted := match["binary"]:
        return Token(Kind.TEXT, bytes.fromhex(match["hex"] or "").decode("latin-1") if match["hex"] else quoted)
    if number := match["number"]:
        return Token(Kind.NUMBER, number)
    if word := match["word"]:
        return Token(Kind.WORD, word, word.upper())
    return Token(Kind.SIGN, match["sign"])


def _unquoted(quoted: str, quote: str, backslash: bool) -> str:
    inner = quoted[quoted.index(quote) + 1 : -1]
    if backslash and "\\" in inner:
        parts = re.split(r"(\\.)", inner, flags=re.DOTALL)
        return "".join(_unescaped(part) if part.startswith("\\") else part.replace(quote * 2, quote) for part in parts)
    return inner.replace(quote * 2, quote)


def _unescaped(escape: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), escape)
