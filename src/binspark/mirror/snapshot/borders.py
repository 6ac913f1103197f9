"""Where a table is divided into chunks, for any key: from border to border through the index, each row once.

`OFFSET` would count from the beginning of the table for each border, and interpolation between the smallest and the
largest key would give chunks of any size where keys are not uniform.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from binspark.errors import Server
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.snapshot.chunk import COMPLETE, Chunk
from binspark.mirror.snapshot.select import (
    SESSION,
    Literals,
    all_rows,
    between,
    key_columns,
    key_order,
    key_texts,
    literals,
    table_name,
)
from binspark.mirror.snapshot.statement import CHANGED, TableChanged
from binspark.server.connection import Connection, quoted_name

ROWS_PER_CHUNK = 250_000
Answer = TypeVar("Answer")


def plan_chunks(
    connection: Connection,
    table: MirroredTable,
    rows_per_chunk: int = ROWS_PER_CHUNK,
    done: Sequence[Chunk] = (),
) -> Iterator[Chunk]:
    """Yield the chunks of a table in the order of its key, as their borders are found; those `done` are omitted.

    Together they have every key, whichever rows come and go meanwhile. A table without a key is one chunk.
    """
    if not table.key:
        if COMPLETE not in done:
            yield COMPLETE
        return
    connection.rows(SESSION)
    hint = index_hint(connection, table)
    after = {chunk.low: chunk for chunk in done}
    low: Literals | None = None
    while True:
        known = after.get(low)
        if known is None:
            known = Chunk(low, _next_border(connection, table, hint, low, rows_per_chunk))
            yield known
        if known.is_last:
            return
        low = known.high


def _next_border(
    connection: Connection, table: MirroredTable, hint: str, low: Literals | None, rows: int
) -> Literals | None:
    """Return the key that comes `rows` rows after another; None if there are fewer, or no more."""
    columns = key_columns(table)
    # The border is the last row of a chunk, and one more row follows it: a last chunk without rows would be no use.
    sql = (
        f"SELECT {key_texts(columns)} FROM {all_rows(table)}{hint} "  # noqa: S608 (quoted)
        f"WHERE {between(columns, low, None)} ORDER BY {key_order(columns)} LIMIT 2 OFFSET {rows - 1}"
    )
    found = if_unchanged(lambda: connection.rows(sql))
    return literals(columns, found[0]) if len(found) > 1 else None


def estimated_rows(connection: Connection, table: MirroredTable) -> int:
    """Return about how many rows a table has, as the server estimates it."""
    sql = "SELECT table_rows FROM information_schema.tables WHERE table_schema = %s AND table_name = %s"
    found = connection.rows(sql, (table.source.schema, table.source.table))
    return int(found[0][0] or 0) if found else 0


def estimated_bytes(connection: Connection, table: MirroredTable) -> int:
    """Return about how many bytes the rows of a table have, as the server estimates it."""
    sql = "SELECT data_length FROM information_schema.tables WHERE table_schema = %s AND table_name = %s"
    found = connection.rows(sql, (table.source.schema, table.source.table))
    return int(found[0][0] or 0) if found else 0


def index_hint(connection: Connection, table: MirroredTable) -> str:
    """Return the hint that lets a server use the index of the key; empty if there is none that has all of it."""
    listed = if_unchanged(lambda: connection.records(f"SHOW INDEX FROM {table_name(table)}"))
    indexes: dict[str, list[str]] = {}
    for row in sorted(listed, key=lambda row: (str(row["Key_name"]), int(row["Seq_in_index"]))):
        if not int(row["Non_unique"]) and row["Sub_part"] is None:
            indexes.setdefault(str(row["Key_name"]), []).append(str(row["Column_name"]))
    found = next((name for name, columns in indexes.items() if tuple(columns) == table.key), None)
    return "" if found is None else f" FORCE INDEX ({quoted_name(found)})"


def if_unchanged(query: Callable[[], Answer]) -> Answer:
    """Run a query; raise `TableChanged` if the table is not what it was."""
    try:
        return query()
    except Server as error:
        if any(f"(error {code})" in error.message for code in CHANGED):
            message = f"the table was changed while it was read: {error.message}"
            raise TableChanged(message, error.position) from None
        raise
