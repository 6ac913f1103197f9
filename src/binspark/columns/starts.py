"""Where transactions begin, found from any offset of a log, so that a log can be read from there.

A transaction begins with its GTID event. In logs of servers that do not give every transaction a GTID event it may also
begin with a BEGIN that no GTID comes before. Events between the end of a transaction and the next such event
(statements of old servers, rotations) are read with the transaction before them. Whether an event begins a transaction
depends on the event and its neighbors alone, so that two readers, one that comes from before and one that begins here,
always agree: both call `LogBytes.is_start`, wherever `kernels.scan` finds that a transaction may begin.

An event that is part of a value, as when a log is stored in a BLOB, has the end position that it had in its own log.
Only somebody who knows beforehand at which offset a value will be can write one that looks like an event of this log.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from binspark.frames import EventCode, LogFormat
from binspark.frames.checksum import ChecksumState, check_event
from binspark.frames.resync import ReadAt, is_event_at
from binspark.kernels.starts import find_start_header
from binspark.transactions.byte_tables import (
    IDENTIFYING_CODES,
    MAX_EXACT_LENGTH,
    QUERY_LENGTH,
    exact_role,
    statement_text,
)
from binspark.transactions.grammar import Role

_WINDOW = 1 << 20
_HEADER_LENGTH = 19
_MAX_GTID_SIZE = 1 << 10
_MAX_BEGIN_SIZE = _HEADER_LENGTH + QUERY_LENGTH + (1 << 16) + (1 << 8) + MAX_EXACT_LENGTH
_U32 = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class LogBytes:
    """A log whose bytes can be read at any offset, with the size that it had when it was opened."""

    read_at: ReadAt
    size: int
    format: LogFormat

    def find_start(self, start: int, end: int | None = None) -> int | None:
        """Return the offset of the first transaction that begins at `start` or later, and before `end`."""
        end = self.size if end is None else min(end, self.size)
        for window_start in range(start, end, _WINDOW):
            length = min(_WINDOW, end - window_start) + _HEADER_LENGTH - 1
            window = np.frombuffer(self.read_at(window_start, length) + bytes(8), dtype=np.uint8)
            found = self._in_window(window, window_start)
            if found is not None:
                return found
        return None

    @property
    def may_begin_unnamed(self) -> bool:
        """Whether a BEGIN may be the first event of a transaction."""
        return not self.format.names_every_transaction

    def _in_window(self, window: np.ndarray, window_start: int) -> int | None:
        address, length, index = int(window.ctypes.data), len(window) - 8, 0
        layout = (self.format.checksum_length, self.may_begin_unnamed)
        while (index := find_start_header(address, length, index, window_start, *layout)) >= 0:
            if self.is_start(window_start + index):
                return window_start + index
            index += 1
        return None

    def is_start(self, offset: int) -> bool:
        """Return whether a valid event at an offset begins a transaction."""
        header = self.read_at(offset, _HEADER_LENGTH)
        size, end = int.from_bytes(header[9:13], "little"), int.from_bytes(header[13:17], "little")
        min_size = _HEADER_LENGTH + self.format.checksum_length
        if size < min_size or offset + size > self.size or end != (offset + size) & _U32:
            return False
        code = header[4]
        if code not in IDENTIFYING_CODES and not (code == EventCode.QUERY and self._is_first_begin(offset, size)):
            return False
        if self.format.checksum_length:
            return check_event(self.read_at(offset, size)) is ChecksumState.OK
        return is_event_at(self.read_at, offset, self.size, self.format)

    def _is_first_begin(self, offset: int, size: int) -> bool:
        """Return whether a statement is a BEGIN that no GTID comes before."""
        if not self.may_begin_unnamed or size > _MAX_BEGIN_SIZE:
            return False
        body = self.read_at(offset, size)[_HEADER_LENGTH : size - self.format.checksum_length]
        text = statement_text(body)
        return text is not None and exact_role(text) == Role.BEGINS and not self._follows_gtid(offset)

    def _follows_gtid(self, offset: int) -> bool:
        """Return whether the event before an offset is a GTID. Its end position is not checked: it may be damaged."""
        first = max(0, offset - _MAX_GTID_SIZE)
        before = self.read_at(first, offset - first)
        return any(
            before[at + 4] in IDENTIFYING_CODES
            and int.from_bytes(before[at + 9 : at + 13], "little") == len(before) - at
            for at in range(len(before) - _HEADER_LENGTH + 1)
        )
