"""What a server says of itself: version, logs, GTIDs, settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from binspark.client.connect import Connection, Row
from binspark.errors import Server
from binspark.frames.format import Family, family_of, version_numbers
from binspark.gtid import GtidSet, MariadbPosition

Gtids = GtidSet | MariadbPosition
"""What was written up to some place: a set in MySQL, a position in MariaDB."""

_LOOKS = 5


class ServerLog(NamedTuple):
    """One of the server's binary logs."""

    name: str
    size: int
    encrypted: bool = False


class LogEnd(NamedTuple):
    """Where the server writes next, and the GTIDs of all that it has written."""

    file: str
    offset: int
    gtids: Gtids


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What a server says of itself.

    server_uuid      names the server for good: MySQL's `server_uuid`, MariaDB's `server_uid`; empty if it has none
    logs             oldest first; empty if the server writes none
    end              where it writes next; None if it writes no log
    gtids_purged     MySQL: GTIDs whose logs are gone; MariaDB does not say
    gtids_enabled    whether every transaction has a GTID: `gtid_mode=ON`; always in MariaDB
    variables        every global variable as text, by name; texts over 1,000 characters are cut off
    """

    version: str
    family: Family
    server_id: int
    server_uuid: str
    log_bin: bool
    logs: tuple[ServerLog, ...]
    end: LogEnd | None
    gtids_purged: GtidSet
    gtids_enabled: bool
    variables: Mapping[str, str] = field(repr=False)

    @property
    def binlog_format(self) -> str:
        """`ROW`, `MIXED` or `STATEMENT`: what new sessions write."""
        return self.variables.get("binlog_format", "ROW")

    @property
    def row_image(self) -> str:
        """`FULL`, `MINIMAL`, `NOBLOB`, `FULL_NODUP`: which columns of a row are logged."""
        return self.variables.get("binlog_row_image", "FULL")

    @property
    def row_metadata(self) -> str:
        """`FULL`, `MINIMAL`, `NO_LOG`: what is logged of columns besides their types."""
        return self.variables.get("binlog_row_metadata", "NO_LOG")

    @property
    def checksum(self) -> str:
        """`CRC32` or `NONE`: how events end."""
        return self.variables.get("binlog_checksum", "NONE")


def server_facts(connection: Connection) -> ServerFacts:
    """Ask a server what it is and which logs it has. Needs the privilege REPLICATION CLIENT where there are logs."""
    variables = server_variables(connection)
    family = server_family(connection)
    log_bin = variables.get("log_bin") == "ON"
    return ServerFacts(
        version=connection.server_version,
        family=family,
        server_id=int(variables["server_id"]),
        server_uuid=variables.get("server_uuid") or variables.get("server_uid", ""),
        log_bin=log_bin,
        logs=server_logs(connection) if log_bin else (),
        end=log_end(connection) if log_bin else None,
        gtids_purged=purged_gtids(connection),
        gtids_enabled=variables.get("gtid_mode", "OFF") == "ON" if family is Family.MYSQL else True,
        variables=variables,
    )


def server_family(connection: Connection) -> Family:
    """Tell MariaDB from MySQL."""
    return family_of(connection.server_version)


def server_variables(connection: Connection) -> dict[str, str]:
    """Return every global variable as text. Needs no privilege."""
    return {str(name): str(value) for name, value in connection.rows("SHOW GLOBAL VARIABLES")}


def server_logs(connection: Connection) -> tuple[ServerLog, ...]:
    """List the server's binary logs, oldest first."""
    listed = connection.rows("SHOW BINARY LOGS")
    return tuple(ServerLog(str(row[0]), int(row[1]), row[2:3] == ("Yes",)) for row in listed)


def log_end(connection: Connection) -> LogEnd:
    """Return where the server writes next."""
    if server_family(connection) is Family.MARIADB:
        return _mariadb_log_end(connection)
    status = _log_status(connection)
    return LogEnd(str(status[0]), int(status[1]), GtidSet(str(status[4])))


def write_place(connection: Connection) -> tuple[str, int]:
    """Return the file and offset where the server writes next."""
    file, offset, *_ = _log_status(connection)
    return str(file), int(offset)


def _mariadb_log_end(connection: Connection) -> LogEnd:
    """MariaDB tells place and GTIDs apart: they belong together if nothing was written between two looks."""
    place = write_place(connection)
    for _ in range(_LOOKS):
        position = MariadbPosition(str(connection.rows("SELECT @@GLOBAL.gtid_binlog_pos")[0][0]))
        before, place = place, write_place(connection)
        if before == place:
            return LogEnd(*place, position)
    return LogEnd(*place, mariadb_gtids_at(connection, *place))


def mariadb_gtids_at(connection: Connection, file: str, offset: int) -> MariadbPosition:
    """Return the GTID position of a place in a MariaDB server's logs. The server reads the file up to there."""
    position = connection.rows("SELECT BINLOG_GTID_POS(%s, %s)", (file, offset))[0][0]
    if position is None:
        message = f"the server knows no GTID position at {file}:{offset}: no such log, or no event begins there"
        raise Server(message, connection.position)
    return MariadbPosition(str(position))


def _log_status(connection: Connection) -> Row:
    """Ask for the end of the log. MySQL 8.2 renamed the statement, 8.4 took the old name away."""
    new_name = server_family(connection) is Family.MYSQL and version_numbers(connection.server_version) >= (8, 2, 0)
    rows = connection.rows("SHOW BINARY LOG STATUS" if new_name else "SHOW MASTER STATUS")
    if not rows:
        raise Server("the server writes no binary log: start it with log_bin", connection.position)
    return rows[0]


def purged_gtids(connection: Connection) -> GtidSet:
    """Return the GTIDs whose logs are gone. MariaDB does not say."""
    if server_family(connection) is Family.MARIADB:
        return GtidSet()
    return GtidSet(str(connection.rows("SELECT @@GLOBAL.gtid_purged")[0][0]))
