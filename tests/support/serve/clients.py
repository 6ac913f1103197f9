"""Clients of a source, be it a server or a served archive: dumps as packets, statements as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import binspark
from binspark.replication.channel import PacketChannel
from binspark.replication.commands import BinlogDump, BinlogDumpGtid, RegisterSlave, encode_command
from binspark.replication.packets import ERROR, ErrorPacket, decode_error, is_end
from binspark.serve.server import ArchiveServer
from binspark.server.config import ConnectionConfig, connection_config
from binspark.server.connection import connect

SECONDS = 30
Variables = Mapping[str, str | int]

PLAIN: Variables = {"master_binlog_checksum": "CRC32", "source_binlog_checksum": "CRC32", "mariadb_slave_capability": 4}
"""What a client sets that wants events as they are in the log."""


@contextmanager
def serving(archive: Path | str, **options: Any) -> Iterator[ArchiveServer]:
    """Serve an archive on any port."""
    with binspark.open_server(archive, **{"port": 0, **options}) as server:
        yield server


def config_of(served: ArchiveServer, **arguments: Any) -> ConnectionConfig:
    """Return how to reach a served archive."""
    return connection_config(**{"host": f"127.0.0.1:{served.port}", "user": "repl", "environ": {}, **arguments})


@contextmanager
def dumping(
    config: ConnectionConfig, command: BinlogDump | BinlogDumpGtid, variables: Variables = PLAIN
) -> Iterator[PacketChannel]:
    """Request a dump; the channel has its packets."""
    with connect(config) as connection:
        for name, value in variables.items():
            connection.rows(f"SET @{name} = %s", (value,))
        channel = PacketChannel(connection.socket, connection.position)
        channel.send(encode_command(RegisterSlave(command.server_id)), SECONDS)
        assert channel.read(SECONDS)[0] == 0
        channel.send(encode_command(command), SECONDS)
        yield channel


def dumped(config: ConnectionConfig, command: BinlogDump | BinlogDumpGtid, variables: Variables = PLAIN) -> list[bytes]:
    """Return the packets of a dump up to its end, or up to an error, which is the last of them."""
    packets: list[bytes] = []
    with dumping(config, command, variables) as channel:
        while not packets or (packets[-1][0] != ERROR and not is_end(packets[-1])):
            packets.append(bytes(channel.read(SECONDS)))
    return packets


def refusal(
    config: ConnectionConfig, command: BinlogDump | BinlogDumpGtid, variables: Variables = PLAIN
) -> ErrorPacket:
    """Return the error that ends a dump."""
    last = dumped(config, command, variables)[-1]
    assert last[0] == ERROR
    return decode_error(last)
