"""Table maps for another database (`--rewrite-db`)."""

from __future__ import annotations

from binspark.frames import Frame

_SIZE = 9


def renamed_database(frame: Frame, old: bytes, new: bytes) -> bytes:
    """Return a TABLE_MAP with another database. As the tool does, the checksum is left as it is."""
    post_header = frame.format.post_header_length(frame.type_code)
    start = frame.body_start + post_header
    data = frame.data[:start] + bytes((len(new),)) + new + b"\0" + frame.data[start + 1 + len(old) + 1 :]
    return data[:_SIZE] + len(data).to_bytes(4, "little") + data[_SIZE + 4 :]
