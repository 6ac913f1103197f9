"""Which mirror this is: the name that its tables contain, so that another mirror does not write them.

Without `--mirror-id` the name is that of the source with which the mirror began: `server:` and the UUID of a server,
or `logs:` and the directory of log files. A server that took over from the first has another UUID: it continues the
mirror if it has all transactions that the mirror has.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from binspark.errors import Purged
from binspark.files.log_head import read_head
from binspark.files.sources import LogSource, log_order
from binspark.frames.format import Family
from binspark.gtid import GtidSet, MariadbPosition
from binspark.mirror.targets.target import OtherMirror
from binspark.replication.dump import file_created
from binspark.replication.position import BinlogPosition
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection, connect
from binspark.server.info import mariadb_gtid_state, mysql_executed_gtids, server_family, server_info, server_logs

_SERVER = "server:"
_LOGS = "logs:"


class Identified(Protocol):
    """A source that knows which one it is."""

    def identity(self) -> str:
        """Return the name that a mirror of this source has by default."""
        ...

    def continues(self, position: BinlogPosition) -> bool:
        """Return whether the source is known to have all that came before a position of another source."""
        ...


def mirror_id(given: str | None, source: Identified, stored: str | None, position: BinlogPosition | None) -> str:
    """Return the name of a mirror: as it was given, or as its target has it, or that of its source.

    stored, position   the name of the mirror that has written the target, and how far it is; None if nobody has
    """
    if given is not None:
        return given
    own = source.identity()
    if stored is None or stored == own:
        return own
    is_default = stored.startswith((_SERVER, _LOGS))
    if is_default and position is not None and source.continues(position):
        return stored
    message = f"the target is written by the mirror {stored!r}, and this would be the mirror {own!r}"
    if is_default:
        message += ", which is not known to have all transactions of the first"
    raise OtherMirror(
        f"{message}. Give each mirror a --target of its own; if this is the same database, continue with --mirror-id "
        f"{stored!r}"
    )


def server_identity(config: ConnectionConfig) -> str:
    """Return the name of a mirror of a server."""
    with connect(config) as connection:
        return f"{_SERVER}{server_info(connection).uuid}"


def server_continues(config: ConnectionConfig, position: BinlogPosition) -> bool:
    """Return whether a server has all transactions before a position, by their GTIDs."""
    with connect(config) as connection:
        if position.server and position.server == server_info(connection).uuid:
            return True
        kind = MariadbPosition if server_family(connection) is Family.MARIADB else GtidSet
        return isinstance(position.gtids, kind) and bool(position.gtids) and _has_gtids(connection, position)


def require_same_logs(config: ConnectionConfig, position: BinlogPosition) -> None:
    """Refuse a server whose logs were reset after a position: what follows it in the new ones is not what came next.

    A log that is only gone, and a position of another server, are left to whoever reads from there.
    """
    with connect(config) as connection:
        if server_info(connection).uuid != position.server or not position.by_file:
            return
        sizes = {listed.name: listed.size for listed in server_logs(connection)}
        newest = max(sizes, key=log_order, default=position.file)
        if log_order(position.file) < log_order(newest) and position.file not in sizes:
            return
        is_same = sizes.get(position.file, 0) >= position.offset and _has_gtids(connection, position)
        if is_same and (not position.created or file_created(config, position.file) == position.created):
            return
    message = f"the server does not have all that came before {position.describe()}"
    raise Purged(f"{message}: its logs were reset, or it has lost transactions")


def _has_gtids(connection: Connection, position: BinlogPosition) -> bool:
    """Return whether a server has the transactions before one of its positions, as far as their GTIDs are known."""
    gtids, is_mariadb = position.gtids, server_family(connection) is Family.MARIADB
    if isinstance(gtids, MariadbPosition) and is_mariadb:
        state = mariadb_gtid_state(connection)
        return all(gtid in state for gtid in gtids)
    if isinstance(gtids, GtidSet) and not is_mariadb:
        return gtids <= mysql_executed_gtids(connection)
    return True


def logs_identity(logs: Sequence[LogSource]) -> str:
    """Return the name of a mirror of log files: their directory, so that new files do not change it."""
    directory, slash, _ = logs[0].name.rpartition("/")
    is_remote = "://" in directory
    return f"{_LOGS}{directory if is_remote else Path(directory + slash or '.').absolute()}"


def logs_continue(logs: Sequence[LogSource], position: BinlogPosition) -> bool:
    """Return whether log files are those of the server of a position: its file is there, created at the same time."""
    for log in logs:
        if position.created and log.name.rpartition("/")[2] == position.file:
            with log.open() as file:
                return read_head(file, log.name).frame.header.timestamp == position.created
    return False
