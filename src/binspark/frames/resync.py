"""Find an event from any offset of a version 4 log, without an index.

Every header contains the position of the next event, so an event at offset p satisfies

    u32(p + 13) == (p + u32(p + 9)) mod 2^32        and its type code is known.

That alone has given no false match in practice. It is confirmed nevertheless: by the checksum if there is one, and by
the chain: after the event comes another event, or the end of the log.

Two kinds of logs contain events that do not satisfy it. MariaDB writes 0 as the next position of events inside a
transaction (since 11.4). A relay log contains events with the positions that they had in the source's log. For these
the flags of the header must be known, too, and without checksums the chain is followed until one event confirms the
others: one whose next position matches its offset or continues that of the event before it, or one that ends with the
log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct
from typing import NamedTuple

from binspark.frames.checksum import ChecksumState, check_event, check_format_description
from binspark.frames.codes import KNOWN_CODES, EventCode, HeaderFlag
from binspark.frames.format import Family, LogFormat

ReadAt = Callable[[int, int], bytes]
"""`read_at(offset, length)` returns the bytes of the log at an offset, fewer only at its end."""

_TYPE_SIZE_NEXT_FLAGS = Struct("<B4xIIH")
_TYPE_OFFSET = 4
_WINDOW = 1 << 16
_U32 = 1 << 32
_CHAIN = 2
_WRITTEN_CODES = KNOWN_CODES - {EventCode.UNKNOWN}
_SENT_AS_ARTIFICIAL = frozenset({EventCode.ROTATE, EventCode.FORMAT_DESCRIPTION})
_ACCEPT_OWN = 0x4000  # MariaDB's
_KNOWN_FLAGS = _ACCEPT_OWN | sum(HeaderFlag)


class _Log(NamedTuple):
    """A log that is searched."""

    read_at: ReadAt
    size: int
    format: LogFormat
    relay: bool


class _Header(NamedTuple):
    """A candidate for the header of an event."""

    offset: int
    type_code: int
    size: int
    next_position: int
    flags: int

    @property
    def end(self) -> int:
        return self.offset + self.size

    @property
    def position_matches(self) -> bool:
        """Whether the next position is the end of the event, as in every log but MariaDB's and relay logs."""
        return self.next_position == self.end % _U32

    def continues(self, before: _Header) -> bool:
        """Return whether the next positions of two events are those of consecutive events in one (source's) log."""
        return self.next_position != 0 and self.next_position == (before.next_position + self.size) % _U32


def find_event(read_at: ReadAt, start: int, log_size: int, log_format: LogFormat, *, relay: bool = False) -> int | None:
    """Return the offset of the first event that begins at or after `start`, or None if there is none.

    `relay` is for relay logs, see `is_relay_log`.
    """
    log = _Log(read_at, log_size, log_format, relay)
    return next((header.offset for header in _candidates(log, start) if _is_confirmed(log, header)), None)


def begins_event(read_at: ReadAt, offset: int, log_size: int, log_format: LogFormat, *, relay: bool = False) -> bool:
    """Return whether an undamaged event begins at an offset: `find_event` would find it there."""
    log = _Log(read_at, log_size, log_format, relay)
    header = _header_at(log, offset)
    return header is not None and header.end <= log_size and _is_confirmed(log, header)


def is_event_at(read_at: ReadAt, offset: int, log_size: int, log_format: LogFormat) -> bool:
    """Return whether an undamaged event begins at an offset, with a next position that matches."""
    log = _Log(read_at, log_size, log_format, relay=False)
    header = _header_at(log, offset)
    return header is not None and header.position_matches and header.end <= log_size and _is_confirmed(log, header)


def _header_at(log: _Log, offset: int) -> _Header | None:
    window = log.read_at(offset, log.format.header_length)
    return _header(log, window, 0, offset) if len(window) == log.format.header_length else None


def _candidates(log: _Log, start: int) -> Iterator[_Header]:
    """Yield candidates for headers of complete events."""
    overlap = log.format.header_length - 1
    for window_start in range(start, log.size, _WINDOW):
        window = log.read_at(window_start, _WINDOW + overlap)
        for at in range(min(_WINDOW, len(window) - overlap)):
            if window[at + _TYPE_OFFSET] in _WRITTEN_CODES:
                header = _header(log, window, at, window_start + at)
                if header is not None and header.end <= log.size:
                    yield header


def _header(log: _Log, window: bytes, at: int, offset: int) -> _Header | None:
    """Return the header at `window[at]`, which is at `offset` in the log, or None if it cannot be one."""
    header = _Header(offset, *_TYPE_SIZE_NEXT_FLAGS.unpack_from(window, at + _TYPE_OFFSET))
    if header.size < log.format.header_length + log.format.checksum_length:
        return None
    if header.type_code not in _WRITTEN_CODES:
        return None
    return header if header.position_matches or _may_differ(log, header) else None


def _may_differ(log: _Log, header: _Header) -> bool:
    """Return whether an event of this log may have a next position that is not its end."""
    if header.flags & ~_KNOWN_FLAGS:
        return False
    may_be_zero = log.format.family is Family.MARIADB or header.type_code in _SENT_AS_ARTIFICIAL
    return log.relay or (header.next_position == 0 and may_be_zero)


def _is_confirmed(log: _Log, first: _Header) -> bool:
    """Return whether the headers after a candidate, up to the end of the log, and its checksum confirm it."""
    confirmed = log.format.checksum_length > 0
    header, hops = first, 0
    while hops < _CHAIN or not confirmed:
        confirmed = confirmed or header.position_matches or header.end == log.size
        window = log.read_at(header.end, log.format.header_length)
        if header.end >= log.size or len(window) < log.format.header_length:
            break
        after = _header(log, window, 0, header.end)
        if after is None:
            return False
        confirmed = confirmed or after.continues(header)
        header, hops = after, hops + 1
    return confirmed and _checksum_matches(log, first)


def _checksum_matches(log: _Log, header: _Header) -> bool:
    if log.format.checksum_length == 0:
        return True
    check = check_format_description if header.type_code == EventCode.FORMAT_DESCRIPTION else check_event
    return check(log.read_at(header.offset, header.size)) is ChecksumState.OK
