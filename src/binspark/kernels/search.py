"""Where a transaction may begin, looked for byte by byte."""

from __future__ import annotations

from binspark.frames.codes import EventCode
from binspark.kernels.compiler import kernel
from binspark.kernels.memory import load8, load16, load32
from binspark.transactions.byte_tables import (
    BEGIN_LENGTHS,
    IDENTIFYING_CODES,
    QUERY_LENGTH,
    QUERY_SCHEMA_LENGTH_AT,
    QUERY_STATUS_LENGTH_AT,
)

_HEADER = 19
_QUERY = int(EventCode.QUERY)


@kernel
def find_start_header(address: int, length: int, first: int, offset: int, checksum: int, unnamed: bool) -> int:
    """Return the index of the first header, from `first` on, of an event that may begin a transaction; -1 for none.

    The byte at `address` is at `offset` of the log. A header is whole, and tells the true position of the next event.
    Where transactions may be `unnamed`, a BEGIN may begin them too.
    """
    for index in range(first, length - _HEADER + 1):
        at = address + index
        size = load32(at + 9)
        if load32(at + 13) != (offset + index + size) & 0xFFFFFFFF or size < _HEADER:
            continue
        kind = load8(at + 4)
        if kind in IDENTIFYING_CODES:
            return index
        if unnamed and kind == _QUERY and may_be_begin(at, address + length, size - checksum):
            return index
    return -1


@kernel
def may_be_begin(at: int, end: int, size: int) -> bool:
    """Tell whether a statement may be a BEGIN, by its length; one whose lengths are not here may."""
    body = at + _HEADER
    if body + QUERY_LENGTH > end:
        return True
    before_text = QUERY_LENGTH + load16(body + QUERY_STATUS_LENGTH_AT) + load8(body + QUERY_SCHEMA_LENGTH_AT) + 1
    return size - _HEADER - before_text in BEGIN_LENGTHS
