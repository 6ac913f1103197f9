"""Bytes into text, with the policy for bytes that are not valid text."""

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
_ADVICE = " (--undecodable replace or binary accepts such text)"
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_WINDOW = 256
_MAX_CHARACTER_BYTES = 8


def text_or_policy(raw: bytes, column: Column, options: ValueOptions, offset: int) -> str | bytes:
    """Return bytes as text in the character set of their column; UTF-8 if that is not known.

    Bytes of a binary column stay bytes. The options decide about bytes that are not valid text, with one exception: if
    it is not known whether a column is TEXT or BLOB, its bytes are not an error but stay bytes.
    """
    if column.collation == BINARY_COLLATION:
        return raw
    decode = _decode_utf8 if column.collation is None else partial(decode_text, collation=column.collation)
    try:
        return decode(raw)
    except UnicodeDecodeError as error:
        if column.collation is None and column.type in _TEXT_OR_BLOB and options.undecodable is Undecodable.ERROR:
            return raw
        reason = f"text is not valid {error.encoding} at byte {error.start}: {error.reason}{_ADVICE}"
    match options.undecodable:
        case Undecodable.BINARY:
            return raw
        case Undecodable.REPLACE:
            return _with_replacements(raw, decode)
    raise Malformed(reason, Position(offset=offset))


def _decode_utf8(raw: bytes) -> str:
    return raw.decode()


def _with_replacements(raw: bytes, decode: Callable[[bytes], str]) -> str:
    """Decode with U+FFFD for each invalid character.

    After an error the text is decoded again from the next byte on. Windows bound the bytes that are decoded again, so
    that the time is linear.
    """
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
        cut_by_window = not is_last and len(window) - error.start < _MAX_CHARACTER_BYTES
        if not cut_by_window:
            parts.append(_REPLACEMENT)
            at += max(1, error.end - error.start)
    return "".join(parts)


def _decode_up_to_error(raw: bytes, decode: Callable[[bytes], str]) -> tuple[str, UnicodeDecodeError | None]:
    """Return the text before the first error, and that error. Some codecs do not raise the first error first."""
    error: UnicodeDecodeError | None = None
    while True:
        try:
            return decode(raw), error
        except UnicodeDecodeError as earlier:
            error, raw = earlier, raw[: earlier.start]
