"""TABLE_MAPs that are known to decode, in a hash table by table id: `files.known_maps` fills it."""

from __future__ import annotations

from enum import IntEnum

from binspark.kernels.compiler import kernel
from binspark.kernels.memory import get, load16, load32
from binspark.kernels.text import equal_bytes

_TABLE_ID_LENGTH = 6


class KnownMap(IntEnum):
    """Numbers of a TABLE_MAP that decodes, in a hash table by table id."""

    ID = 0  # -1 for an empty entry
    ADDRESS = 1
    LENGTH = 2
    WANTED = 3  # 1: rows of its table are selected
    COLUMNS = 4  # how many columns it has
    SIZES = 5  # address of the sizes of their values, see `kernels.row_counts`; 0 if they are not known
    COUNT = 6


KNOWN_MAPS = 4096
"""How many entries the hash table of TABLE_MAPs has. It must never be full."""


@kernel
def map_entry(maps: int, body: int, end: int) -> int:
    """Return the address of the entry of a TABLE_MAP's table id, or of the empty one where it belongs; 0 for no id."""
    if end - body < _TABLE_ID_LENGTH:
        return 0
    table_id = load32(body) | load16(body + 4) << 32
    index = ((table_id & 0xFFFFFFFF) * 0x9E37 >> 7) & (KNOWN_MAPS - 1)
    while True:
        entry = maps + 8 * KnownMap.COUNT * index
        if get(entry, KnownMap.ID) == table_id or get(entry, KnownMap.ID) == -1:
            return entry
        index = (index + 1) & (KNOWN_MAPS - 1)


@kernel
def is_known_map(entry: int, body: int, end: int) -> bool:
    """Return whether a TABLE_MAP is byte for byte the one of an entry, which decodes."""
    length = end - body
    if entry == 0 or get(entry, KnownMap.ID) == -1 or get(entry, KnownMap.LENGTH) != length:
        return False
    return equal_bytes(get(entry, KnownMap.ADDRESS), body, length)
