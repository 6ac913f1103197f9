"""The server's side of the protocol as bytes: greeting, login, answers. No socket is here.

Results have the oldest form, with EOF packets: every client reads it, and no capability has to be negotiated for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from functools import reduce
from operator import or_

from binspark.replication.packets import EndPacket, encode_end
from binspark.wire import Cursor, Writer

NONCE_LENGTH = 20
NATIVE = "mysql_native_password"
CACHING_SHA2 = "caching_sha2_password"

_PROTOCOL_VERSION = 10
_FIRST_NONCE_PART = 8
_RESERVED = 23
_UTF8 = 45  # utf8mb4_general_ci, which both families know
_BINARY = 63
_AUTOCOMMIT = 0x0002
_SWITCH = 0xFE
_MORE_DATA = 0x01
_NULL = 0xFB
_MAX_TEXT_LENGTH = 0xFFFFFF


class Capability(IntFlag):
    """What a client or a server can do. MariaDB's servers lack the first bit, by which their clients know them."""

    LONG_PASSWORD = 1 << 0
    LONG_FLAG = 1 << 2
    CONNECT_WITH_DB = 1 << 3
    PROTOCOL_41 = 1 << 9
    SSL = 1 << 11
    TRANSACTIONS = 1 << 13
    SECURE_CONNECTION = 1 << 15
    PLUGIN_AUTH = 1 << 19
    CONNECT_ATTRS = 1 << 20
    PLUGIN_AUTH_LENENC = 1 << 21


OFFERED = reduce(or_, Capability) & ~Capability.SSL
REQUIRED = Capability.PROTOCOL_41 | Capability.SECURE_CONNECTION


class CommandCode(IntEnum):
    """The first byte of a command that is not one of replication."""

    QUIT = 0x01
    INIT_DB = 0x02
    QUERY = 0x03
    STATISTICS = 0x09
    PING = 0x0E
    SET_OPTION = 0x1B
    RESET_CONNECTION = 0x1F


