"""Arrow arrays of a table's columns, described for the kernels that write rows as objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.errors import SchemaError
from binspark.event.column_types import ColumnType
from binspark.kernels.compiler import callback_address
from binspark.kernels.objects.layout import Field as F
from binspark.kernels.objects.layout import Source
from binspark.values.column import BINARY_COLLATION, Column

Numbers = npt.NDArray[np.int64]
Writers = Mapping[Source, Callable[[int, int, int, int], int]]
"""The functions that write values, compiled when they are needed."""

_SOURCES: dict[int, Callable[[Column, pa.DataType], Source]] = {
    pa.null().id: lambda _column, _kind: Source.NULL,
    pa.int8().id: lambda _column, _kind: Source.INT8,
    pa.int16().id: lambda _column, _kind: Source.INT16,
    pa.int32().id: lambda _column, _kind: Source.INT32,
    pa.int64().id: lambda _column, _kind: Source.INT64,
    pa.decimal128(1).id: lambda column, _kind: (
        Source.DECIMAL if column.type == ColumnType.NEWDECIMAL else Source.UNSIGNED
    ),
    pa.float32().id: lambda _column, _kind: Source.FLOAT,
    pa.float64().id: lambda _column, _kind: Source.DOUBLE,
    pa.date32().id: lambda _column, _kind: Source.DATE,
    pa.timestamp("us").id: lambda _column, kind: Source.TIMESTAMP if kind.tz else Source.DATETIME,
    pa.duration("us").id: lambda _column, _kind: Source.TIME,
    pa.string().id: lambda column, _kind: Source.DOCUMENT if column.is_document else Source.TEXT,
    pa.binary().id: lambda column, _kind: (
        Source.BINARY if column.collation == BINARY_COLLATION else Source.TEXT_OR_BINARY
    ),
    pa.list_(pa.string()).id: lambda _column, kind: (
        Source.TEXTS if pa.types.is_string(kind.value_type) else Source.FLOATS
    ),
    pa.struct([]).id: lambda _column, _kind: Source.GEOMETRY,
}
"""By the id of an Arrow type. Columns that have the same type may mean different things by it."""


def source_of(column: Column, kind: pa.DataType) -> Source:
    """Return how kernels read the values of a column in an Arrow type."""
    if kind.id not in _SOURCES:
        raise SchemaError(f"columns of Arrow's type {kind} cannot be part of a JSON or VARIANT object")
    return _SOURCES[kind.id](column, kind)


def field_names(columns: Sequence[Column]) -> list[str]:
    """Return the names of columns as members of an object: `@1`, `@2`, ... where they are not known."""
    return [column.name or f"@{number}" for number, column in enumerate(columns, 1)]


def describe_fields(columns: Sequence[Column], arrays: Sequence[pa.Array], writers: Writers) -> Numbers:
    """Return the numbers of arrays, one row for each. The arrays must live as long as they are used."""
    numbers = np.zeros((len(columns), F.WIDTH), dtype=np.int64)
    for row, column, array in zip(numbers, columns, arrays, strict=True):
        source = source_of(column, array.type)
        row[F.DIGITS] = column.scale
        if source is not Source.NULL:
            describe_array(row, array, source, writers)
    return numbers


def describe_array(row: Numbers, array: pa.Array, source: Source, writers: Writers) -> None:
    """Describe the buffers of an array, and the function that writes its values."""
    row[F.WRITER] = callback_address(writers[source])
    if array.null_count:
        row[F.VALIDITY], row[F.FIRST_BIT] = array.buffers()[0].address, array.offset
    if source is Source.GEOMETRY:
        srid, wkb = array.field(0), array.field(1)
        row[F.VALUES] = _address(srid, 1, 4)
        row[F.OFFSETS], row[F.DATA] = _address(wkb, 1, 4), _address(wkb, 2, 0)
    elif source is Source.TEXTS:
        items = array.values
        row[F.OFFSETS] = _address(array, 1, 4)
        row[F.ITEM_OFFSETS], row[F.DATA] = _address(items, 1, 4), _address(items, 2, 0)
    elif source is Source.FLOATS:
        row[F.OFFSETS], row[F.DATA] = _address(array, 1, 4), _address(array.values, 1, 4)
    elif source >= Source.TEXT:
        row[F.OFFSETS], row[F.DATA] = _address(array, 1, 4), _address(array, 2, 0)
    else:
        row[F.VALUES] = _address(array, 1, array.type.bit_width // 8)


def _address(array: pa.Array, buffer: int, width: int) -> int:
    """Return the address of the first value in a buffer whose values take `width` bytes; 0 if there is no buffer."""
    found = array.buffers()[buffer]
    return 0 if found is None else int(found.address) + width * array.offset
