"""The JSON kernel and its reference, called alike."""

from __future__ import annotations

import numpy as np

from binspark.errors import BinlogError
from binspark.kernels.compiler import kernel
from binspark.kernels.json.document import write_json
from binspark.kernels.json.strings import ROOM
from binspark.kernels.layout import NO_ROOM, REFUSED
from binspark.values.json.binary import json_text

_WRITE_JSON = kernel(write_json)
_MARK = 0xA5
_MARGIN = 32
_ANSWERS = {REFUSED: "refused", NO_ROOM: "no room"}


def room_for(document: bytes) -> int:
    """Return room that every document of this size is happy with."""
    return 6 * len(document) + 40 + ROOM


def kernel_outcome(document: bytes, capacity: int | None = None, after: bytes = b"") -> bytes | str:
    """Return what the kernel writes, or its answer; whatever it does, it writes nowhere else."""
    capacity = room_for(document) if capacity is None else capacity
    source = np.frombuffer(document + after + b"\0", dtype=np.uint8)
    memory = np.full(capacity + 2 * _MARGIN, _MARK, dtype=np.uint8)
    written = _WRITE_JSON(memory.ctypes.data + _MARGIN, capacity, source.ctypes.data, len(document))
    assert set(memory[:_MARGIN]) == set(memory[_MARGIN + capacity :]) == {_MARK}
    return _ANSWERS.get(written) or memory[_MARGIN : _MARGIN + written].tobytes()


def reference_outcome(document: bytes) -> bytes | str:
    try:
        return json_text(document).encode()
    except BinlogError:
        return _ANSWERS[REFUSED]