class ColumnType(IntEnum):
    """The type of a column of a result."""

    INTEGER = 0x08
    TEXT = 0xFD


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a server sends first: who it is, what it can do, and a nonce for the login."""

    server_version: str
    connection_id: int
    nonce: bytes
    capabilities: Capability
    plugin: str


@dataclass(frozen=True, slots=True)
class Login:
    """What a client answers. Without a user it is the request to encrypt the connection, and comes again after that."""

    capabilities: Capability
    user: str | None = None
    response: bytes = b""
    plugin: str = ""

    def __repr__(self) -> str:
        return f"Login(user={self.user!r}, plugin={self.plugin!r})"


Value = str | int | None
"""A value in a row of a result."""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a statement that returns rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...] = ()


def encode_greeting(greeting: Greeting) -> bytes:
    """Encode what a server sends first.

    offset  bytes  field
    0       1      10, the version of the protocol
    1       n+1    version of the server, zero-terminated
            4      number of the connection
            8+1    first part of the nonce, and a zero
            2      low half of the capabilities
            1      collation
            2      status
            2      high half of the capabilities
            1      length of the nonce, with its final zero
            10     zeros
            12+1   rest of the nonce, zero-terminated
            n+1    how to log in, zero-terminated
    """
    writer = Writer()
    writer.u8(_PROTOCOL_VERSION)
    writer.text(greeting.server_version)
    writer.zero()
    writer.u32(greeting.connection_id)
    writer.raw(greeting.nonce[:_FIRST_NONCE_PART])
    writer.zero()
    writer.u16(greeting.capabilities & 0xFFFF)
    writer.u8(_UTF8)
    writer.u16(_AUTOCOMMIT)
    writer.u16(greeting.capabilities >> 16)
    writer.u8(NONCE_LENGTH + 1)
    writer.raw(bytes(10))
    writer.raw(greeting.nonce[_FIRST_NONCE_PART:])
    writer.zero()
    writer.text(greeting.plugin)
    writer.zero()
    return writer.take()


def decode_login(packet: bytes) -> Login:
    """Decode the answer to a greeting. What comes after the plugin, attributes of the client, is not read.

    offset  bytes  field
    0       4      capabilities
    4       4      maximum size of a packet
    8       1      collation
    9       23     zeros
    32      n+1    user, zero-terminated               (not in the request to encrypt)
            n      response to the nonce, after its length
            n+1    database, zero-terminated           (capability CONNECT_WITH_DB)
            n+1    plugin, zero-terminated             (capability PLUGIN_AUTH)
    """
    body = Cursor(packet)
    # Clients have capabilities that are not in the enumeration: all bits are kept.
    capabilities = Capability(body.u32("capabilities"))
    body.u32("max_packet_size")
    body.u8("collation")
    body.raw("reserved", _RESERVED)
    if not body.remaining:
        return Login(capabilities)
    user = body.until_zero("user")
    if capabilities & Capability.PLUGIN_AUTH_LENENC:
        length = body.packed("response_length")
    else:
        length = body.u8("response_length")
    response = body.raw("response", length)
    if capabilities & Capability.CONNECT_WITH_DB and body.remaining:
        body.until_zero("database")
    plugin = body.until_zero("plugin") if capabilities & Capability.PLUGIN_AUTH and body.remaining else NATIVE
    return Login(capabilities, user, response, plugin)


def encode_switch(plugin: str, nonce: bytes) -> bytes:
    """Encode the request to log in by another plugin: 0xfe, the plugin and the nonce, each zero-terminated."""
    return bytes((_SWITCH,)) + plugin.encode() + b"\0" + nonce + b"\0"


def encode_more_data(data: bytes) -> bytes:
    """Encode what a plugin of the server sends to that of the client: 0x01, then the data."""
    return bytes((_MORE_DATA,)) + data


def encode_ok() -> bytes:
    """Encode OK: 0x00, rows and id 0, status, no warnings."""
    writer = Writer()
    writer.raw(bytes(3))
    writer.u16(_AUTOCOMMIT)
    writer.u16(0)
    return writer.take()


def encode_eof() -> bytes:
    """Encode EOF: the end of definitions, rows or events."""
    return encode_end(EndPacket(status=_AUTOCOMMIT))


def encode_result(result: Result) -> list[bytes]:
    """Encode a result as packets: the number of columns, their definitions, EOF, the rows, EOF."""
    end = encode_eof()
    kinds = [_column_type(result.rows, index) for index in range(len(result.columns))]
    definitions = [_definition(name, kind) for name, kind in zip(result.columns, kinds, strict=True)]
    count = Writer()
    count.packed(len(result.columns))
    return [count.take(), *definitions, end, *map(_row, result.rows), end]


def _column_type(rows: Sequence[tuple[Value, ...]], index: int) -> ColumnType:
    values = [row[index] for row in rows if row[index] is not None]
    return ColumnType.INTEGER if values and all(isinstance(value, int) for value in values) else ColumnType.TEXT


def _definition(name: str, kind: ColumnType) -> bytes:
    """Encode the definition of a column.

    offset  bytes  field
    0       1+3    `def`, after its length
            1+n    schema, table, original table, name, original name: each after its length
            1      12, the length of the rest
            2      collation
            4      maximum length
            1      type
            2      flags
            1      number of decimals
            2      zeros
    """
    writer = Writer()
    for text in ("def", "", "", "", name, ""):
        _write_text(writer, text)
    writer.u8(12)
    writer.u16(_BINARY if kind is ColumnType.INTEGER else _UTF8)
    writer.u32(_MAX_TEXT_LENGTH)
    writer.u8(kind)
    writer.raw(bytes(5))
    return writer.take()


def _row(row: tuple[Value, ...]) -> bytes:
    writer = Writer()
    for value in row:
        if value is None:
            writer.u8(_NULL)
        else:
            _write_text(writer, str(value))
    return writer.take()


def _write_text(writer: Writer, text: str) -> None:
    encoded = writer.encode_text(text)
    writer.packed(len(encoded))
    writer.raw(encoded)
