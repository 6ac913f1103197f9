"""Find an event from anywhere in a version 4 log, without an index.

Every header holds the position of the next event, so an event at offset p satisfies

    u32(p + 13) == (p + u32(p + 9)) mod 2^32        and its type code is known.

That alone has shown no false hit in practice. It is confirmed all the same: by the checksum where there is one, and by
the chain: the bytes behind the event are another event, or the end of the log. Where a server writes 0 as the next
position, checksum and chain must do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct

from binspark.frames.checksum import ChecksumState, check_event, check_format_description
from binspark.frames.codes import KNOWN_CODES, EventCode
from binspark.frames.format import LogFormat

ReadAt = Callable[[int, int], bytes]
"""`read_at(offset, length)` returns the bytes of the log there, fewer only at its end."""

_TYPE_SIZE_NEXT = Struct("<B4xII")
_TYPE_OFFSET = 4
_WINDOW = 1 << 16
_U32 = 1 << 32
_CHAIN = 2


def find_event(read_at: ReadAt, start: int, log_size: int, log_format: LogFormat) -> int | None:
    """Return the offset of the first event that begins at or after `start`, or None if there is none."""
    for offset in _candidates(read_at, start, log_size, log_format):
        if _holds(read_at, offset, log_size, log_format):
            return offset
    return None


def _candidates(read_at: ReadAt, start: int, log_size: int, log_format: LogFormat) -> Iterator[int]:
    """Yield offsets whose bytes could be a header."""
    overlap = log_format.header_length - 1
    for window_start in range(start, log_size, _WINDOW):
        window = read_at(window_start, _WINDOW + overlap)
        for at in range(min(_WINDOW, len(window) - overlap)):
            if window[at + _TYPE_OFFSET] in KNOWN_CODES and _plausible(window, at, window_start, log_size, log_format):
                yield window_start + at


def _plausible(window: bytes, at: int, window_start: int, log_size: int, log_format: LogFormat) -> bool:
    end = window_start + at + _TYPE_SIZE_NEXT.unpack_from(window, at + _TYPE_OFFSET)[1]
    return end <= log_size and _is_header(window, at, window_start, log_format)


def _is_header(window: bytes, at: int, window_start: int, log_format: LogFormat) -> bool:
    type_code, size, next_position = _TYPE_SIZE_NEXT.unpack_from(window, at + _TYPE_OFFSET)
    if type_code not in KNOWN_CODES or size < log_format.header_length + log_format.checksum_length:
        return False
    return next_position in ((window_start + at + size) % _U32, 0)


def _holds(read_at: ReadAt, offset: int, log_size: int, log_format: LogFormat) -> bool:
    """Confirm a candidate by its checksum and by the headers behind it, as far as the log goes."""
    type_code, size, _ = _TYPE_SIZE_NEXT.unpack_from(read_at(offset, log_format.header_length), _TYPE_OFFSET)
    if not _checksum_holds(read_at(offset, size), type_code, log_format):
        return False
    for _ in range(_CHAIN):
        offset += size
        header = read_at(offset, log_format.header_length)
        if offset >= log_size or len(header) < log_format.header_length:
            return True
        if not _is_header(header, 0, offset, log_format):
            return False
        _, size, _ = _TYPE_SIZE_NEXT.unpack_from(header, _TYPE_OFFSET)
    return True


def _checksum_holds(event: bytes, type_code: int, log_format: LogFormat) -> bool:
    if log_format.checksum_length == 0:
        return True
    check = check_format_description if type_code == EventCode.FORMAT_DESCRIPTION else check_event
    return check(event) is ChecksumState.OK
