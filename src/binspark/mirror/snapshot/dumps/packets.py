"""Rows that are in memory, as the packets of a result set: `columns.result_rows` makes record batches of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from binspark.replication.channel import MAX_PAYLOAD, PACKET_HEADER

_BUFFER_BYTES = 1 << 20
_SLACK = 64
_END = b"\xfe\0\0\0\0"


class RowPackets:
    """Packets with the payloads of rows, and the end after them."""

    def __init__(self, rows: Iterator[bytes]) -> None:
        self._rows = rows
        self._buffer: npt.NDArray[np.uint8] = np.zeros(_SLACK, dtype=np.uint8)
        self._start = self._end = 0
        self._sequence = 0
        self._large: bytes | None = None

    def unread(self) -> tuple[int, int, int]:
        """Return where packets are, and the number of the next one."""
        address = int(self._buffer.ctypes.data)
        return address + self._start, address + self._end, self._sequence

    def skip(self, count: int, sequence: int) -> None:
        """Note that packets were read."""
        self._start += count
        self._sequence = sequence

    def receive(self, _needed: int) -> None:
        """Take more rows. All packets are complete, so that those before were read."""
        packets, size, sequence = [], 0, self._sequence
        while size < _BUFFER_BYTES:
            row = next(self._rows, _END)
            if len(row) >= MAX_PAYLOAD:
                self._large = row
            packets.append(min(len(row), MAX_PAYLOAD).to_bytes(3, "little") + bytes((sequence,)))
            sequence = (sequence + 1) & 0xFF
            if self._large is not None:
                break
            packets.append(row)
            size += len(row) + PACKET_HEADER
            if row is _END:
                break
        filled = b"".join(packets)
        self._buffer = np.frombuffer(filled + bytes(_SLACK), dtype=np.uint8)
        self._start, self._end = 0, len(filled)

    def read_row(self) -> bytes | None:
        """Return a row that is longer than a packet, of which only the header is there; None at the end."""
        large, self._large = self._large, None
        if large is not None:
            self.skip(PACKET_HEADER, (self._sequence + 1) & 0xFF)
        return large
