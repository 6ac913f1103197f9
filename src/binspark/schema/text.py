"""Bytes of the log that are text: statements, and the names of ENUM and SET members."""

from __future__ import annotations

from binspark.errors import Malformed, Unsupported
from binspark.values.charsets import decode_text
from binspark.values.column import BINARY_COLLATION


def member_text(raw: bytes, collation: int | None) -> str:
    """Decode a member's name; where the column is binary or its collation is not known, as UTF-8."""
    try:
        if collation is None or collation == BINARY_COLLATION:
            return raw.decode("utf-8", "backslashreplace")
        return decode_text(raw, collation)
    except UnicodeDecodeError as error:
        raise Malformed(f"the member {raw!r} is not {error.encoding}: {error.reason}") from None


def statement_text(raw: bytes, collation: int | None) -> str:
    """Decode a statement, which is in the client's character set. What is no text there stays as escapes."""
    try:
        return raw.decode() if collation is None else decode_text(raw, collation)
    except (UnicodeDecodeError, Unsupported):
        return raw.decode("utf-8", "backslashreplace")
