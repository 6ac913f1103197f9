"""Which table an id means: a hash table of the ids in use, with the TABLE_MAP that each came from."""

from __future__ import annotations

import numpy as np

from binspark.kernels.compiler import kernel
from binspark.kernels.events import body_end
from binspark.kernels.layout import Header, Stop, TableIds
from binspark.kernels.memory import load8, load16, load32, load64

_MIN_BODY_LENGTH = 8


@kernel
def table_id_at(body: int) -> int:
    """Read the table id with which the body of a TABLE_MAP or rows event begins."""
    return load32(body) | load16(body + 4) << 32


@kernel
def find_table_id(table_ids: np.ndarray, table_id: int) -> int:
    """Return the entry of a table id, or the empty entry where it belongs. The hash table is never full."""
    mask = len(table_ids) - 1
    entry = ((table_id & 0xFFFFFFFF) * 0x9E37 >> 7) & mask
    while table_ids[entry, TableIds.ID] != table_id and table_ids[entry, TableIds.ID] != -1:
        entry = (entry + 1) & mask
    return entry


@kernel
def check_table_map(state: np.ndarray, table_ids: np.ndarray, at: int, size: int) -> int:
    """Leave a TABLE_MAP to Python, unless it is byte for byte the one that its table id came from."""
    body = at + Header.LENGTH
    length = body_end(state, at, size) - body
    if length < _MIN_BODY_LENGTH:
        return Stop.PYTHON
    entry = find_table_id(table_ids, table_id_at(body))
    return 0 if is_known_map(table_ids, entry, body, length) else Stop.PYTHON


@kernel
def is_known_map(table_ids: np.ndarray, entry: int, body: int, length: int) -> bool:
    """Return whether the body of a TABLE_MAP is, byte for byte, the one that the table id of an entry came from."""
    if table_ids[entry, TableIds.ID] == -1 or table_ids[entry, TableIds.MAP_LENGTH] != length:
        return False
    known = table_ids[entry, TableIds.MAP]
    offset = 0
    while offset + 8 <= length:
        if load64(known + offset) != load64(body + offset):
            return False
        offset += 8
    while offset < length:
        if load8(known + offset) != load8(body + offset):
            return False
        offset += 1
    return True
