"""The shapes of tables as a live server knows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from binspark.options.server import connection_arguments
from binspark.position import Position
from binspark.schema.catalog import Catalog
from binspark.schema.server import from_server


def server_position(server: Mapping[str, Any]) -> Position:
    """Ask a server where it writes."""
    from binspark.client.connect import connect
    from binspark.client.facts import log_end
    from binspark.client.gather import connection_options

    with connect(connection_options(**connection_arguments(server))) as connection:
        end = log_end(connection)
    return Position(file=end.file, offset=end.offset)


def server_catalog(server: Mapping[str, Any]) -> Catalog:
    """Ask a server for its tables."""
    from binspark.client.connect import connect
    from binspark.client.gather import connection_options

    with connect(connection_options(**connection_arguments(server))) as connection:
        return from_server(connection.rows)
