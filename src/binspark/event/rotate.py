"""Where the log continues: ROTATE. And where the source of a replica was, in MySQL 3.23: SLAVE."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.event.context import Context
from binspark.wire import Cursor, Layout, Writer
from binspark.wire.meaning import note

_FIRST_POSITION = 4
_POSITION = note("where the first event of the next file begins")
_NEXT_FILE = note("name of the next file, to the end of the body")


@dataclass(frozen=True, slots=True)
class Rotate:
    """ROTATE: the log continues in another file. A stream from a server begins with one, too (`Event.artificial`)."""

    position: int
    next_file: str


@dataclass(frozen=True, slots=True)
class Slave:
    """SLAVE: the coordinates of the source. Only MySQL 3.23 and 4.0 wrote it."""

    master_position: int
    master_port: int
    master_host: str
    master_log: str


def decode_rotate(body: Cursor, context: Context) -> Rotate:
    """Decode ROTATE.

    offset  bytes  field
    0       8      position of the first event in the next file   (not in version 1: 4)
    8       rest   name of the next file, not terminated
    """
    position = body.u64("position", _POSITION) if context.post_header_length else _FIRST_POSITION
    if not body.remaining:
        raise body.malformed("next_file is empty")
    return Rotate(position=position, next_file=body.rest_text("next_file", _NEXT_FILE))


def encode_rotate(event: Rotate, writer: Writer, context: Context) -> None:
    """Encode ROTATE: the inverse of `decode_rotate`."""
    if context.post_header_length:
        writer.u64(event.position)
    writer.text(event.next_file)


_SLAVE = Layout(("master_position", "Q"), ("master_port", "H"))


def decode_slave(body: Cursor, _context: Context) -> Slave:
    """Decode SLAVE.

    offset  bytes  field
    0       8      position in the source's log
    8       2      port of the source
    10      n+1    host of the source, zero-terminated
    11+n    rest   name of the source's log
    """
    position, port = body.fields(_SLAVE)
    host = body.until_zero("master_host")
    return Slave(position, port, host, body.rest_text("master_log"))


def encode_slave(event: Slave, writer: Writer, _context: Context) -> None:
    """Encode SLAVE: the inverse of `decode_slave`."""
    writer.fields(_SLAVE, event.master_position, event.master_port)
    writer.text(event.master_host)
    writer.zero()
    writer.text(event.master_log)
