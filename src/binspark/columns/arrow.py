"""Arrow arrays made of NumPy's and of texts, without `pa.array`, which imports pandas where that is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Valid = npt.NDArray[np.bool_]


def number_array(numbers: npt.NDArray[Any], kind: pa.DataType | None = None, valid: Valid | None = None) -> pa.Array:
    """Return numbers as an array that refers to them; NULL where they are not `valid`.

    They have the width of the values of `kind`; without it they are of their own type.
    """
    missing = 0 if valid is None else len(valid) - int(np.count_nonzero(valid))
    bitmap = None if not missing or valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    values = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(kind or pa.from_numpy_dtype(numbers.dtype), len(numbers), [bitmap, values], missing)


def word_numbers(words: pa.DictionaryArray) -> npt.NDArray[np.int32]:
    """Return which word of its dictionary each row has, -1 for none. `fill_null` loads all of Arrow's functions."""
    indexes = words.indices
    numbers: npt.NDArray[np.int32] = raw_numbers(indexes, np.int32)
    return np.where(validity(indexes), numbers, np.int32(-1)) if indexes.null_count else numbers


def raw_numbers(array: pa.Array, kind: npt.DTypeLike, per_value: int = 1) -> npt.NDArray[Any]:
    """Return the numbers in the buffer of values, also where the array is NULL."""
    dtype = np.dtype(kind)
    count, offset = len(array) * per_value, array.offset * per_value * dtype.itemsize
    return np.frombuffer(array.buffers()[1], dtype, count, offset)


def validity(array: pa.Array) -> Valid:
    """Return for each value whether it is not NULL."""
    bitmap = array.buffers()[0]
    if bitmap is None:
        return np.ones(len(array), dtype=np.bool_)
    bits = np.unpackbits(np.frombuffer(bitmap, np.uint8), count=array.offset + len(array), bitorder="little")
    return bits[array.offset :].view(np.bool_)


def flag_array(flags: Valid) -> pa.Array:
    """Return flags as an array."""
    bits = pa.py_buffer(np.packbits(flags, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(flags), [None, bits], 0)


def text_array(texts: Sequence[str]) -> pa.Array:
    """Return texts as an array."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(texts), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))], 0
    )
