"""The line that begins each event in a dump, the event in hexadecimal digits, and events as base64."""

from __future__ import annotations

from binascii import b2a_base64

from binspark.dump.clock import Clock
from binspark.frames import Frame
from binspark.frames.header import HEADER_LENGTH

_BYTES_OF_LINE = 57
_HEX_BYTES = 16
_HEX_WIDTH = 3 * _HEX_BYTES + 1
_NOT_PRINTABLE = bytes(byte if chr(byte).isascii() and chr(byte).isprintable() else ord(".") for byte in range(256))
_FIELDS = ((0, 4), (4, 5), (5, 9), (9, 13), (13, 17), (17, 19))
_HALF = _HEX_BYTES // 2
_COLUMNS = b"#           |Timestamp   |Type |Master ID   |Size        |Master Pos  |Flags\n"


class Headings:
    """Writes the first line of events, up to what is specific to their types."""

    def __init__(self, clock: Clock, *, hexdump: bool) -> None:
        self._clock = clock
        self._hexdump = hexdump

    def text(self, frame: Frame, data: bytes | None = None, offset: int | None = None) -> bytes:
        """Return the heading of an event; `data` and `offset` are for its bytes, if not those of the log."""
        header = frame.header
        time = self._clock.short(header.timestamp)
        heading = b"#%b server id %d  end_log_pos %d " % (time, header.server_id, header.next_position)
        if frame.format.checksum_length:
            heading += b"CRC32 0x%08x " % int.from_bytes(frame.data[-4:], "little")
        return heading + hexdump(data or frame.data, offset or frame.offset) if self._hexdump else heading


def hexdump(data: bytes, offset: int) -> bytes:
    """Return an event in hexadecimal digits, as comments: its header field by field, then sixteen bytes a line."""
    time, code, server, size, position, flags = (data[start:end].hex(" ").encode() for start, end in _FIELDS)
    header = b"# %8x  |%b |%b   |%b |%b |%b |%b\n#\n" % (offset, time, code, server, size, position, flags)
    lines = [b"\n# Position\n", _COLUMNS, header]
    for start in range(HEADER_LENGTH, len(data), _HEX_BYTES):
        row = data[start : start + _HEX_BYTES]
        digits = row[:_HALF].hex(" ") + " " + (" " + row[_HALF:].hex(" ") if len(row) > _HALF else "")
        lines.append(
            b"# %8x  %b |%b|\n" % (offset + start, digits.ljust(_HEX_WIDTH).encode(), row.translate(_NOT_PRINTABLE))
        )
    if len(data) > HEADER_LENGTH:
        lines.append(b"#\n")
    lines.append(b"# Event: ")
    return b"".join(lines)


def base64_lines(data: bytes) -> bytes:
    """Return an event as base64 in lines of 76 characters."""
    if len(data) <= _BYTES_OF_LINE:
        return b2a_base64(data)
    return b"".join([b2a_base64(data[start : start + _BYTES_OF_LINE]) for start in range(0, len(data), _BYTES_OF_LINE)])


def identifier(name: bytes) -> bytes:
    """Return a name in backticks."""
    return b"`%b`" % name.replace(b"`", b"``")
