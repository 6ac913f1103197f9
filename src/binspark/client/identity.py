"""Which server a connection has reached."""

from __future__ import annotations

from dataclasses import dataclass

from binspark.client.connect import Connection
from binspark.client.facts import server_family
from binspark.frames.format import Family


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """Which server this is.

    uuid           MySQL's `server_uuid`, MariaDB's `server_uid`; the address of a server that has neither
    gtids_enabled  whether every transaction that it writes has a GTID
    """

    family: Family
    uuid: str
    server_id: int
    gtids_enabled: bool


def identify(connection: Connection) -> ServerIdentity:
    """Ask a server who it is. Needs no privilege."""
    names = ("server_uuid", "server_uid", "server_id", "gtid_mode")
    rows = connection.rows("SHOW GLOBAL VARIABLES WHERE Variable_name IN %s", (names,))
    listed = {str(name): str(value) for name, value in rows}
    family = server_family(connection)
    uuid = listed.get("server_uuid") or listed.get("server_uid") or str(connection.address)
    gtids_enabled = family is Family.MARIADB or listed.get("gtid_mode") == "ON"
    return ServerIdentity(family, uuid, int(listed["server_id"]), gtids_enabled)
