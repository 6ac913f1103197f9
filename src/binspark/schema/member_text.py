"""The names of ENUM and SET members as text."""

from __future__ import annotations

from binspark.errors import Malformed
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
