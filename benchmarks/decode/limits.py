"""What the machine could do at best with the same bytes: read, copy, and check them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from benchmarks.decode.figure import best_seconds
from benchmarks.decode.logs import Log

_WINDOW = 16 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds for reading the file into a buffer that is used again, for memcpy, and for zlib's CRC32."""

    read: float
    copy: float
    crc: float


def measure(log: Log) -> Limits:
    """Measure the limits on one log, which is in the page cache."""
    data = np.fromfile(log.path, dtype=np.uint8)
    other = np.zeros_like(data)
    return Limits(
        read=best_seconds(lambda: _read(log)),
        copy=best_seconds(lambda: np.copyto(other, data)),
        crc=best_seconds(lambda: zlib.crc32(data.data)),
    )


def _read(log: Log) -> None:
    window = memoryview(bytearray(_WINDOW))
    with log.path.open("rb", buffering=0) as file:
        while file.readinto(window):
            pass
