"""Asking a server for a dump of its logs."""

from __future__ import annotations

from binspark.client.advice import explained_dump
from binspark.client.commands import BinlogDump, BinlogDumpGtid, DumpFlag, RegisterSlave, encode_command
from binspark.client.connect import Connection
from binspark.client.gtid_memory import own_kind
from binspark.client.packets import ERROR, decode_error
from binspark.client.session import Session, ask_for_gtids, prepare_session
from binspark.client.settings import StreamSettings
from binspark.client.start import AtFile, AtGtids
from binspark.client.stream import BinlogStream, OnHeartbeat
from binspark.client.wire_access import PacketChannel
from binspark.frames.format import CHECKSUM_LENGTH, FORMAT_DESCRIPTION_MINIMUM, Family
from binspark.frames.magic import FIRST_EVENT_OFFSET
from binspark.gtid import GtidSet, MariadbPosition
from binspark.position import Position

_WIDEST_POSITION = (1 << 32) - 1
_TYPES_OF_EVENTS = 255
_LAST_DESCRIPTION_END = FIRST_EVENT_OFFSET + FORMAT_DESCRIPTION_MINIMUM + _TYPES_OF_EVENTS + 1 + CHECKSUM_LENGTH
"""Where a format description ends at the latest."""


def open_stream(
    connection: Connection,
    start: AtFile | AtGtids,
    settings: StreamSettings | None = None,
    on_heartbeat: OnHeartbeat | None = None,
) -> BinlogStream:
    """Ask for the events from a place on. From now on the connection is the stream's; close it at the end."""
    settings = settings or StreamSettings()
    session = prepare_session(connection, settings)
    command, skip_to = _dump_command(connection, session, settings, start)
    channel = PacketChannel(connection.session, connection.position)
    with connection.errors():
        _register(channel, connection, settings)
        channel.send_command(encode_command(command))
    return BinlogStream(
        channel,
        session,
        settings,
        place=_place(connection, start),
        gaps=isinstance(start, AtGtids),
        skip_to=skip_to,
        on_heartbeat=on_heartbeat,
    )


def _place(connection: Connection, start: AtFile | AtGtids) -> Position:
    if isinstance(start, AtGtids):
        return connection.position
    return Position(file=start.file, offset=start.offset, source=connection.position.source)


def _register(channel: PacketChannel, connection: Connection, settings: StreamSettings) -> None:
    channel.send_command(encode_command(RegisterSlave(settings.server_id, settings.report_host)))
    answer = channel.read(settings.first_seconds)
    if answer[:1] == bytes((ERROR,)):
        error = decode_error(answer)
        raise explained_dump(error.code, error.message, connection.position)


def _dump_command(
    connection: Connection, session: Session, settings: StreamSettings, start: AtFile | AtGtids
) -> tuple[BinlogDump | BinlogDumpGtid, int]:
    """Return the command, and up to which offset of its first file events come that were not asked for."""
    flags = _flags(session, settings)
    if isinstance(start, AtGtids):
        return _dump_by_gtids(connection, session, settings, flags, start.gtids), 0
    if session.family is Family.MARIADB and _may_be_second(start):
        return BinlogDump(FIRST_EVENT_OFFSET, flags, settings.server_id, start.file), start.offset
    if start.offset <= _WIDEST_POSITION:
        return BinlogDump(start.offset, flags, settings.server_id, start.file), 0
    if session.family is Family.MYSQL and session.gtids_enabled:
        return BinlogDumpGtid(flags, settings.server_id, GtidSet(), start.file, start.offset), 0
    return BinlogDump(FIRST_EVENT_OFFSET, flags, settings.server_id, start.file), start.offset


def _may_be_second(start: AtFile) -> bool:
    """Whether the second event of a log may begin at a place, which is then reached by skipping the first.

    The second event of an encrypted log says that the rest is encrypted. MariaDB, asked to begin there, decrypts that
    event too, which is in clear, and sends what comes out of it.
    """
    return FIRST_EVENT_OFFSET < start.offset <= _LAST_DESCRIPTION_END


def _dump_by_gtids(
    connection: Connection,
    session: Session,
    settings: StreamSettings,
    flags: DumpFlag,
    gtids: GtidSet | MariadbPosition,
) -> BinlogDump | BinlogDumpGtid:
    own = own_kind(gtids, session.family)
    if isinstance(own, GtidSet):
        return BinlogDumpGtid(flags, settings.server_id, own)
    ask_for_gtids(connection, own)
    return BinlogDump(FIRST_EVENT_OFFSET, flags, settings.server_id, "")


def _flags(session: Session, settings: StreamSettings) -> DumpFlag:
    flags = DumpFlag.NON_BLOCK if settings.until_end else DumpFlag.NONE
    if session.family is Family.MARIADB:
        return flags | DumpFlag.ANNOTATE_ROWS
    return flags | DumpFlag.HEARTBEAT_V2 if session.sends_heartbeat_v2 else flags
