"""Statements as people see them: without passwords and their hashes, which servers log with `CREATE USER` and others.

Only harmless parts are shown. After a word such as IDENTIFIED or PASSWORD, every text, every number in hex
and every comment is hidden, unless it is the name of an account or of an authentication plugin. A text that has such a
word in it is hidden, too: it may be a connection string. Where a statement can be read in two ways, because servers may
or may not take a backslash for an escape, everything from the first such word on is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

HIDDEN = "***"
_SECRET = re.compile(r"passw(?:or)?d|identified|secret|\bconnection\b|://\S*:\S*@", re.IGNORECASE | re.ASCII)
_BEFORE_PLUGINS = frozenset({"WITH", "VIA"})
_QUOTES = "'\""
_FLAGS = re.DOTALL | re.VERBOSE | re.ASCII
_OTHERS = r"""
  | (?P<name> `[^`]*+`? | [\w$]++ )
  | (?P<comment> /\*(?!M?!) .*? (?:\*/|\Z) | (?: --(?=\s|\Z) | \# ) [^\n]* )
"""
_WITH_ESCAPES = re.compile(r"""(?P<text> '(?:[^'\\]|\\.)*+'? | "(?:[^"\\]|\\.)*+"? )""" + _OTHERS, _FLAGS)
_WITHOUT_ESCAPES = re.compile(r"""(?P<text> '[^']*+'? | "[^"]*+"? )""" + _OTHERS, _FLAGS)


def hide_secrets(statement: str) -> str:
    """Return a statement with `***` for each part that is secret, or may be."""
    shown, end = [], 0
    for start, after in secret_parts(statement):
        shown += [statement[end:start], HIDDEN]
        end = after
    return "".join((*shown, statement[end:]))


def hide_in_bytes(statement: bytes) -> bytes:
    """Return a statement in any encoding with `***` for each part that is secret, or may be."""
    return hide_secrets(statement.decode("latin-1")).encode("latin-1")


def mask_after_secret_word(data: bytes) -> bytes:
    """Return bytes that nobody can decode, with an asterisk for each from the first word such as PASSWORD on."""
    first = _SECRET.search(data.decode("latin-1"))
    return data if first is None else data[: first.start()].ljust(len(data), b"*")


def mask_secrets(statement: bytes) -> bytes:
    """Return a statement of the same length, with an asterisk for each byte that is secret, or may be."""
    masked = bytearray(statement)
    for start, end in secret_parts(statement.decode("latin-1")):
        masked[start:end] = b"*" * (end - start)
    return bytes(masked)


def secret_parts(statement: str) -> list[tuple[int, int]]:
    """Return where a statement has something that is secret, or may be."""
    first = _SECRET.search(statement)
    if first is None:
        return []
    parts = list(_parts(statement, _WITH_ESCAPES))
    if "\\" in statement and parts != list(_parts(statement, _WITHOUT_ESCAPES)):
        return [(first.start(), len(statement))]
    return parts


def _parts(statement: str, tokens: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    hides, word = False, ""
    for token in tokens.finditer(statement):
        start, end, text = token.start(), token.end(), token[0]
        is_hex = text[:2] in ("0x", "0X")
        if token.lastgroup == "name" and not is_hex:
            hides, word = hides or _SECRET.search(text) is not None, text.upper()
            continue
        is_text = token.lastgroup == "text"
        is_account = is_text and "@" in (statement[start - 1 : start], statement[end : end + 1])
        is_plugin = is_text and word in _BEFORE_PLUGINS
        word = ""
        if (hides or _SECRET.search(text)) and not is_account and not is_plugin:
            yield (start + is_text, end - (is_text and len(text) > 1 and text[-1] == text[0]))
