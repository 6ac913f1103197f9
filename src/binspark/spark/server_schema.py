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
    from binspark.client.connect import connect
    from binspark.client.facts import log_end
    from binspark.client.gather import connection_options

    with connect(connection_options(**connection_arguments(server))) as connection:
        end = log_end(connection)
    return Position(file=end.file, offset=end.offset)


def server_catalog(server: Mapping[str, str]) -> Catalog:
    """Ask a server for its tables."""
    from binspark.client.connect import connect
    from binspark.client.gather import connection_options

    with connect(connection_options(**connection_arguments(server))) as connection:
        return from_server(connection.rows)
