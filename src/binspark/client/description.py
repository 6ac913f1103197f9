"""The format description as a server sends it, against the one that stands in its file.

A server that is asked for the middle of a file begins with the file's format description, without its next position and
its creation time: the reader is to take no place from it, and to keep its temporary tables. By GTIDs it clears the
creation time alone, if it skips transactions. It computes the checksum anew only where the file has checksums. Where
the file has none, the event still ends with one, that of the event as it stands in the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from binspark.frames.checksum import ChecksumState, check_format_description
from binspark.frames.format import SERVER_VERSION_LENGTH
from binspark.frames.frame import Frame
from binspark.frames.header import HEADER_LENGTH
from binspark.frames.magic import FIRST_EVENT_OFFSET

_TIME = slice(0, 4)
_NEXT_POSITION = slice(13, 17)
_CREATED = slice(HEADER_LENGTH + 2 + SERVER_VERSION_LENGTH, HEADER_LENGTH + 2 + SERVER_VERSION_LENGTH + 4)
_CLEARED = bytes(4)


def has_checksum_of_file(description: Frame) -> bool:
    """Tell whether a format description has the checksum of its file, which has no others, and is the file's but for
    what servers clear.
    """
    if description.format.checksum_length:
        return False
    return any(check_format_description(event) is ChecksumState.OK for event in _in_file(description.data))


def _in_file(sent: bytes) -> Iterator[bytes]:
    """Yield what may stand in the file: a creation time is that of the event itself, or none."""
    event = bytearray(sent)
    if event[_NEXT_POSITION] == _CLEARED:
        event[_NEXT_POSITION] = (FIRST_EVENT_OFFSET + len(event)).to_bytes(4, "little")
    yield bytes(event)
    if event[_CREATED] == _CLEARED:
        event[_CREATED] = event[_TIME]
        yield bytes(event)
