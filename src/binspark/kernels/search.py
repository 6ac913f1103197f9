"""Where a transaction may begin, looked for byte by byte."""

from __future__ import annotations

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import load8, load16, load32

_HEADER = 19
_QUERY_FIXED = 13
_BEGIN_LENGTH = 5
_QUERY = 2
_GTID, _ANONYMOUS_GTID, _GTID_TAGGED, _MARIADB_GTID = 33, 34, 42, 162


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
        if kind in (_GTID, _ANONYMOUS_GTID, _GTID_TAGGED, _MARIADB_GTID):
            return index
        if unnamed and kind == _QUERY and may_be_begin(at, address + length, size - checksum):
            return index
    return -1


@kernel
def may_be_begin(at: int, end: int, size: int) -> bool:
    """Tell whether a statement may be a BEGIN, by its length; one whose lengths are not here may."""
    if at + _HEADER + _QUERY_FIXED > end:
        return True
    text = _HEADER + _QUERY_FIXED + load16(at + _HEADER + 11) + load8(at + _HEADER + 8) + 1
    return size - text == _BEGIN_LENGTH
