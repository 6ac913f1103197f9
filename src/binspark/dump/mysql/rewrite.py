"""`--rewrite-db`: other names of databases in statements and table maps, in the bytes of their events."""

from __future__ import annotations

from collections.abc import Iterable
from zlib import crc32

from binspark.frames import EventCode, Frame
from binspark.frames.format import CHECKSUM_LENGTH

_STATEMENTS = frozenset({EventCode.QUERY, EventCode.EXECUTE_LOAD_QUERY})
_NAME_LENGTH = 8
_STATUS_LENGTH = 11
_SIZE = slice(9, 13)
_MAX_LENGTH = 0xFF


class DatabaseRewriter:
    """Replaces names of databases; positions in headers stay as they are."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self._names = {old.encode(): new.encode() for old, new in names}

    def rewrite(self, frame: Frame) -> Frame:
        """Return a frame with the new name of its database, if there is one."""
        if not self._names or (frame.type_code not in _STATEMENTS and frame.type_code != EventCode.TABLE_MAP):
            return frame
        data, start = frame.data, frame.body_start
        if frame.type_code in _STATEMENTS:
            at = start + frame.format.post_header_length(frame.type_code)
            at += int.from_bytes(data[start + _STATUS_LENGTH : start + _STATUS_LENGTH + 2], "little")
        else:
            at = start + _NAME_LENGTH + 1
        length_at = start + _NAME_LENGTH
        length = data[length_at] if length_at < frame.body_end else 0
        new = self._names.get(data[at : at + length])
        if new is None or len(new) > _MAX_LENGTH:
            return frame
        return _replaced(frame, length_at, slice(at, at + length), new)


def _replaced(frame: Frame, length_at: int, old: slice, new: bytes) -> Frame:
    data = bytearray(frame.data[: frame.body_end])
    data[old] = new
    data[length_at] = len(new)
    end = len(data)
    has_checksum = frame.body_end < len(frame.data)
    size = end + CHECKSUM_LENGTH * has_checksum
    data[_SIZE] = size.to_bytes(4, "little")
    if has_checksum:
        data += crc32(data).to_bytes(CHECKSUM_LENGTH, "little")
    return frame._replace(data=bytes(data), body_end=end, header=frame.header._replace(event_size=size))
