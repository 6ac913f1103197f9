"""Events that are printed in another form: for another database, or without compression."""

from __future__ import annotations

from binspark.event import Rows
from binspark.event.rows import UNCOMPRESSED
from binspark.frames import Frame
from binspark.frames.checksum import checksum_of

_TYPE, _SIZE = 4, 9


def renamed_database(frame: Frame, old: bytes, new: bytes) -> bytes:
    """Return a TABLE_MAP with another database. As the tool does, the checksum is left as it is."""
    post_header = frame.format.post_header_length(frame.type_code)
    start = frame.body_start + post_header
    data = frame.data[:start] + bytes((len(new),)) + new + b"\0" + frame.data[start + 1 + len(old) + 1 :]
    return data[:_SIZE] + len(data).to_bytes(4, "little") + data[_SIZE + 4 :]


def uncompressed_rows(frame: Frame, body: Rows) -> bytes:
    """Return a compressed rows event as the event that it would be without compression."""
    data = frame.data[: frame.body_end - len(body.compressed or b"")] + body.rows
    size = len(data) + len(frame.data) - frame.body_end
    head = data[:_TYPE] + bytes((UNCOMPRESSED[frame.type_code],)) + data[_TYPE + 1 : _SIZE]
    data = head + size.to_bytes(4, "little") + data[_SIZE + 4 :]
    return data + checksum_of(data) if frame.body_end < len(frame.data) else data
