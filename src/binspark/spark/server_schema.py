"""The current schemas of a server's tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from binspark.options.server import connection_arguments
from binspark.position import Position
from binspark.schema.catalog import Catalog
from binspark.schema.server import from_server
from binspark.schema.table import TableName


def server_position(server: Mapping[str, Any]) -> Position:
    """Ask a server where it writes."""
    from binspark.replication.find import end_of_log
    from binspark.server.config import connection_config
    from binspark.server.connection import connect

    with connect(connection_config(**connection_arguments(server))) as connection:
        return end_of_log(connection).error_position


def server_catalog(server: Mapping[str, Any]) -> Catalog:
    """Ask a server for its tables."""
    from binspark.server.config import connection_config
    from binspark.server.connection import connect

    with connect(connection_config(**connection_arguments(server))) as connection:
        return from_server(connection.rows)


def select_grant(server: Mapping[str, Any], table: TableName) -> str:
    """Return the statement that lets the user of a connection see a table."""
    from binspark.server.config import connection_config
    from binspark.server.connection import connect, quoted_name

    with connect(connection_config(**connection_arguments(server))) as connection:
        account = connection.account
    return f"GRANT SELECT ON {quoted_name(table.schema)}.{quoted_name(table.table)} TO {account}"
