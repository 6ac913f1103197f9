"""What a server reports of itself: which one it is, its settings, its logs, its GTIDs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from binspark.errors import Server
from binspark.files.sources import log_order
from binspark.frames.format import Family, family_of, version_numbers
from binspark.gtid import GtidSet, MariadbPosition, MariadbState
from binspark.server.connection import Connection, Row

NO_BINARY_LOG = "the server writes no binary log: start it with log_bin"

_ROW_FORMAT = "ROW"


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """Which server this is.

    uuid           MySQL's `server_uuid`, MariaDB's `server_uid`; the address of a server that has neither
    gtids_enabled  whether every transaction that it writes has a GTID: `gtid_mode=ON`; always in MariaDB
    """

    family: Family
    version: str
    uuid: str
    server_id: int
    gtids_enabled: bool


class ServerLog(NamedTuple):
    """One of the server's binary logs."""

    name: str
    size: int
    encrypted: bool = False


def server_family(connection: Connection) -> Family:
    """Return whether a server is MySQL or MariaDB."""
    return family_of(connection.server_version)


def server_info(connection: Connection) -> ServerInfo:
    """Return which server a connection has reached. Needs no privilege."""
    names = ("server_uuid", "server_uid", "server_id", "gtid_mode")
    rows = connection.rows("SHOW GLOBAL VARIABLES WHERE Variable_name IN %s", (names,))
    listed = {str(name): str(value) for name, value in rows}
    family = server_family(connection)
    uuid = listed.get("server_uuid") or listed.get("server_uid") or str(connection.address)
    gtids_enabled = family is Family.MARIADB or listed.get("gtid_mode") == "ON"
    return ServerInfo(family, connection.server_version, uuid, int(listed["server_id"]), gtids_enabled)


def server_variables(connection: Connection) -> dict[str, str]:
    """Return every global variable as text. Needs no privilege."""
    return {str(name): str(value) for name, value in connection.rows("SHOW GLOBAL VARIABLES")}


def require_row_format(connection: Connection) -> None:
    """Refuse a server that logs statements instead of rows."""
    problem = row_format_problem(connection)
    if problem is not None:
        raise Server(problem, connection.position)


def row_format_problem(connection: Connection) -> str | None:
    """Return what is wrong with the format in which a server logs changes; None if it logs rows."""
    binlog_format = server_variables(connection).get("binlog_format", _ROW_FORMAT)
    if binlog_format == _ROW_FORMAT:
        return None
    return (
        f"binlog_format is {binlog_format}, expected ROW: changes are logged as statements, from which rows cannot "
        "be read. SET GLOBAL binlog_format = ROW; it applies to sessions that begin afterwards"
    )


def server_logs(connection: Connection) -> tuple[ServerLog, ...]:
    """List the server's binary logs, oldest first."""
    listed = connection.rows("SHOW BINARY LOGS")
    return tuple(ServerLog(str(row[0]), int(row[1]), row[2:3] == ("Yes",)) for row in listed)


def bytes_after(logs: tuple[ServerLog, ...], file: str, offset: int) -> int:
    """Return how many bytes of a server's logs come after a position."""
    later = [log for log in logs if log_order(log.name) >= log_order(file)]
    here = offset if later and later[0].name == file else 0
    return max(0, sum(log.size for log in later) - here)


def write_coordinates(connection: Connection) -> tuple[str, int]:
    """Return the file and offset at which the server writes next."""
    file, offset, *_ = _log_status(connection)
    return str(file), int(offset)


def mysql_log_status(connection: Connection) -> tuple[str, int, GtidSet]:
    """Return the file and offset at which a MySQL server writes next, and the GTIDs up to there."""
    status = _log_status(connection)
    return str(status[0]), int(status[1]), GtidSet(str(status[4]))


def mysql_gtids_before(connection: Connection, file: str) -> GtidSet:
    """Return the GTIDs before one of a MySQL server's logs, which its second event has."""
    for row in connection.rows("SHOW BINLOG EVENTS IN %s LIMIT 3", (file,)):
        if row[2] == "Previous_gtids":
            return GtidSet(str(row[5]))
    return GtidSet()


def mariadb_gtids(connection: Connection) -> MariadbPosition:
    """Return the GTID position of all that a MariaDB server has written."""
    return MariadbPosition(_global_variable(connection, "gtid_binlog_pos"))


def mariadb_gtids_at(connection: Connection, file: str, offset: int) -> MariadbPosition:
    """Return the GTID position of an offset in a MariaDB server's logs. The server reads the file up to there."""
    position = connection.rows("SELECT BINLOG_GTID_POS(%s, %s)", (file, offset))[0][0]
    if position is None:
        message = f"the server has no GTID position for {file}:{offset}: no such log, or no event begins there"
        raise Server(message, connection.position)
    return MariadbPosition(str(position))


def mysql_executed_gtids(connection: Connection) -> GtidSet:
    """Return the GTIDs of all transactions that a MySQL server has."""
    return GtidSet(_global_variable(connection, "gtid_executed"))


def mariadb_gtid_state(connection: Connection) -> MariadbState:
    """Return, for each domain and server, the last GTID that a MariaDB server has written."""
    return MariadbState(_global_variable(connection, "gtid_binlog_state"))


def mariadb_applied_gtids(connection: Connection) -> MariadbPosition:
    """Return the last GTID of each domain that a MariaDB server applied as a replica."""
    return MariadbPosition(_global_variable(connection, "gtid_slave_pos"))


def purged_gtids(connection: Connection) -> GtidSet:
    """Return the GTIDs whose logs are gone; MariaDB does not report them."""
    if server_family(connection) is Family.MARIADB:
        return GtidSet()
    return GtidSet(_global_variable(connection, "gtid_purged"))


def _global_variable(connection: Connection, name: str) -> str:
    return str(connection.rows(f"SELECT @@GLOBAL.{name}")[0][0])


def _log_status(connection: Connection) -> Row:
    """MySQL 8.2 renamed the statement, 8.4 removed the old name."""
    new_name = server_family(connection) is Family.MYSQL and version_numbers(connection.server_version) >= (8, 2, 0)
    rows = connection.rows("SHOW BINARY LOG STATUS" if new_name else "SHOW MASTER STATUS")
    if not rows:
        raise Server(NO_BINARY_LOG, connection.position)
    return rows[0]
