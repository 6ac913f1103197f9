"""What a server is told before a dump: how its reader is called, what it understands, how often it wants to hear."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.client.connect import Connection
from binspark.client.facts import server_family
from binspark.client.settings import StreamSettings
from binspark.errors import OptionError, Server
from binspark.frames.format import ChecksumAlgorithm, Family, version_numbers
from binspark.gtid import MariadbPosition

_NANOSECONDS = 1_000_000_000
_MARIADB_CAPABILITY = 4
"""The reader understands GTIDs, and wants every event as it stands in the log."""

_SLOW_READER_SECONDS = 3600
"""How long the server waits for a reader that does not take what it sends, instead of a minute."""

_HEARTBEAT_V2_SINCE = (8, 0, 26)
_SEMI_SYNC = ("rpl_semi_sync_master_enabled", "rpl_semi_sync_source_enabled")
_VARIABLES = ("server_id", "binlog_checksum", "gtid_mode", *_SEMI_SYNC)

Told = dict[str, int | str]
"""User variables of a session that a dump looks at. MySQL 8.0.26 renamed them; each server overlooks the other name."""


@dataclass(frozen=True, slots=True)
class Session:
    """What both sides agreed on.

    `checksum` is for what comes before the first file: each file says itself whether its events have checksums, and the
    server sends them as they are, whatever was agreed on.
    """

    family: Family
    server_version: str
    checksum: ChecksumAlgorithm
    semi_sync: bool
    gtids_enabled: bool

    @property
    def sends_heartbeat_v2(self) -> bool:
        """Whether the server knows heartbeats that tell positions past 4 GiB."""
        return self.family is Family.MYSQL and version_numbers(self.server_version) >= _HEARTBEAT_V2_SINCE


def prepare_session(connection: Connection, settings: StreamSettings) -> Session:
    """Negotiate checksums, heartbeats, names and semi-synchronous replication."""
    family = server_family(connection)
    variables = _variables(connection)
    if int(variables["server_id"]) == settings.server_id:
        message = f"server_id: {settings.server_id} is the server's own; each reader needs one that nobody else has"
        raise OptionError(message, connection.position)
    checksum = variables.get("binlog_checksum", "NONE")
    semi_sync = _semi_sync(connection, variables, settings)
    heartbeat_period = int(settings.heartbeat_seconds * _NANOSECONDS)
    told: Told = {"master_heartbeat_period": heartbeat_period, "source_heartbeat_period": heartbeat_period}
    told |= {"master_binlog_checksum": checksum, "source_binlog_checksum": checksum}
    told |= {"slave_uuid": settings.uuid, "replica_uuid": settings.uuid}
    if semi_sync:
        told |= {"rpl_semi_sync_slave": 1, "rpl_semi_sync_replica": 1}
    if family is Family.MARIADB:
        told["mariadb_slave_capability"] = _MARIADB_CAPABILITY
    _tell(connection, told)
    connection.rows(f"SET SESSION net_write_timeout = {_SLOW_READER_SECONDS}")
    gtids_enabled = family is Family.MARIADB or variables.get("gtid_mode") == "ON"
    algorithm = ChecksumAlgorithm.CRC32 if checksum == "CRC32" else ChecksumAlgorithm.NONE
    return Session(family, connection.server_version, algorithm, semi_sync, gtids_enabled)


def ask_for_gtids(connection: Connection, position: MariadbPosition) -> None:
    """Tell a MariaDB server that the next dump begins behind these GTIDs."""
    told: Told = {"slave_connect_state": str(position), "slave_gtid_strict_mode": 0, "slave_gtid_ignore_duplicates": 0}
    _tell(connection, told)


def _variables(connection: Connection) -> dict[str, str]:
    listed = connection.rows("SHOW GLOBAL VARIABLES WHERE Variable_name IN %s", (_VARIABLES,))
    return {str(name): str(value) for name, value in listed}


def _semi_sync(connection: Connection, variables: dict[str, str], settings: StreamSettings) -> bool:
    if not settings.semi_sync:
        return False
    if not any(name in variables for name in _SEMI_SYNC):
        message = "the server has no semi-synchronous replication: INSTALL PLUGIN rpl_semi_sync_source first"
        raise Server(message, connection.position)
    return True


def _tell(connection: Connection, variables: Told) -> None:
    """Set variables of the session that a dump looks at."""
    assignments = ", ".join(f"@{name} = %s" for name in variables)
    connection.rows(f"SET {assignments}", tuple(variables.values()))
