"""Reads the rows of a chunk, or of some keys, as record batches of the target's schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa

from binspark.columns.result_rows import ResultRows
from binspark.errors import SchemaError
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.snapshot.borders import index_hint
from binspark.mirror.snapshot.chunk import Chunk
from binspark.mirror.snapshot.key_rows import key_literals
from binspark.mirror.snapshot.positions import begin_consistent_read, exact_position
from binspark.mirror.snapshot.select import (
    SESSION,
    Literals,
    all_rows,
    between,
    equal_to,
    key_columns,
    queried_schema,
    selected,
)
from binspark.mirror.snapshot.statement import QueryChannel, TableChanged
from binspark.replication.position import BinlogPosition
from binspark.server.config import ConnectionConfig
from binspark.server.connection import Connection, connect

SILENCE_SECONDS = 600.0
"""How long a server may take for the next row; it may have to read much of a table first."""

_KEYS_PER_QUERY = 1000


def read_chunk(config: ConnectionConfig, table: MirroredTable, chunk: Chunk) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a chunk as they are at one moment, in any order."""
    with connect(config) as connection, chunk_at_position(connection, table, chunk) as (_, batches):
        yield from batches


@contextmanager
def chunk_at_position(
    connection: Connection, table: MirroredTable, chunk: Chunk
) -> Iterator[tuple[BinlogPosition | None, Iterator[pa.RecordBatch]]]:
    """Return the position at which a chunk is read, where a server reports it, and its rows.

    A table without a key is locked for a moment, so that its position is known. The connection can do nothing else
    afterwards.
    """
    if table.key:
        yield begin_consistent_read(connection), read_rows(connection, table, chunk)
        return
    with exact_position(connection, table) as position:
        yield position, read_rows(connection, table, chunk)


def read_rows(connection: Connection, table: MirroredTable, chunk: Chunk) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a chunk over a connection with a consistent read. It can do nothing else afterwards."""
    hint = index_hint(connection, table) if table.key and chunk != Chunk() else ""
    condition = between(key_columns(table), chunk.low, chunk.high)
    channel = QueryChannel(connection, SILENCE_SECONDS)
    yield from _queried(channel, table, f"{all_rows(table)}{hint} WHERE {condition}")


def read_keys(
    config: ConnectionConfig, table: MirroredTable, keys: pa.Table | pa.RecordBatch
) -> Iterator[pa.RecordBatch]:
    """Yield the rows that have some keys now; a key without a row has none. `keys` has the columns of the key."""
    columns = key_columns(table)
    parts = (keys.slice(start, _KEYS_PER_QUERY) for start in range(0, keys.num_rows, _KEYS_PER_QUERY))
    return _read_keys(config, table, (key_literals(columns, part) for part in parts))


def read_literal_keys(config: ConnectionConfig, table: MirroredTable, keys: Sequence[Literals]) -> pa.Table:
    """Return the same for keys that are SQL literals, as a table."""
    parts = (keys[start : start + _KEYS_PER_QUERY] for start in range(0, len(keys), _KEYS_PER_QUERY))
    return pa.Table.from_batches(_read_keys(config, table, parts), schema=table.schema)


def _read_keys(
    config: ConnectionConfig, table: MirroredTable, parts: Iterable[Sequence[Literals]]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of keys; those of a part are asked for by one query."""
    columns = key_columns(table)
    with connect(config) as connection:
        connection.rows(SESSION)
        channel = QueryChannel(connection, SILENCE_SECONDS)
        for keys in parts:
            yield from _queried(channel, table, f"{all_rows(table)} WHERE {equal_to(columns, keys)}")


def _queried(channel: QueryChannel, table: MirroredTable, source: str) -> Iterator[pa.RecordBatch]:
    schema = queried_schema(table)
    sent = channel.execute(f"SELECT {selected(schema.columns)} FROM {source}")  # noqa: S608 (all names are quoted)
    try:
        rows = ResultRows(schema, table.options, sent)
    except SchemaError as error:
        raise TableChanged(error.message, error.position) from None
    for batch in rows.batches(channel):
        yield conformed(batch, table.schema)


def conformed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return rows in the types of the target."""
    columns: Sequence[pa.Array] = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
