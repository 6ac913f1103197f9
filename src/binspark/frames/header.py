"""The header that every event begins with."""

from __future__ import annotations

from typing import NamedTuple

from binspark.frames.codes import HeaderFlag, type_name
from binspark.wire import Cursor, Layout, Writer
from binspark.wire.meaning import flags, note, quantity, seconds

V1_HEADER_LENGTH = 13
HEADER_LENGTH = 19


class Header(NamedTuple):
    """The header of an event. Logs of version 1 have neither a next position nor flags: both are 0."""

    timestamp: int
    type_code: int
    server_id: int
    event_size: int
    next_position: int
    flags: int


_WRITER = note("the server that first wrote the event")
_SIZE = quantity("byte", "header and checksum included")

V1_HEADER = Layout(
    ("timestamp", "I", seconds),
    ("type_code", "B", type_name),
    ("server_id", "I", _WRITER),
    ("event_size", "I", _SIZE),
)

HEADER = Layout(
    ("timestamp", "I", seconds),
    ("type_code", "B", type_name),
    ("server_id", "I", _WRITER),
    ("event_size", "I", _SIZE),
    ("next_position", "I", note("where the next event begins")),
    ("flags", "H", flags(HeaderFlag)),
)


def decode_header(cursor: Cursor, version: int) -> Header:
    """Decode the header of an event.

    offset  bytes  field
    0       4      timestamp, seconds since 1970
    4       1      type code
    5       4      id of the server that first wrote the event
    9       4      size of the event, header and checksum included
    13      4      position of the next event   (not in version 1)
    17      2      flags                        (not in version 1)
    """
    if version == 1:
        return Header._make((*cursor.fields(V1_HEADER), 0, 0))
    return Header._make(cursor.fields(HEADER))


def encode_header(header: Header, version: int, writer: Writer) -> None:
    """Write the header of an event."""
    if version == 1:
        writer.fields(V1_HEADER, *header[:4])
    else:
        writer.fields(HEADER, *header)
