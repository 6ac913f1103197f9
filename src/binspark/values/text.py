"""Bytes into text, with the policy for bytes that are not text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from binspark.errors import Malformed
from binspark.event.column_types import ColumnType
from binspark.position import Position
from binspark.values.charsets import decode_text
from binspark.values.column import BINARY_COLLATION, Column
from binspark.values.options import Undecodable, ValueOptions

_TEXT_OR_BLOB = frozenset((ColumnType.TINY_BLOB, ColumnType.BLOB, ColumnType.MEDIUM_BLOB, ColumnType.LONG_BLOB))
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_WINDOW = 256
_LONGEST_CHARACTER = 8


def text_or_policy(raw: bytes, column: Column, options: ValueOptions, offset: int) -> str | bytes:
    """Return the text that bytes are in their column's character set; UTF-8 where that is not known.

    Bytes of a binary column stay bytes. Bytes that are no text become what the options say; instead of an error, those
    of a column that may be TEXT or BLOB, for all that is known, stay bytes.
    """
    if column.collation == BINARY_COLLATION:
        return raw
    decode = _decode_utf8 if column.collation is None else partial(decode_text, collation=column.collation)
    try:
        return decode(raw)
    except UnicodeDecodeError as error:
        if column.collation is None and column.type in _TEXT_OR_BLOB and options.undecodable is Undecodable.ERROR:
            return raw
        reason = f"text is not {error.encoding} at its byte {error.start}: {error.reason}"
    match options.undecodable:
        case Undecodable.BINARY:
            return raw
        case Undecodable.REPLACE:
            return _with_replacements(raw, decode)
    raise Malformed(reason, Position(offset=offset))


def _decode_utf8(raw: bytes) -> str:
    return raw.decode()


def _with_replacements(raw: bytes, decode: Callable[[bytes], str]) -> str:
    """Decode with U+FFFD for what cannot be decoded, a window at a time, so that the time is linear."""
    parts: list[str] = []
    at = 0
    while at < len(raw):
        window = raw[at : at + _WINDOW]
        is_last = at + _WINDOW >= len(raw)
        text, error = _decode_up_to_error(window, decode)
        parts.append(text)
        if error is None:
            at += len(window)
            continue
        at += error.start
        cut_by_window = not is_last and len(window) - error.start < _LONGEST_CHARACTER
        if not cut_by_window:
            parts.append(_REPLACEMENT)
            at += max(1, error.end - error.start)
    return "".join(parts)


def _decode_up_to_error(raw: bytes, decode: Callable[[bytes], str]) -> tuple[str, UnicodeDecodeError | None]:
    """Return the text before the first error, and that error. The one that is raised need not be the first."""
    error: UnicodeDecodeError | None = None
    while True:
        try:
            return decode(raw), error
        except UnicodeDecodeError as earlier:
            error, raw = earlier, raw[: earlier.start]
