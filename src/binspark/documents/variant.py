"""JSON documents and rows as VARIANT, the binary encoding that Spark and Parquet share: arrays, and their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.documents.fields import describe_array, field_names
from binspark.documents.output import MAX_BYTES, Output, Workspace, too_much, write_all
from binspark.errors import SchemaError
from binspark.event.column_types import ColumnType
from binspark.kernels.objects.layout import Field, Rows, Source
from binspark.kernels.variant import WRITERS, write_documents
from binspark.values.column import Column

_VERSION = 1
_GEOMETRY_KEYS = (b"srid", b"wkb")


@dataclass(frozen=True, slots=True)
class RowKeys:
    """How the columns of a table become the fields of an object, which are ordered by the bytes of their names.

    order       the columns, in that order; their keys have the numbers from 0 on
    keys        the names in that order, then the keys that geometries need besides
    geometry    the numbers of the keys of a geometry
    dictionary  the keys, as they are encoded beside every value
    """

    order: tuple[int, ...]
    keys: tuple[bytes, ...]
    geometry: tuple[int, int]
    dictionary: bytes

    @property
    def key_bytes(self) -> int:
        """Bytes of a key's number."""
        return _width(len(self.keys) - 1)


@lru_cache(maxsize=256)
def keys_of_rows(columns: tuple[Column, ...]) -> RowKeys:
    """Return the keys of a table's rows."""
    names = [name.encode() for name in field_names(columns)]
    order = tuple(sorted(range(len(names)), key=names.__getitem__))
    keys = [names[index] for index in order]
    for name, following in pairwise(keys):
        if name == following:
            raise SchemaError(f"two columns are named {name.decode()!r}: no VARIANT object can have both")
    if any(column.type == ColumnType.GEOMETRY for column in columns):
        keys += [key for key in _GEOMETRY_KEYS if key not in keys]
    srid, wkb = (keys.index(key) if key in keys else 0 for key in _GEOMETRY_KEYS)
    return RowKeys(order, tuple(keys), (srid, wkb), _dictionary(keys))


def repeated(dictionary: bytes, rows: int, valid: npt.NDArray[np.bool_] | None) -> list[pa.Buffer]:
    """Return the same dictionary for each valid row, as the buffers of an Arrow array."""
    count = rows if valid is None else int(valid.sum())
    if count * len(dictionary) > MAX_BYTES:
        raise too_much()
    offsets = np.zeros(rows + 1, dtype=np.int32)
    offsets[1:] = np.arange(1, rows + 1) if valid is None else np.cumsum(valid)
    offsets *= len(dictionary)
    return [pa.py_buffer(offsets), pa.py_buffer(np.tile(np.frombuffer(dictionary, dtype=np.uint8), count))]


def _dictionary(keys: Sequence[bytes]) -> bytes:
    """Encode keys: version and width of the numbers, number of keys, offset of each, their text."""
    text = b"".join(keys)
    width = _width(max(len(text), len(keys)))
    ends = np.cumsum([0, *map(len, keys)]).tolist()
    numbers = b"".join(number.to_bytes(width, "little") for number in (len(keys), *ends))
    return bytes([_VERSION | (width - 1) << 6]) + numbers + text


def _width(number: int) -> int:
    """Return the bytes of a number."""
    return max(1, (number.bit_length() + 7) // 8)


VARIANT = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False, metadata={b"variant": b"true"}),
    ]
)
"""The Arrow type that Spark takes as VARIANT; the metadata are the keys of all objects in the value."""


def variant_documents(texts: pa.StringArray) -> pa.StructArray:
    """Return JSON documents as VARIANT; NULL stays NULL.

    They are read as by Spark's `parse_json`: integers become the smallest type that fits, numbers without exponent
    decimals if 38 digits are enough, all others doubles. Of members with the same key the last one counts.
    """
    rows, workspace = len(texts), Workspace()
    field = np.zeros(Field.WIDTH, dtype=np.int64)
    field[Field.WORKSPACE] = workspace.address
    describe_array(field, texts, Source.DOCUMENT, WRITERS)
    numbers = np.zeros(Rows.WIDTH, dtype=np.int64)
    numbers[Rows.ROWS], numbers[Rows.FIELDS], numbers[Rows.WORKSPACE] = rows, field.ctypes.data, workspace.address
    values = Output(numbers[Rows.AT : Rows.META_AT], rows, texts.nbytes + 64)
    dictionaries = Output(numbers[Rows.META_AT : Rows.ENTRIES], rows, texts.nbytes // 2 + 64)
    write_all(write_documents, numbers, values, dictionaries, workspace)
    valid = texts.is_valid().to_numpy(zero_copy_only=False) if texts.null_count else None
    return variants(values.buffers(), dictionaries.buffers(), rows, valid)


def variants(
    values: list[pa.Buffer], dictionaries: list[pa.Buffer], rows: int, valid: npt.NDArray[np.bool_] | None
) -> pa.StructArray:
    """Return values and their dictionaries as one array; NULL where `valid` is false."""
    children = [pa.Array.from_buffers(pa.binary(), rows, [None, *buffers], 0) for buffers in (values, dictionaries)]
    bitmap, nulls = bitmap_of(valid)
    return pa.Array.from_buffers(VARIANT, rows, [bitmap], nulls, children=children)


def bitmap_of(valid: npt.NDArray[np.bool_] | None) -> tuple[pa.Buffer | None, int]:
    """Return the bitmap of rows that are not NULL, and how many are NULL."""
    if valid is None:
        return None, 0
    return pa.py_buffer(np.packbits(valid, bitorder="little")), len(valid) - int(valid.sum())
