"""The keys of rows as VARIANT: their order, and the dictionary that all rows of a table share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.row_objects_fields import field_names
from binspark.columns.row_objects_output import MOST_BYTES, too_much
from binspark.errors import SchemaError
from binspark.event.column_types import ColumnType
from binspark.values.column import Column

_VERSION = 1
_GEOMETRY_KEYS = (b"srid", b"wkb")


@dataclass(frozen=True, slots=True)
class RowKeys:
    """How the columns of a table become the fields of an object, which are ordered by the bytes of their names.

    order       the columns, in that order; their keys have the numbers from 0 on
    keys        the names in that order, then the keys that geometries need besides
    geometry    the numbers of the keys of a geometry
    dictionary  the keys, as they stand beside every value
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
            raise SchemaError(f"two columns are called {name.decode()}")
    if any(column.type == ColumnType.GEOMETRY for column in columns):
        keys += [key for key in _GEOMETRY_KEYS if key not in keys]
    srid, wkb = (keys.index(key) if key in keys else 0 for key in _GEOMETRY_KEYS)
    return RowKeys(order, tuple(keys), (srid, wkb), _dictionary(keys))


def repeated(dictionary: bytes, rows: int, valid: npt.NDArray[np.bool_] | None) -> list[pa.Buffer]:
    """Return the same dictionary for each row that there is, as the buffers of an Arrow array."""
    count = rows if valid is None else int(valid.sum())
    if count * len(dictionary) > MOST_BYTES:
        raise too_much()
    offsets = np.zeros(rows + 1, dtype=np.int32)
    offsets[1:] = np.arange(1, rows + 1) if valid is None else np.cumsum(valid)
    offsets *= len(dictionary)
    return [pa.py_buffer(offsets), pa.py_buffer(np.tile(np.frombuffer(dictionary, dtype=np.uint8), count))]


def _dictionary(keys: Sequence[bytes]) -> bytes:
    """Write keys down: version and width of the numbers, how many keys, where each begins, their text."""
    text = b"".join(keys)
    width = _width(max(len(text), len(keys)))
    ends = np.cumsum([0, *map(len, keys)]).tolist()
    numbers = b"".join(number.to_bytes(width, "little") for number in (len(keys), *ends))
    return bytes([_VERSION | (width - 1) << 6]) + numbers + text


def _width(number: int) -> int:
    """Return how many bytes a number takes."""
    return max(1, (number.bit_length() + 7) // 8)
