"""Tables of a server as they are mirrored, and their rows by the log."""

from __future__ import annotations

import pyarrow as pa

from binspark.columns.options import ColumnOptions
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Operations, Selection
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS, MirroredTable, mirrored_table
from binspark.schema.server import from_server
from binspark.server.config import ConnectionConfig
from binspark.server.connection import connect
from binspark.testing.servers import Server
from tests.support.servers import config_of


def reached(server: Server) -> ConnectionConfig:
    """Return how to reach a server, without TLS: loading certificates takes longer than most reads of a test."""
    return config_of(server.port, ssl_mode="disabled")


def table_of(server: Server, name: str, options: ColumnOptions = MIRROR_OPTIONS) -> MirroredTable:
    """Return how a table of a server is mirrored, with the types of the log."""
    return tables_of(server, options)[name]


def tables_of(server: Server, options: ColumnOptions = MIRROR_OPTIONS) -> dict[str, MirroredTable]:
    """Return how all tables of a server are mirrored."""
    with connect(reached(server)) as connection:
        catalog = from_server(connection.rows)
    return {
        str(name): mirrored_table(definition.table_schema(*name), lambda kind: kind, options)
        for name, definition in catalog.tables.items()
        if definition is not None
    }


def inserted_rows(server: Server, table: MirroredTable) -> pa.Table:
    """Return the rows that were inserted into a table, as the server's logs have them."""
    selection = Selection(
        tables=frozenset([table.source.name]), metadata=False, options=table.options, operations=Operations.INSERT
    )
    reader, found = BatchReader(selection), []
    for path in server.log_files():
        with path.open("rb") as log:
            found += [part.batch for part in reader.read(log.readinto, path.name)]
    return pa.Table.from_batches(found)
