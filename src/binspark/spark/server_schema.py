"""The shapes of tables as a live server knows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from binspark.position import Position
from binspark.schema.catalog import Catalog
from binspark.schema.server import from_server

_ARGUMENTS = {
    "host": "hosts",
    "port": "port",
    "user": "user",
    "password": "password",
    "socket": "socket",
    "defaultsFile": "defaults_file",
    "sslMode": "tls_mode",
    "sslCa": "tls_ca",
    "sslCert": "tls_cert",
    "sslKey": "tls_key",
}


def connection_arguments(server: Mapping[str, str]) -> dict[str, Any]:
    """Return the options of the data source that name a server as those of a connection."""
    return {_ARGUMENTS[name]: int(value) if name == "port" else value for name, value in server.items()}


def server_position(server: Mapping[str, str]) -> Position:
    """Ask a server where it writes."""
    from binspark.replication.find import end_of_log
    from binspark.server.config import connection_config
    from binspark.server.connection import connect

    with connect(connection_config(**connection_arguments(server))) as connection:
        return end_of_log(connection).error_position


def server_catalog(server: Mapping[str, str]) -> Catalog:
    """Ask a server for its tables."""
    from binspark.server.config import connection_config
    from binspark.server.connection import connect

    with connect(connection_config(**connection_arguments(server))) as connection:
        return from_server(connection.rows)
