"""The first event of a log, and the last one before a shutdown: START_V3, FORMAT_DESCRIPTION, STOP."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.event.context import Context
from binspark.frames import format as log_format
from binspark.frames.format import SERVER_VERSION_LENGTH, FormatDescription, split_server_version
from binspark.wire import Cursor, Writer
from binspark.wire.meaning import as_padded_text, seconds

__all__ = ["FormatDescription", "StartV3", "Stop"]


@dataclass(frozen=True, slots=True)
class StartV3:
    """START_V3: the first event of a log before version 4."""

    binlog_version: int
    server_version: str
    create_timestamp: int
    server_version_padding: bytes = b""


@dataclass(frozen=True, slots=True)
class Stop:
    """STOP: the server was shut down."""


def decode_start_v3(body: Cursor, _context: Context) -> StartV3:
    """Decode START_V3.

    offset  bytes  field
    0       2      binlog version
    2       50     server version, zero-padded
    52      4      creation time
    """
    binlog_version = body.u16("binlog_version")
    server_version, padding = split_server_version(body.raw("server_version", SERVER_VERSION_LENGTH, as_padded_text))
    create_timestamp = body.u32("create_timestamp", seconds)
    return StartV3(binlog_version, server_version, create_timestamp, padding)


def encode_start_v3(event: StartV3, writer: Writer, _context: Context) -> None:
    writer.u16(event.binlog_version)
    version = event.server_version.encode("latin-1") + event.server_version_padding
    writer.raw(version.ljust(SERVER_VERSION_LENGTH, b"\0")[:SERVER_VERSION_LENGTH])
    writer.u32(event.create_timestamp)


def decode_format_description(body: Cursor, _context: Context) -> FormatDescription:
    """Decode FORMAT_DESCRIPTION. The framer needs it, too: the layout is in `binspark.frames.format`."""
    return log_format.decode_format_description(body)


def encode_format_description(event: FormatDescription, writer: Writer, _context: Context) -> None:
    log_format.encode_format_description(event, writer)


def decode_stop(_body: Cursor, _context: Context) -> Stop:
    """Decode STOP, which has no body."""
    return Stop()


def encode_stop(_event: Stop, _writer: Writer, _context: Context) -> None:
    """Write nothing."""
