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


@dataclass(frozen=True, slots=True)
class Sequence:
    """What the SEQ of rows of a part of a log begins with.

    epoch     the epoch of the stream
    log       the number of the log file; None for that in the name of the file
    position  a position for all rows; None for that of each event. Where another server repeats what the first one sent
              before it was lost, its own positions have no order with those before and after
    first     the number of the first row there
    """

    epoch: int = 0
    log: int | None = None
    position: int | None = None
    first: int = 0

    def values(
        self, file_number: int, positions: npt.NDArray[np.int64], rows: npt.NDArray[np.int32], arena: Arena
    ) -> pa.Array:
        """Return the values of rows."""
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
