"""What the machine can do at best with the same bytes: read, copy, and compute their CRC32."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from benchmarks.decode.logs import Log
from benchmarks.timing import best_seconds

_WINDOW = 16 << 20
_REPEATS = 7


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds for reading the file into a reused buffer, for memcpy, and for zlib's CRC32."""

    read: float
    copy: float
    crc: float


def measure(log: Log) -> Limits:
    """Measure the limits on one log, which is in the page cache."""
    data = np.fromfile(log.path, dtype=np.uint8)
    other = np.zeros_like(data)
    return Limits(
        read=best_seconds(lambda: _read(log), _REPEATS),
        copy=best_seconds(lambda: np.copyto(other, data), _REPEATS),
        crc=best_seconds(lambda: zlib.crc32(data.data), _REPEATS),
    )


def _read(log: Log) -> None:
    window = memoryview(bytearray(_WINDOW))
    with log.path.open("rb", buffering=0) as file:
        while file.readinto(window):
            pass
