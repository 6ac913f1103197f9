"""The column SEQ: one value for each row, whose order is that of the rows over all logs and servers of a stream.

A value is text of 32 hexadecimal digits, which every engine sorts in the same way: epoch, number of the log file,
position of the event, number of the row. So rows of one server are in the order of its logs. The epoch is that of the
stream: it is counted up where a stream continues with other logs, after a failover or a reset, and is 0 elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.arena import Arena
from binspark.errors import Unsupported
from binspark.kernels.sequence import LENGTH, write_sequences
from binspark.position import log_name

_MAX_EPOCH = 0xFFFF
_MAX_LOG = 0xFFFFFFFF
_LOG_NUMBER = re.compile(r"\.(\d+)$")
_OFFSETS_STEP = 1 << 16


ROWS_PER_BYTE = 16
"""How many rows have the same position in a range that another server repeats."""

REPEATED_ROW = 1 << 30
"""Added to the numbers of such rows, so that none has the value of a row that the first server has sent."""


@dataclass(frozen=True, slots=True)
class RepeatedRange:
    """A range of the log of a server that is lost, and what of it was numbered already.

    Another server sends the same transactions at positions of its own, which have no order with the rows before and
    after the range. So the rows are spread over the range: it has more bytes than rows, unless they are compressed.

    start, end  the offsets between which no rows of the first server are
    first       the number of the next row in the range
    """

    start: int
    end: int
    first: int = 0

    def spread(self, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Return positions and numbers of rows, given their numbers in a transaction."""
        numbers = rows + self.first
        positions = np.minimum(self.start + numbers // ROWS_PER_BYTE, self.end - 1)
        return positions, (numbers - (positions - self.start) * ROWS_PER_BYTE + REPEATED_ROW).astype(np.int32)


@dataclass(frozen=True, slots=True)
class Sequence:
    """What the SEQ of rows of a part of a log begins with.

    epoch     the epoch of the stream
    log       the number of the log file; None for that in the name of the file
    repeated  positions for the rows, instead of those of their events
    """

    epoch: int = 0
    log: int | None = None
    repeated: RepeatedRange | None = None

    def values(
        self, file_number: int, positions: npt.NDArray[np.int64], rows: npt.NDArray[np.int32], arena: Arena
    ) -> pa.Array:
        """Return the values of rows, whose positions and numbers are those of a log or of a repeated range."""
        if self.epoch > _MAX_EPOCH:
            message = f"the stream has continued with other logs {self.epoch} times, at most {_MAX_EPOCH} are supported"
            raise Unsupported(f"{message}; begin another stream")
        count = len(rows)
        block = arena.take(LENGTH * count)
        number = file_number if self.log is None else self.log
        target = int(block.ctypes.data)
        write_sequences(target, count, self.epoch, number, positions.ctypes.data, rows.ctypes.data)
        data = pa.py_buffer(block[: LENGTH * count])
        return pa.Array.from_buffers(pa.string(), count, [None, _offsets(-(-count // _OFFSETS_STEP)), data], 0)


NO_EPOCH = Sequence()


@lru_cache(maxsize=16)
def log_number(file: str) -> int:
    """Return the number in the name of a log file, compressed or not: 42 of `binlog.000042`. 0 if it has none."""
    match = _LOG_NUMBER.search(log_name(file))
    return min(int(match[1]), _MAX_LOG) if match else 0


@lru_cache(maxsize=4)
def _offsets(steps: int) -> pa.Buffer:
    """Return the offsets of values: the same for all batches, because the length of values is."""
    return pa.py_buffer(np.arange(0, LENGTH * (steps * _OFFSETS_STEP + 1), LENGTH, dtype=np.int32))
