"""How a table is divided for checksums: by ranges of its key, on both sides the same.

A server compares keys as their collation has it. A mirror can do the same for numbers, dates and bytes, and then each
range is compared by itself. For other keys the server's ranges only keep its queries short: the table is compared as
one range, in more buckets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa

from binspark.event.column_types import ColumnType as T
from binspark.mirror.records.keys import key_bytes
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.snapshot.chunk import Chunk
from binspark.mirror.snapshot.select import Literals, key_columns
from binspark.values.column import BINARY_COLLATION, Column

BUCKETS = 256
_MAX_BUCKETS = 1 << 16
_ROWS_OF_BUCKET = 1024
_SUCCESSOR = b"\x00"
_INTEGERS = frozenset({T.TINY, T.SHORT, T.INT24, T.LONG, T.LONGLONG, T.YEAR})
_MOMENTS = frozenset({T.DATE, T.NEWDATE, T.DATETIME, T.DATETIME2, T.TIMESTAMP, T.TIMESTAMP2})
_FLOATS = frozenset({T.FLOAT, T.DOUBLE})
_BYTES = frozenset({T.STRING, T.VARCHAR, T.VAR_STRING})


@dataclass(frozen=True, slots=True)
class KeyRange:
    """A range of keys that is compared by itself.

    chunks   the ranges that the server reads
    low      key bytes of the first key, and
    high     those after the last; None for no limit
    buckets  into how many buckets rows are divided
    """

    chunks: tuple[Chunk, ...]
    low: bytes | None
    high: bytes | None
    buckets: int


def key_ranges(table: MirroredTable, chunks: Iterable[Chunk], rows: int) -> Iterator[KeyRange]:
    """Yield the ranges of a table that has about `rows` rows."""
    if is_ordered(table):
        for chunk in chunks:
            yield KeyRange((chunk,), _after(table, chunk.low), _after(table, chunk.high), BUCKETS)
        return
    yield all_keys(rows, chunks)


def all_keys(rows: int, chunks: Iterable[Chunk] = ()) -> KeyRange:
    """Return one range for all keys of a table that has about `rows` rows."""
    wanted = max(BUCKETS, min(_MAX_BUCKETS, rows // _ROWS_OF_BUCKET))
    return KeyRange(tuple(chunks), None, None, 1 << (wanted - 1).bit_length())


def is_ordered(table: MirroredTable) -> bool:
    """Return whether key bytes have the order of the server."""
    return bool(table.key) and all(
        _is_ordered(column, table.schema.field(name).type)
        for column, name in zip(key_columns(table), table.key, strict=True)
    )


def _is_ordered(column: Column, kind: pa.DataType) -> bool:
    if column.type in _BYTES:
        return column.collation == BINARY_COLLATION and column.notation is None
    if column.type in _MOMENTS:
        # A zero date is NULL in the mirror, and no key; as text, dates have the order of their texts.
        return not pa.types.is_string(kind)
    return column.type in _INTEGERS | _FLOATS or (column.type == T.NEWDECIMAL and pa.types.is_decimal(kind))


def _after(table: MirroredTable, key: Literals | None) -> bytes | None:
    """Return the smallest key bytes after those of a key."""
    if key is None:
        return None
    arrays = [
        pa.array([_value(column, literal)], table.schema.field(name).type)
        for column, name, literal in zip(key_columns(table), table.key, key, strict=True)
    ]
    encoded: bytes = key_bytes(arrays)[0].as_py()
    return encoded + _SUCCESSOR


def _value(column: Column, literal: str) -> int | float | Decimal | bytes | datetime:
    """Return the value of a literal that `snapshot.select` has written."""
    if column.type in _BYTES:
        return bytes.fromhex(literal[literal.index("'") + 1 : -1])
    if column.type in _FLOATS:
        return float(literal) + 0.0  # no negative zero, which is before zero here and equal to it for a server
    text = literal.strip("'")
    if column.type in _MOMENTS:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if column.type in (T.TIMESTAMP, T.TIMESTAMP2) else moment
    return Decimal(text) if column.type in (T.NEWDECIMAL, T.LONGLONG) else int(text)
