"""What is printed of events before it is written: heads, rows as BINLOG statements, and rows as comments."""

from __future__ import annotations

from binascii import b2a_base64, hexlify
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from binspark.dump.clock import Clock
from binspark.dump.dumper import Warn
from binspark.dump.mysql.session import Session
from binspark.dump.output import BufferedOutput
from binspark.dump.settings import Base64Output, DumpSettings
from binspark.dump.text_buffer import TextBuffer
from binspark.event.table_map import TableMaps
from binspark.frames.format import ChecksumAlgorithm
from binspark.frames.header import HEADER_LENGTH

if TYPE_CHECKING:
    from binspark.event import Event, TableMap

DELIMITER = b"/*!*/;"
_BYTES_PER_LINE = 57
_HEX_TITLE = b"# Position  Timestamp   Type   Source ID        Size      Source Pos    Flags \n"
_HEX_WIDTH = 16
_PRINTED = bytes(byte if chr(byte).isalnum() and byte < 128 else ord(".") for byte in range(256))  # noqa: PLR2004


@dataclass
class Page:
    """Collects the text of events.

    head, body, footer  the parts of the text of a statement. Heads are written after each event, the others after the
                        last event of a statement: all BINLOG statements of a statement are one
    hexdump_from        the offset of the event that is printed as hex digits; None if none is
    """

    settings: DumpSettings
    output: BufferedOutput
    warn: Warn
    clock: Clock
    session: Session = field(default_factory=Session)
    head: list[bytes] = field(default_factory=list)
    body: TextBuffer = field(default_factory=TextBuffer)
    footer: TextBuffer = field(default_factory=TextBuffer)
    table_maps: TableMaps[TableMap] = field(default_factory=TableMaps)
    hexdump_from: int | None = None
    printed_description: bool = False
    header_length: int = HEADER_LENGTH
    server_version: int | None = None
    """The version of the server that wrote the last transaction, None if the log does not contain it."""

    def line(self, text: bytes) -> None:
        """Add a statement, with the delimiter, to the head."""
        self.head.append(text + DELIMITER + b"\n")

    def flush_head(self) -> None:
        """Write the heads."""
        for text in self.head:
            self.output.write(text)
        self.head.clear()

    def flush(self) -> None:
        """Write everything that was collected."""
        self.flush_head()
        self.body.flush_to(self.output)
        self.footer.flush_to(self.output)

    def header(self, event: Event) -> None:
        """Add what every event begins with: time, server, position, checksum, and the bytes if they are wanted."""
        header, frame = event.header, event.frame
        checksum = b""
        if frame.format.checksum is ChecksumAlgorithm.CRC32:
            checksum = b"CRC32 0x%08x " % int.from_bytes(frame.data[-4:], "little")
        self.head.append(
            b"#%b server id %d  end_log_pos %d %b"
            % (self.clock.short(header.timestamp), header.server_id, header.next_position, checksum)
        )
        if self.hexdump_from is not None:
            self.head.append(b"\n")
            self._hexdump(frame.data, self.hexdump_from)
            self.head.append(b"# ")

    def _hexdump(self, data: bytes, offset: int) -> None:
        if self.header_length == HEADER_LENGTH:
            hexed = [b"%02x" % byte for byte in data[:HEADER_LENGTH]]
            fields = (hexed[:4], hexed[4:5], hexed[5:9], hexed[9:13], hexed[13:17], hexed[17:])
            self.head.append(_HEX_TITLE)
            self.head.append(b"# %08x %b\n" % (offset, b"   ".join(map(b" ".join, fields))))
            data, offset = data[HEADER_LENGTH:], offset + HEADER_LENGTH
        for start in range(0, len(data), _HEX_WIDTH):
            part = data[start : start + _HEX_WIDTH]
            left, right = (hexlify(half, " ") for half in (part[:8], part[8:]))
            digits = left + b"  " + right if right else left
            self.head.append(b"# %08x %-48b |%b|\n" % (offset + start, digits, part.translate(_PRINTED)))

    def base64(self, data: bytes) -> bytes:
        """Return the bytes of an event as lines of base64."""
        lines = [b2a_base64(data[start : start + _BYTES_PER_LINE]) for start in range(0, len(data), _BYTES_PER_LINE)]
        return b"".join(lines)

    @property
    def decodes_only(self) -> bool:
        """Whether rows are not written as BINLOG statements."""
        return self.settings.base64_output is Base64Output.DECODE_ROWS
