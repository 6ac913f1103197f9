"""Options of decoding: the policies for values that do not fit the type of their column."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Undecodable(StrEnum):
    """What to do with text that is not valid in the character set of its column."""

    ERROR = "error"
    REPLACE = "replace"
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class ValueOptions:
    """How values are decoded.

    undecodable      an error, U+FFFD for each invalid character, or the bytes of the value
    expanded_bytes   maximum size of a decompressed value of a compressed column; None for the limit of this process,
                     see `binspark.set_max_payload_bytes`
    raw_documents    JSON documents are bytes, in their binary format, and partial updates are `BinaryDiffs`
    """

    undecodable: Undecodable = Undecodable.ERROR
    expanded_bytes: int | None = None
    raw_documents: bool = False


DEFAULT_OPTIONS = ValueOptions()
