"""The commands of the replication protocol, as values and as bytes.

Each is a packet's payload: a byte that names the command, then its fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, IntFlag

from binspark.errors import EncodeError
from binspark.gtid import GtidSet, decode_gtid_set, encode_gtid_set
from binspark.wire import Cursor, Writer
from binspark.wire.meaning import code as code_name
from binspark.wire.meaning import flags as flag_names

_MAX_TEXT_LENGTH = 250
"""Longer texts have another encoding, which servers do not expect here."""


class CommandCode(IntEnum):
    """The first byte of a command."""

    BINLOG_DUMP = 0x12
    TABLE_DUMP = 0x13
    REGISTER_SLAVE = 0x15
    BINLOG_DUMP_GTID = 0x1E


class DumpFlag(IntFlag):
    """The flags of a dump. The second and the third bit have several meanings.

    NON_BLOCK          end with an EOF packet where the log ends, do not wait for more
    HEARTBEAT_V2       MySQL since 8.0.26: send heartbeats with positions past 4 GiB
    ANNOTATE_ROWS      MariaDB: send ANNOTATE_ROWS events too
    THROUGH_POSITION   the protocol's documents, of COM_BINLOG_DUMP_GTID: file and position say where to begin
    SKIP_TAGGED_GTIDS  MySQL since 8.3: the client does not understand GTIDs with tags
    THROUGH_GTID       the protocol's documents, of COM_BINLOG_DUMP_GTID: a GTID set follows the position

    Current servers expect a GTID set in every COM_BINLOG_DUMP_GTID, whatever its flags are.
    """

    NONE = 0
    NON_BLOCK = 0x01
    HEARTBEAT_V2 = 0x02
    ANNOTATE_ROWS = 0x02
    THROUGH_POSITION = 0x02
    SKIP_TAGGED_GTIDS = 0x04
    THROUGH_GTID = 0x04


@dataclass(frozen=True, slots=True)
class RegisterSlave:
    """COM_REGISTER_SLAVE: who is going to read, as SHOW REPLICAS lists it."""

    server_id: int
    host: str = ""
    user: str = ""
    password: str = ""
    port: int = 0
    rank: int = 0
    master_id: int = 0

    def __repr__(self) -> str:
        return f"RegisterSlave(server_id={self.server_id}, host={self.host!r}, port={self.port})"


@dataclass(frozen=True, slots=True)
class BinlogDump:
    """COM_BINLOG_DUMP: send the log from a position on. An empty name is the oldest log."""

    position: int
    flags: DumpFlag
    server_id: int
    file: str


@dataclass(frozen=True, slots=True)
class BinlogDumpGtid:
    """COM_BINLOG_DUMP_GTID: send what is not in a GTID set. A file name, if there is one, is where to begin.

    `gtid_set` is None in a packet without one, which only the protocol's documents know: see `DumpFlag.THROUGH_GTID`.
    """

    flags: DumpFlag
    server_id: int
    gtid_set: GtidSet | None
    file: str = ""
    position: int = 4


@dataclass(frozen=True, slots=True)
class TableDump:
    """COM_TABLE_DUMP: send a table. Servers before 5.5 had it for LOAD TABLE FROM MASTER."""

    database: str
    table: str


Command = RegisterSlave | BinlogDump | BinlogDumpGtid | TableDump


def encode_command(command: Command) -> bytes:
    """Encode a complete command."""
    match command:
        case RegisterSlave():
            return encode_register_slave(command)
        case BinlogDump():
            return encode_binlog_dump(command)
        case BinlogDumpGtid():
            return encode_binlog_dump_gtid(command)
        case TableDump():
            return encode_table_dump(command)


def encode_register_slave(command: RegisterSlave) -> bytes:
    """Encode COM_REGISTER_SLAVE.

    offset  bytes  field
    0       1      0x15
    1       4      server id of the reader
    5       1+n    its host, after its length
            1+n    its user, after its length
            1+n    its password, after its length
            2      its port
            4      rank, ignored
            4      id of its source, 0
    """
    writer = Writer()
    writer.u8(CommandCode.REGISTER_SLAVE)
    writer.u32(command.server_id)
    for text in (command.host, command.user, command.password):
        _write_short(writer, text)
    writer.u16(command.port)
    writer.u32(command.rank)
    writer.u32(command.master_id)
    return writer.take()


def decode_register_slave(body: Cursor) -> RegisterSlave:
    """Decode what follows the first byte of COM_REGISTER_SLAVE."""
    server_id = body.u32("server_id")
    host, user, password = (_read_short(body, name) for name in ("host", "user", "password"))
    port, rank, master_id = body.u16("port"), body.u32("rank"), body.u32("master_id")
    return RegisterSlave(server_id, host, user, password, port, rank, master_id)


def encode_binlog_dump(command: BinlogDump) -> bytes:
    """Encode COM_BINLOG_DUMP.

    offset  bytes  field
    0       1      0x12
    1       4      position
    5       2      flags
    7       4      server id of the reader
    11      rest   name of the log
    """
    writer = Writer()
    writer.u8(CommandCode.BINLOG_DUMP)
    writer.u32(command.position)
    writer.u16(command.flags)
    writer.u32(command.server_id)
    writer.text(command.file)
    return writer.take()


def decode_binlog_dump(body: Cursor) -> BinlogDump:
    """Decode what follows the first byte of COM_BINLOG_DUMP."""
    position, flags = body.u32("position"), DumpFlag(body.u16("flags", flag_names(DumpFlag)))
    return BinlogDump(position, flags, body.u32("server_id"), body.rest_text("file"))


def encode_binlog_dump_gtid(command: BinlogDumpGtid) -> bytes:
    """Encode COM_BINLOG_DUMP_GTID.

    offset  bytes  field
    0       1      0x1e
    1       2      flags
    3       4      server id of the reader
    7       4+n    name of the log, after its length; usually empty
            8      position
            4+n    GTID set, after its length; servers expect it with any flags
    """
    if command.gtid_set is None and command.flags & DumpFlag.THROUGH_GTID:
        raise EncodeError("flag THROUGH_GTID is set, but there is no GTID set")
    writer = Writer()
    writer.u8(CommandCode.BINLOG_DUMP_GTID)
    writer.u16(command.flags)
    writer.u32(command.server_id)
    file = writer.encode_text(command.file)
    writer.u32(len(file))
    writer.raw(file)
    writer.u64(command.position)
    if command.gtid_set is not None:
        gtid_set = Writer()
        encode_gtid_set(command.gtid_set, gtid_set)
        writer.u32(len(gtid_set))
        writer.raw(gtid_set.take())
    return writer.take()


def decode_binlog_dump_gtid(body: Cursor) -> BinlogDumpGtid:
    """Decode what follows the first byte of COM_BINLOG_DUMP_GTID.

    Without the flag THROUGH_GTID the packet may end after the position. Current servers read a GTID set in any case.
    """
    flags, server_id = DumpFlag(body.u16("flags", flag_names(DumpFlag))), body.u32("server_id")
    file = body.text("file", body.u32("file_length"))
    position = body.u64("position")
    if not body.remaining and not flags & DumpFlag.THROUGH_GTID:
        return BinlogDumpGtid(flags, server_id, None, file, position)
    data = body.sub("gtid_set", body.u32("gtid_set_length"))
    gtid_set, _ = decode_gtid_set(data)
    data.expect_end()
    return BinlogDumpGtid(flags, server_id, gtid_set, file, position)


def encode_table_dump(command: TableDump) -> bytes:
    """Encode COM_TABLE_DUMP.

    offset  bytes  field
    0       1      0x13
    1       1+n    database, after its length
            1+n    table, after its length
    """
    writer = Writer()
    writer.u8(CommandCode.TABLE_DUMP)
    _write_short(writer, command.database)
    _write_short(writer, command.table)
    return writer.take()


def decode_table_dump(body: Cursor) -> TableDump:
    """Decode what follows the first byte of COM_TABLE_DUMP."""
    return TableDump(_read_short(body, "database"), _read_short(body, "table"))


_DECODERS: dict[int, Callable[[Cursor], Command]] = {
    CommandCode.REGISTER_SLAVE: decode_register_slave,
    CommandCode.BINLOG_DUMP: decode_binlog_dump,
    CommandCode.BINLOG_DUMP_GTID: decode_binlog_dump_gtid,
    CommandCode.TABLE_DUMP: decode_table_dump,
}


def decode_command(payload: bytes) -> Command:
    """Decode a complete command."""
    body = Cursor(payload)
    command = read_command(body)
    body.expect_end()
    return command


def read_command(body: Cursor) -> Command:
    """Read a command."""
    code = body.u8("command", code_name(CommandCode))
    decoder = _DECODERS.get(code)
    if decoder is None:
        raise body.malformed(f"command 0x{code:02x} is not one of the replication protocol")
    return decoder(body)


def _write_short(writer: Writer, text: str) -> None:
    encoded = writer.encode_text(text)
    if len(encoded) > _MAX_TEXT_LENGTH:
        raise EncodeError(f"a text of {len(encoded)} bytes, expected at most {_MAX_TEXT_LENGTH}")
    writer.u8(len(encoded))
    writer.raw(encoded)


def _read_short(body: Cursor, name: str) -> str:
    return body.text(name, body.u8(f"{name}_length"))
