"""The bodies of very many events as JSON: `json_values.body_json` for all of them, and shortcuts for the most frequent.

A shortcut gives the same JSON or none at all; then the event is decoded. Table maps, the beginnings of rows events and
statements repeat byte by byte, so their JSON is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from ctypes import string_at
from functools import lru_cache
from struct import Struct
from uuid import UUID

import numpy as np
import numpy.typing as npt

from binspark.columns.event_list import NULL, EventNumber
from binspark.event import Event, EventDecoder
from binspark.event.gtid import MAX_GNO
from binspark.event.status_vars import StatusCode
from binspark.frames import EventCode as E
from binspark.frames import Frame, LogFormat
from binspark.frames.checksum import ChecksumState
from binspark.frames.header import HEADER, HEADER_LENGTH, Header
from binspark.render.json_values import body_json
from binspark.wire.packed import packed_tail_length

_MAX_KEPT = 4096
_MAX_KEPT_BYTES = 1 << 10
_MAX_ONE_BYTE = 250
_XID = Struct("<Q")
_GTID = Struct("<B16sqBqq")
_GTID_COMMITTED = 49
_LOGICAL_CLOCK = 2
_HAS_ORIGINAL_TIME = 1 << 55
_HAS_ORIGINAL_VERSION = 1 << 31
_STATUS_LENGTH = HEADER_LENGTH + 11
_STATUS = HEADER_LENGTH + 13
_MICROSECONDS = int(StatusCode.MICROSECONDS)
_NO_EXTRA_ROW_INFORMATION = b"\x02\x00"
_ROWS = (E.WRITE_ROWS, E.UPDATE_ROWS, E.DELETE_ROWS)
_POST_HEADERS = {E.QUERY: 13, E.XID: 0, E.TABLE_MAP: 8, **dict.fromkeys(_ROWS, 10)}
N = EventNumber
_LISTED = (N.OFFSET, N.END, N.INNER, N.TYPE, N.SIZE, N.ADDRESS)


class EventBodies:
    """Writes the bodies of events as JSON; a `BodyWriter` of `columns.event_list`."""

    def __init__(self) -> None:
        self._kept: dict[bytes, str] = {}
        self._around: dict[bytes, tuple[str, str]] = {}

    def event(self, event: Event) -> str:
        """Return the body of a decoded event."""
        return json.dumps(body_json(event))

    def listed(self, numbers: npt.NDArray[np.int64], file: str, log_format: LogFormat) -> Iterator[str]:
        """Yield the bodies of listed events, whose bytes are in memory, one after the other."""
        usual = all(log_format.post_header_length(code) == length for code, length in _POST_HEADERS.items())
        shortcuts = _SHORTCUTS if usual else {}
        decoder, checksum_length = EventDecoder(file), log_format.checksum_length
        state = ChecksumState.OK if checksum_length else ChecksumState.NONE
        for offset, end, inner, code, size, address in zip(*(numbers[row].tolist() for row in _LISTED), strict=True):
            data, body_end = string_at(address, size), size - checksum_length
            shortcut = shortcuts.get(code)
            text = None if shortcut is None else shortcut(self, data, body_end)
            if text is None:
                header = Header._make(HEADER.struct.unpack_from(data))
                body = (data, HEADER_LENGTH, body_end, state, log_format, None if inner == NULL else inner)
                text = self.event(decoder.decode(Frame(offset, end, header, code, *body)))
                if shortcut is not None:
                    self._keep(code, data, body_end, text)
            yield text

    def _keep(self, code: int, data: bytes, end: int, text: str) -> None:
        """Keep the JSON of an event for the next one like it."""
        if len(self._kept) + len(self._around) >= _MAX_KEPT:
            self._kept.clear()
            self._around.clear()
        if code == E.TABLE_MAP:
            self._kept[data[HEADER_LENGTH:end]] = text
        elif code in _ROWS:
            start = _rows_start(data, end)
            if start:
                self._kept[data[4:5] + data[HEADER_LENGTH:start]] = text[: text.rindex(": ") + 2]
        elif code == E.QUERY and end <= _MAX_KEPT_BYTES:
            self._keep_query(data, end, text)

    def _keep_query(self, data: bytes, end: int, text: str) -> None:
        key, number = _query_key(data, end)
        before, field, after = text, "", ""
        if number is not None:
            before, field, after = text.partition(f'"microseconds": {number}')
            if after[:1] not in (",", "}"):
                return
        self._around[key] = (before + field.rstrip("0123456789"), after)

    def _table_map(self, data: bytes, end: int) -> str | None:
        return self._kept.get(data[HEADER_LENGTH:end])

    def _rows_event(self, data: bytes, end: int) -> str | None:
        start = _rows_start(data, end)
        before = self._kept.get(data[4:5] + data[HEADER_LENGTH:start]) if start else None
        return None if before is None else f"{before}{end - start}}}"

    def _query(self, data: bytes, end: int) -> str | None:
        if end > _MAX_KEPT_BYTES:
            return None
        key, number = _query_key(data, end)
        around = self._around.get(key)
        if around is None:
            return None
        return around[0] if number is None else f"{around[0]}{number}{around[1]}"

    def _xid(self, data: bytes, end: int) -> str | None:
        if end - HEADER_LENGTH != _XID.size:
            return None
        return f'{{"xid": {_XID.unpack_from(data, HEADER_LENGTH)[0]}}}'

    def _gtid(self, data: bytes, end: int) -> str | None:
        """Return the JSON of a GTID as servers since 8.0.14 write it."""
        if end - HEADER_LENGTH < _GTID_COMMITTED:
            return None
        flags, raw, gno, clock, last_committed, sequence = _GTID.unpack_from(data, HEADER_LENGTH)
        if clock != _LOGICAL_CLOCK or not 0 < gno < MAX_GNO or last_committed < 0 or sequence < 0:
            return None
        at = HEADER_LENGTH + _GTID_COMMITTED
        immediate = original = int.from_bytes(data[at - 7 : at], "little")
        if immediate & _HAS_ORIGINAL_TIME:
            immediate, original = immediate ^ _HAS_ORIGINAL_TIME, int.from_bytes(data[at : at + 7], "little")
            at += 7
        length, at = _packed(data, at)
        version = original_version = int.from_bytes(data[at : at + 4], "little")
        at += 4
        if version & _HAS_ORIGINAL_VERSION:
            version, original_version = version ^ _HAS_ORIGINAL_VERSION, int.from_bytes(data[at : at + 4], "little")
            at += 4
        if at != end:  # a ticket, bytes that are not known, or not enough
            return None
        sid = _uuid(raw)
        return (
            f'{{"gtid_flags": {flags}, "sid": "{sid}", "gno": {gno}, "logical_clock_typecode": {clock}, '
            f'"last_committed": {last_committed}, "sequence_number": {sequence}, '
            f'"immediate_commit_timestamp": {immediate}, "original_commit_timestamp": {original}, '
            f'"transaction_length": {length}, "immediate_server_version": {version}, '
            f'"original_server_version": {original_version}, "commit_group_ticket": null, "gtid": "{sid}:{gno}"}}'
        )


def _rows_start(data: bytes, end: int) -> int:
    """Return the offset of the rows in a rows event, 0 if it has extra information or very many columns."""
    at = HEADER_LENGTH + 8
    if data[at : at + 2] != _NO_EXTRA_ROW_INFORMATION or at + 2 >= end or data[at + 2] > _MAX_ONE_BYTE:
        return 0
    bitmap = (data[at + 2] + 7) >> 3
    start = at + 3 + (2 * bitmap if data[4] == E.UPDATE_ROWS else bitmap)
    return start if start <= end else 0


def _query_key(data: bytes, end: int) -> tuple[bytes, int | None]:
    """Return what statements of a session have in common, and the microseconds, which all of them may have."""
    status_end = _STATUS + data[_STATUS_LENGTH] + (data[_STATUS_LENGTH + 1] << 8)
    for at in (status_end - 7, status_end - 4):
        if _STATUS <= at < end - 4 and data[at] == _MICROSECONDS:
            number = int.from_bytes(data[at + 1 : at + 4], "little")
            return data[HEADER_LENGTH : at + 1] + data[at + 4 : end], number
    return data[HEADER_LENGTH:end], None


def _packed(data: bytes, at: int) -> tuple[int, int]:
    """Read a packed integer; return it, and the offset after it, which is after the end if there is none."""
    first = data[at] if at < len(data) else _MAX_ONE_BYTE + 1
    tail = packed_tail_length(first)
    if tail < 0:
        return 0, len(data) + 1
    return (int.from_bytes(data[at + 1 : at + 1 + tail], "little") if tail else first), at + 1 + tail


@lru_cache(maxsize=256)
def _uuid(raw: bytes) -> str:
    return str(UUID(bytes=raw))


_SHORTCUTS: dict[int, Callable[[EventBodies, bytes, int], str | None]] = {
    E.TABLE_MAP: EventBodies._table_map,
    E.QUERY: EventBodies._query,
    E.XID: EventBodies._xid,
    E.GTID: EventBodies._gtid,
    **dict.fromkeys(_ROWS, EventBodies._rows_event),
}
