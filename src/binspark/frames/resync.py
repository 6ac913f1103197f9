"""Find an event from anywhere in a version 4 log, without an index.

Every header holds the position of the next event, so an event at offset p satisfies

    u32(p + 13) == (p + u32(p + 9)) mod 2^32        and its type code is known.

That alone has shown no false hit in practice. It is confirmed all the same: by the checksum where there is one, and by
the chain: the bytes behind the event are another event, or the end of the log.

Two kinds of logs hold events that do not satisfy it. MariaDB writes 0 there for events inside a transaction (since
11.4). A relay log holds events with the positions that they had in the source's log. Their headers are looked at more
closely, and where there are no checksums the chain is followed until an event vouches for the others: one with its true
position, one that goes on from the source's position of the event before it, or one that ends with the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct
from typing import NamedTuple

from binspark.frames.checksum import ChecksumState, check_event, check_format_description
from binspark.frames.codes import KNOWN_CODES, EventCode, HeaderFlag
from binspark.frames.format import Family, LogFormat

ReadAt = Callable[[int, int], bytes]
"""`read_at(offset, length)` returns the bytes of the log there, fewer only at its end."""

_TYPE_SIZE_NEXT_FLAGS = Struct("<B4xIIH")
_TYPE_OFFSET = 4
_WINDOW = 1 << 16
_U32 = 1 << 32
_CHAIN = 2
_WRITTEN_CODES = KNOWN_CODES - {EventCode.UNKNOWN}
_MADE_UP_BY_SOURCES = frozenset({EventCode.ROTATE, EventCode.FORMAT_DESCRIPTION})
_ACCEPT_OWN = 0x4000  # MariaDB's
_KNOWN_FLAGS = _ACCEPT_OWN | sum(HeaderFlag)


class _Log(NamedTuple):
    """A log that is searched."""

    read_at: ReadAt
    size: int
    format: LogFormat
    relay: bool


class _Header(NamedTuple):
    """What may be the header of an event."""

    offset: int
    type_code: int
    size: int
    next_position: int
    flags: int

    @property
    def end(self) -> int:
        return self.offset + self.size

    @property
    def position_is_true(self) -> bool:
        return self.next_position == self.end % _U32

    def continues(self, before: _Header) -> bool:
        """Tell whether the positions of two events are of the same log, one after the other."""
        return self.next_position != 0 and self.next_position == (before.next_position + self.size) % _U32


def find_event(read_at: ReadAt, start: int, log_size: int, log_format: LogFormat, *, relay: bool = False) -> int | None:
    """Return the offset of the first event that begins at or after `start`, or None if there is none.

    A relay log says that it is one: its first event has the flag RELAY_LOG.
    """
    log = _Log(read_at, log_size, log_format, relay)
    return next((header.offset for header in _candidates(log, start) if _holds(log, header)), None)


def event_holds(read_at: ReadAt, offset: int, log_size: int, log_format: LogFormat) -> bool:
    """Tell whether a sound event begins at an offset, and tells its true position."""
    log = _Log(read_at, log_size, log_format, relay=False)
    window = read_at(offset, log_format.header_length)
    header = _header(log, window, 0, offset) if len(window) == log_format.header_length else None
    return header is not None and header.position_is_true and header.end <= log_size and _holds(log, header)


def _candidates(log: _Log, start: int) -> Iterator[_Header]:
    """Yield what could be the header of a whole event."""
    overlap = log.format.header_length - 1
    for window_start in range(start, log.size, _WINDOW):
        window = log.read_at(window_start, _WINDOW + overlap)
        for at in range(min(_WINDOW, len(window) - overlap)):
            if window[at + _TYPE_OFFSET] in _WRITTEN_CODES:
                header = _header(log, window, at, window_start + at)
                if header is not None and header.end <= log.size:
                    yield header


def _header(log: _Log, window: bytes, at: int, offset: int) -> _Header | None:
    """Return the header at `window[at]`, which is `offset` in the log, or None if it cannot be one."""
    header = _Header(offset, *_TYPE_SIZE_NEXT_FLAGS.unpack_from(window, at + _TYPE_OFFSET))
    if header.size < log.format.header_length + log.format.checksum_length:
        return None
    if header.type_code not in _WRITTEN_CODES:
        return None
    return header if header.position_is_true or _tolerated(log, header) else None


def _tolerated(log: _Log, header: _Header) -> bool:
    """Tell whether such a log may hold an event whose next position is not true."""
    if header.flags & ~_KNOWN_FLAGS:
        return False
    may_be_zero = log.format.family is Family.MARIADB or header.type_code in _MADE_UP_BY_SOURCES
    return log.relay or (header.next_position == 0 and may_be_zero)


def _holds(log: _Log, first: _Header) -> bool:
    """Confirm a candidate by the headers behind it, as far as the log goes, and by its checksum."""
    vouched = log.format.checksum_length > 0
    header, hops = first, 0
    while hops < _CHAIN or not vouched:
        vouched = vouched or header.position_is_true or header.end == log.size
        window = log.read_at(header.end, log.format.header_length)
        if header.end >= log.size or len(window) < log.format.header_length:
            break
        after = _header(log, window, 0, header.end)
        if after is None:
            return False
        vouched = vouched or after.continues(header)
        header, hops = after, hops + 1
    return vouched and _checksum_holds(log, first)


def _checksum_holds(log: _Log, header: _Header) -> bool:
    if log.format.checksum_length == 0:
        return True
    check = check_format_description if header.type_code == EventCode.FORMAT_DESCRIPTION else check_event
    return check(log.read_at(header.offset, header.size)) is ChecksumState.OK
