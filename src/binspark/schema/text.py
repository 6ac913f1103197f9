"""Bytes of the log that are text: statements, and members of ENUM and SET columns."""

from __future__ import annotations

from binspark.errors import Malformed, Unsupported
from binspark.values.charsets import decode_text
from binspark.values.column import BINARY_COLLATION


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
