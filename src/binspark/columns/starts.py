"""Where transactions begin, found from anywhere in a log, so that a log can be read from there.

A transaction begins with its GTID event, or with a BEGIN that no GTID comes before. What stands between the end of a
transaction and the next such event (statements of old servers, rotations) goes with the transaction before it. Whether
an event begins a transaction can be told from itself and its neighbours alone, so two readers, one that comes from
before and one that begins here, always agree. `kernels.scan.is_split_end` is the same rule in bulk.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from binspark.columns.kernels.search import find_start_header
from binspark.frames import EventCode, LogFormat
from binspark.frames.resync import ReadAt, event_holds

GTID_CODES = frozenset({EventCode.GTID, EventCode.ANONYMOUS_GTID, EventCode.GTID_TAGGED, EventCode.MARIADB_GTID})
_WINDOW = 1 << 20
_HEADER_LENGTH = 19
_LONGEST_GTID = 1 << 10
_QUERY_FIXED = 13


@dataclass(frozen=True, slots=True)
class LogBytes:
    """A log whose bytes can be read from anywhere, as large as it was when it was looked at."""

    read_at: ReadAt
    size: int
    format: LogFormat

    def find_start(self, start: int, end: int | None = None) -> int | None:
        """Return where the first transaction begins that begins at `start` or later, and before `end`."""
        end = self.size if end is None else min(end, self.size)
        for window_start in range(start, end, _WINDOW):
            length = min(_WINDOW, end - window_start) + _HEADER_LENGTH - 1
            window = np.frombuffer(self.read_at(window_start, length) + bytes(8), dtype=np.uint8)
            found = self._in_window(window, window_start)
            if found is not None:
                return found
        return None

    def _in_window(self, window: np.ndarray, window_start: int) -> int | None:
        address, length, index = int(window.ctypes.data), len(window) - 8, 0
        while (index := find_start_header(address, length, index, window_start)) >= 0:
            if self.is_start(window_start + index):
                return window_start + index
            index += 1
        return None

    def is_start(self, offset: int) -> bool:
        """Tell whether a sound event at an offset begins a transaction."""
        header = self.read_at(offset, _HEADER_LENGTH)
        size = int.from_bytes(header[9:13], "little")
        if size < _HEADER_LENGTH or offset + size > self.size:
            return False
        if header[4] not in GTID_CODES and not (header[4] == EventCode.QUERY and self._is_first_begin(offset, size)):
            return False
        return event_holds(self.read_at, offset, self.size, self.format)

    def _is_first_begin(self, offset: int, size: int) -> bool:
        """Tell whether a statement is a BEGIN that no GTID comes before."""
        end = size - self.format.checksum_length
        body = self.read_at(offset, min(size, 1 << 16))[_HEADER_LENGTH:end]
        if len(body) < _QUERY_FIXED:
            return False
        text = _QUERY_FIXED + int.from_bytes(body[11:13], "little") + body[8] + 1
        return body[text:] == b"BEGIN" and not self._follows_gtid(offset)

    def _follows_gtid(self, offset: int) -> bool:
        first = max(0, offset - _LONGEST_GTID)
        before = self.read_at(first, offset - first)
        position = (offset & 0xFFFFFFFF).to_bytes(4, "little")
        return any(
            before[at + 4] in GTID_CODES
            and before[at + 13 : at + 17] == position
            and int.from_bytes(before[at + 9 : at + 13], "little") == len(before) - at
            for at in range(len(before) - _HEADER_LENGTH + 1)
        )
