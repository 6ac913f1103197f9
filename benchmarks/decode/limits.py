"""What the machine can do at best with the same bytes: read, copy, compute their CRC32, and decompress payloads."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import zstandard

import binspark
from benchmarks.decode.logs import Log
from benchmarks.timing import best_seconds
from binspark.event import TransactionPayload

_WINDOW = 16 << 20
_REPEATS = 7


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds for reading the file into a reused buffer, for memcpy, for zlib's CRC32, and for zstd on its payloads."""

    read: float
    copy: float
    crc: float
    zstd: float


def measure(log: Log) -> Limits:
    """Measure the limits on one log, which is in the page cache."""
    data = np.fromfile(log.path, dtype=np.uint8)
    other = np.zeros_like(data)
    return Limits(
        read=best_seconds(lambda: _read(log), _REPEATS),
        copy=best_seconds(lambda: np.copyto(other, data), _REPEATS),
        crc=best_seconds(lambda: zlib.crc32(data.data), _REPEATS),
        zstd=_zstd_seconds(log),
    )


def _read(log: Log) -> None:
    window = memoryview(bytearray(_WINDOW))
    with log.path.open("rb", buffering=0) as file:
        while file.readinto(window):
            pass


def _zstd_seconds(log: Log) -> float:
    """Return the seconds in which zstd alone decompresses the payloads of a log into a reused buffer; 0 without any."""
    if log.workload.name != "compressed":
        return 0.0
    bodies = (event.body for event in binspark.events(log.path))
    payloads = [body.payload for body in bodies if isinstance(body, TransactionPayload)]
    window = memoryview(bytearray(_WINDOW))

    def work() -> None:
        for payload in payloads:
            reader = zstandard.ZstdDecompressor().stream_reader(payload)
            while reader.readinto(window):
                pass

    return best_seconds(work, _REPEATS)
