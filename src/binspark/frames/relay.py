"""Whether a log is a relay log: a replica's copy of its source's log."""

from __future__ import annotations

from binspark.frames.codes import EventCode, HeaderFlag
from binspark.frames.frame import Frame
from binspark.frames.header import HEADER, HEADER_LENGTH, Header


def is_relay_log(first: Frame, after: bytes) -> bool:
    """Return whether a log is a relay log, given its first event and the bytes after it, at least a header.

    Current replicas mark the first event. In the relay logs of 5.0 and 5.1 it is followed by the events with which a
    source begins a stream: ROTATE, whose next position is 0, and FORMAT_DESCRIPTION. A relay log of 4.x begins with
    that ROTATE.
    """
    if first.header.flags & HeaderFlag.RELAY_LOG or first.type_code == EventCode.ROTATE:
        return True
    if first.type_code != EventCode.FORMAT_DESCRIPTION or len(after) < HEADER_LENGTH:
        return False
    second = Header._make(HEADER.struct.unpack_from(after))
    if second.type_code == EventCode.ROTATE:
        return second.next_position == 0
    return second.type_code == EventCode.FORMAT_DESCRIPTION
