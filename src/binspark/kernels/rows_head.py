"""What comes before the rows of a rows event, in the usual layouts."""

from __future__ import annotations

from binspark.event.column_types import MAX_COLUMNS
from binspark.frames.codes import EventCode as E
from binspark.kernels.compiler import kernel
from binspark.kernels.layout import Header, Operation
from binspark.kernels.memory import load8, load16

_ROWS_V1, _ROWS_V2 = int(E.WRITE_ROWS_V1), int(E.WRITE_ROWS)
_UPDATE = int(Operation.UPDATE)
_EXTRA_LENGTH, _PARTITION = 2, 1
_PARTITION_LENGTH, _PARTITIONS_LENGTH = 5, 7


@kernel
def rows_start(kind: int, at: int, end: int) -> int:
    """Return the address of the first row of a rows event, -1 if what comes before is not as usual."""
    body = at + Header.LENGTH
    start = body + 8
    operation = kind - (_ROWS_V2 if kind >= _ROWS_V2 else _ROWS_V1)
    if kind >= _ROWS_V2:
        if start + _EXTRA_LENGTH > end:
            return -1
        extra = load16(start)
        if extra != _EXTRA_LENGTH:
            usual = _PARTITIONS_LENGTH if operation == _UPDATE else _PARTITION_LENGTH
            if extra != usual or start + extra > end or load8(start + _EXTRA_LENGTH) != _PARTITION:
                return -1
        start += extra
    count, start = packed_count(start, end)
    if count < 0 or count > MAX_COLUMNS:
        return -1
    start += ((count + 7) >> 3) * (2 if operation == _UPDATE else 1)
    return start if start <= end else -1


@kernel
def packed_count(at: int, end: int) -> tuple[int, int]:
    """Read the number of columns, a packed integer, and return the address after it; -1 if it is invalid."""
    if at >= end:
        return -1, at
    first = load8(at)
    if first < 251:
        return first, at + 1
    if first == 252 and end - at >= 3:
        return load16(at + 1), at + 3
    return -1, at
