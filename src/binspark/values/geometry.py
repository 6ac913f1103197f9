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
    """Decode GEOMETRY. MariaDB stores no bytes at all for a NOT NULL column that was given no value.

    bytes   field
    1-4     length, in as many bytes as the column says
    4       id of the spatial reference system
    rest    well-known binary
    """
    shape = cursor.sub("geometry", cursor.uint("length", column.length))
    if not shape.remaining:
        return Geometry(0, b"")
    return Geometry(shape.u32("srid"), shape.rest("wkb"))


def decode_vector(cursor: Cursor, column: Column, _options: ValueOptions) -> tuple[float, ...]:
    """Decode VECTOR.

    bytes   field
    1-4     length, in as many bytes as the column says
    4 * n   dimensions, IEEE 754, little-endian
    """
    start = cursor.offset
    raw = read_sized(cursor, column)
    dimensions, rest = divmod(len(raw), _DIMENSION_BYTES)
    if rest:
        raise Malformed(f"a VECTOR of {len(raw)} bytes, dimensions take 4 each", Position(offset=start))
    return unpack(f"<{dimensions}f", raw)
