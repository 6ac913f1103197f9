"""Where a zstd stream ends, told by its block headers alone.

zstd's own reader takes a stream that was cut between two blocks for one that ended. The blocks tell:

bytes  field
h      frame header; says whether a checksum ends the frame
3      block header: 1 bit "last block", 2 bits type, 21 bits size        for each block
n      the block: as many bytes as its size says, 1 for type 1 (one byte, repeated)
4      checksum of the frame, if it has one
"""

from __future__ import annotations

import zstandard

_LONGEST_FRAME_HEADER = 18
_BLOCK_HEADER = 3
_REPEATED_BYTE = 1
_CHECKSUM = 4
_SKIPPABLE_MAGIC = range(0x184D2A50, 0x184D2A60)
_SKIPPABLE_HEADER = 8


def is_whole(stream: bytes) -> bool:
    """Tell whether zstd frames end where the bytes end. Raises `ZstdError` where no frame begins."""
    end = 0
    while end < len(stream):
        end = _frame_end(stream, end)
    return end == len(stream)


def _frame_end(stream: bytes, start: int) -> int:
    """Return where the frame at `start` ends, beyond the stream if it is cut."""
    head = stream[start : start + _LONGEST_FRAME_HEADER]
    if int.from_bytes(head[:4], "little") in _SKIPPABLE_MAGIC:
        return start + _SKIPPABLE_HEADER + int.from_bytes(head[4:_SKIPPABLE_HEADER], "little")
    at, is_last = start + zstandard.frame_header_size(head), False
    while not is_last:
        header = int.from_bytes(stream[at : at + _BLOCK_HEADER], "little")
        if at + _BLOCK_HEADER > len(stream):
            return len(stream) + 1
        is_last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        at += _BLOCK_HEADER + (1 if kind == _REPEATED_BYTE else size)
    return at + (_CHECKSUM if zstandard.get_frame_parameters(head).has_checksum else 0)
