"""Tables of a server as they are mirrored, and their rows by the log."""

from __future__ import annotations

import pyarrow as pa

from binspark.columns.options import ColumnOptions
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Operations, Selection
from binspark.mirror.mirrored_table import MIRROR_OPTIONS, MirroredTable, mirrored_table
from binspark.schema.server import from_server
from binspark.schema.table import TableName
from binspark.server.connection import connect
from binspark.testing.servers import Server
from tests.support.servers import config_of


def table_of(server: Server, name: str, options: ColumnOptions = MIRROR_OPTIONS) -> MirroredTable:
    """Return how a table of a server is mirrored, with the types of the log."""
    schema, _, table = name.partition(".")
    with connect(config_of(server.port)) as connection:
        definition = from_server(connection.rows).tables[TableName(schema, table)]
    assert definition is not None
    return mirrored_table(definition.table_schema(schema, table), lambda kind: kind, options)


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
