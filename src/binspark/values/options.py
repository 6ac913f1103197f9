"""What a caller may choose about decoding: the policies for values that do not fit their column's type."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Undecodable(StrEnum):
    """What becomes of text whose bytes are not text in its column's character set."""

    ERROR = "error"
    REPLACE = "replace"
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class ValueOptions:
    """How values are decoded.

    undecodable      an error, U+FFFD for what cannot be read, or the bytes of the whole value
    expanded_bytes   how far a value of a compressed column may expand
    """

    undecodable: Undecodable = Undecodable.ERROR
    expanded_bytes: int = 4 << 30


DEFAULT_OPTIONS = ValueOptions()
