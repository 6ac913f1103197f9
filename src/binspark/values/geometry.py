"""GEOMETRY and VECTOR."""

from __future__ import annotations

from struct import unpack

from binspark.errors import Malformed
from binspark.position import Position
from binspark.values.column import Column
from binspark.values.options import ValueOptions
from binspark.values.strings import read_sized
from binspark.values.value import Geometry
from binspark.wire import Cursor

_DIMENSION_BYTES = 4


def decode_geometry(cursor: Cursor, column: Column, _options: ValueOptions) -> Geometry:
    """Decode GEOMETRY. MariaDB stores no bytes for a NOT NULL column to which no value was assigned.

    bytes   field
    1-4     length; `Column.length` is its number of bytes
    4       id of the spatial reference system
    rest    well-known binary
    """
    geometry = cursor.sub("geometry", cursor.uint("length", column.length))
    if not geometry.remaining:
        return Geometry(0, b"")
    return Geometry(geometry.u32("srid"), geometry.rest("wkb"))


def decode_vector(cursor: Cursor, column: Column, _options: ValueOptions) -> tuple[float, ...]:
    """Decode VECTOR.

    bytes   field
    1-4     length; `Column.length` is its number of bytes
    4 * n   dimensions, IEEE 754, little-endian
    """
    start = cursor.offset
    raw = read_sized(cursor, column)
    dimensions, rest = divmod(len(raw), _DIMENSION_BYTES)
    if rest:
        raise Malformed(
            f"VECTOR has {len(raw)} bytes, expected a multiple of {_DIMENSION_BYTES}", Position(offset=start)
        )
    return unpack(f"<{dimensions}f", raw)
