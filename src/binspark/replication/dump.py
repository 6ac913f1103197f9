"""Requesting a dump of a server's logs: what both sides agree on, and the commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from binspark.errors import Malformed, OptionError, Server
from binspark.frames.codes import EventCode
from binspark.frames.format import CHECKSUM_LENGTH, FORMAT_DESCRIPTION_MINIMUM, ChecksumAlgorithm, Family
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.gtid import GtidSet, MariadbPosition
from binspark.position import Position
from binspark.replication.channel import PacketChannel
from binspark.replication.commands import BinlogDump, BinlogDumpGtid, DumpFlag, RegisterSlave, encode_command
from binspark.replication.gtids import Gtids, gtids_of_family
from binspark.replication.packets import ERROR, decode_error
from binspark.replication.position import BinlogPosition
from binspark.replication.settings import StreamSettings
from binspark.replication.stream import BinlogStream, Session
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection, connect
from binspark.server.errors import explain_dump_error
from binspark.server.info import server_family

_MAX_DUMP_OFFSET = (1 << 32) - 1
_EVENT_TYPES = 255
_LAST_DESCRIPTION_END = FIRST_EVENT_OFFSET + FORMAT_DESCRIPTION_MINIMUM + _EVENT_TYPES + 1 + CHECKSUM_LENGTH
"""Where a format description ends at the latest."""

_NANOSECONDS = 1_000_000_000
_MARIADB_CAPABILITY = 4
"""The reader understands GTIDs, and wants every event as it is in the log."""

_SLOW_READER_SECONDS = 3600
"""How long the server waits for a reader that does not take what it sends, instead of a minute."""

_SEMI_SYNC = ("rpl_semi_sync_master_enabled", "rpl_semi_sync_source_enabled")
_VARIABLES = ("server_id", "binlog_checksum", "gtid_mode", *_SEMI_SYNC)

SessionVariables = dict[str, int | str]
"""User variables that a dump reads. MySQL 8.0.26 renamed them; each server ignores the other name."""


def open_stream(
    connection: Connection, start: BinlogPosition, settings: StreamSettings | None = None, *, until_end: bool = False
) -> BinlogStream:
    """Request the events from a position on: by its file and offset, or by its GTIDs if these are not enough.

    From now on the socket of the connection is the stream's; close the connection at the end. With `until_end` the
    stream ends where the log ends.
    """
    settings = settings or StreamSettings()
    session = _agree(connection, settings)
    flags = _flags(session, until_end=until_end)
    command, skip_to = _dump_command(connection, session, settings, flags, start)
    account = connection.account  # no statement can be run once the channel has the socket
    channel = PacketChannel(connection.socket, connection.position)
    _register(channel, settings, connection.position, account)
    channel.send(encode_command(command), settings.first_seconds)
    begin = connection.position
    if start.by_file:
        begin = Position(file=start.file, offset=start.offset, source=begin.source)
    return BinlogStream(channel, session, settings, begin, gaps=not start.by_file, skip_to=skip_to, until_end=until_end)


@contextmanager
def log_until_end(config: ConnectionConfig, file: str) -> Iterator[BinlogStream]:
    """Open a stream of a log, on a connection of its own, that ends where the logs end now."""
    with connect(config) as connection:
        yield open_stream(connection, BinlogPosition(file, FIRST_EVENT_OFFSET), until_end=True)


def file_created(config: ConnectionConfig, file: str) -> int:
    """Return when a log was created, in seconds since 1970, as its first event says."""
    with log_until_end(config, file) as stream:
        for event in stream:
            if event.type_code == EventCode.FORMAT_DESCRIPTION:
                return event.frame.header.timestamp
    raise Malformed("the log has no format description", Position(file=file))


# --- What both sides agree on -----------------------------------------------------------------------------------------


def _agree(connection: Connection, settings: StreamSettings) -> Session:
    """Negotiate checksums, heartbeats, identifiers and semi-synchronous replication."""
    family = server_family(connection)
    listed = connection.rows("SHOW GLOBAL VARIABLES WHERE Variable_name IN %s", (_VARIABLES,))
    variables = {str(name): str(value) for name, value in listed}
    if int(variables["server_id"]) == settings.connection_server_id:
        problem = f"must differ from the server's own id, got {settings.connection_server_id}"
        raise OptionError(problem, connection.position, "connection_server_id")
    checksum = variables.get("binlog_checksum", "NONE")
    semi_sync = _agree_on_semi_sync(connection, variables, settings)
    heartbeat_period = int(settings.heartbeat_seconds * _NANOSECONDS)
    wanted: SessionVariables = {
        "master_heartbeat_period": heartbeat_period,
        "source_heartbeat_period": heartbeat_period,
        # A reader that does not say that it reads checksums gets events without them, and cannot verify anything.
        "master_binlog_checksum": checksum,
        "source_binlog_checksum": checksum,
        "slave_uuid": settings.uuid,
        "replica_uuid": settings.uuid,
    }
    if semi_sync:
        wanted |= {"rpl_semi_sync_slave": 1, "rpl_semi_sync_replica": 1}
    if family is Family.MARIADB:
        wanted["mariadb_slave_capability"] = _MARIADB_CAPABILITY
    _set_variables(connection, wanted)
    connection.rows(f"SET SESSION net_write_timeout = {_SLOW_READER_SECONDS}")
    gtids_enabled = family is Family.MARIADB or variables.get("gtid_mode") == "ON"
    algorithm = ChecksumAlgorithm.CRC32 if checksum == "CRC32" else ChecksumAlgorithm.NONE
    return Session(family, connection.server_version, algorithm, semi_sync, gtids_enabled)


def _agree_on_semi_sync(connection: Connection, variables: dict[str, str], settings: StreamSettings) -> bool:
    if settings.semi_sync and not any(name in variables for name in _SEMI_SYNC):
        message = "the server has no semi-synchronous replication: INSTALL PLUGIN rpl_semi_sync_source first"
        raise Server(message, connection.position)
    return settings.semi_sync


def _set_variables(connection: Connection, variables: SessionVariables) -> None:
    assignments = ", ".join(f"@{name} = %s" for name in variables)
    connection.rows(f"SET {assignments}", tuple(variables.values()))


# --- Commands ---------------------------------------------------------------------------------------------------------


def _register(channel: PacketChannel, settings: StreamSettings, position: Position, account: str) -> None:
    command = encode_command(RegisterSlave(settings.connection_server_id, settings.report_host))
    channel.send(command, settings.first_seconds)
    answer = channel.read(settings.first_seconds)
    if answer[:1] == bytes((ERROR,)):
        error = decode_error(answer)
        raise explain_dump_error(error.code, error.message, position, account)


def _dump_command(
    connection: Connection, session: Session, settings: StreamSettings, flags: DumpFlag, start: BinlogPosition
) -> tuple[BinlogDump | BinlogDumpGtid, int]:
    """Return the command, and up to which offset of its first file events come that were not requested."""
    server_id = settings.connection_server_id
    if not start.by_file:
        assert start.gtids is not None
        return _dump_by_gtids(connection, session, flags, server_id, start.gtids), 0
    if session.family is Family.MARIADB and _may_be_second(start.offset):
        return BinlogDump(FIRST_EVENT_OFFSET, flags, server_id, start.file), start.offset
    if start.offset <= _MAX_DUMP_OFFSET:
        return BinlogDump(start.offset, flags, server_id, start.file), 0
    if session.family is Family.MYSQL and session.gtids_enabled:
        return BinlogDumpGtid(flags, server_id, GtidSet(), start.file, start.offset), 0
    return BinlogDump(FIRST_EVENT_OFFSET, flags, server_id, start.file), start.offset


def _may_be_second(offset: int) -> bool:
    """Whether the second event of a log may begin at an offset, which is then reached by skipping the first.

    The second event of an encrypted log says that the rest is encrypted. MariaDB, if it begins there, decrypts that
    event too, which is not encrypted, and sends the result.
    """
    return FIRST_EVENT_OFFSET < offset <= _LAST_DESCRIPTION_END


def _dump_by_gtids(
    connection: Connection, session: Session, flags: DumpFlag, server_id: int, gtids: Gtids
) -> BinlogDump | BinlogDumpGtid:
    own = gtids_of_family(gtids, session.family)
    if isinstance(own, GtidSet):
        return BinlogDumpGtid(flags, server_id, own)
    _request_after_gtids(connection, own)
    return BinlogDump(FIRST_EVENT_OFFSET, flags, server_id, "")


def _request_after_gtids(connection: Connection, position: MariadbPosition) -> None:
    """Set the GTIDs after which the next dump of a MariaDB server begins."""
    wanted: SessionVariables = {"slave_connect_state": str(position)}
    _set_variables(connection, wanted | {"slave_gtid_strict_mode": 0, "slave_gtid_ignore_duplicates": 0})


def _flags(session: Session, *, until_end: bool) -> DumpFlag:
    flags = DumpFlag.NON_BLOCK if until_end else DumpFlag.NONE
    if session.family is Family.MARIADB:
        return flags | DumpFlag.ANNOTATE_ROWS
    return flags | DumpFlag.HEARTBEAT_V2 if session.has_heartbeat_v2 else flags
