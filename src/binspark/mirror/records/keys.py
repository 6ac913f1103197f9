"""Keys as bytes: in their order, and different for different keys, whatever the types of their columns are.

Sorting, merging and dividing a table work on one binary column, so that keys of any type and any number of columns are
one case. An encoding is a function of the values alone, and stays the same where a column is widened to another type of
the same kind:

kind       types                                   bytes
integer    integers, BOOLEAN, dates, times         8: big-endian, the sign inverted
float      FLOAT, DOUBLE                           8: of a double, the sign inverted; of negative numbers all bits
decimal    DECIMAL, BIGINT UNSIGNED                16: big-endian, the sign inverted
bytes      text, binary                            as they are in the last column; else 00 becomes 00 FF, and 00 00 ends
list       SET, VECTOR                             for each value 01 and the value, then 00
struct     GEOMETRY                                its fields, one after the other

A value that may be NULL has a byte before it: 01, or 00 for NULL.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from binspark.errors import SchemaError
from binspark.mirror.schema.mirrored_table import MirroredTable

KEY_TYPE = pa.binary()
"""The type of a column of key bytes."""

MAX_ROW_KEY_BYTES = 1024
"""The length from which on the key of a row without key columns is completed by a digest."""

_NULL, _VALUE, _END = b"\x00", b"\x01", b"\x00"
_ZERO, _ESCAPED_ZERO, _TERMINATOR = b"\x00", b"\x00\xff", b"\x00\x00"
_SIGN = np.uint64(1 << 63)
_WORD = 8
_WIDE = 16


def row_keys(table: MirroredTable, rows: pa.RecordBatch) -> pa.Array:
    """Return the key bytes of rows, which have the columns of a table. Without a key, all columns are the key."""
    if not table.key:
        return _limited(key_bytes([rows.column(name) for name in table.schema.names], nullable=True))
    columns = [rows.column(name) for name in table.key]
    for name, column in zip(table.key, columns, strict=True):
        if column.null_count:
            raise SchemaError(
                f"{table.name}: column {name} of the key is NULL in a row; if that is a date which is not in the"
                " calendar, such as 0000-00-00, mirror the table with --zero-dates string"
            )
    return key_bytes(columns)


def key_kinds(table: MirroredTable) -> tuple[tuple[str, str], ...]:
    """Return the columns of a table's key, and how they are encoded: only key bytes of the same kinds compare."""
    return tuple((name, _kind(table.schema.field(name).type)) for name in table.key or table.schema.names)


def may_be_followed(table: MirroredTable) -> bool:
    """Return whether the bytes of a table's keys stay the same before another column: text is terminated there."""
    return not _is_bytes(table.schema.field(table.key[-1]).type)


def key_bytes(arrays: Sequence[pa.Array], *, nullable: bool = False) -> pa.Array:
    """Return the keys that these columns make up. Values that are NULL are only allowed if all may be NULL."""
    columns = [_plain(array) for array in arrays]
    if not nullable and any(column.null_count for column in columns):
        raise SchemaError("a column of a key is NULL in a row")
    if all(_is_fixed(column.type) for column in columns):
        return _joined_matrices([_matrix(column, nullable=nullable) for column in columns])
    last = len(columns) - 1
    parts = [
        _marked(column, is_last=index == last) if nullable else _encoded(column, is_last=index == last)
        for index, column in enumerate(columns)
    ]
    return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, _empty())


def _plain(array: pa.Array) -> pa.Array:
    """Return an array in one chunk, decoded, and with its type replaced by the one that is encoded."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _plain(array.dictionary_decode())
    if _is_bytes(kind):
        return array.cast(KEY_TYPE) if kind != KEY_TYPE else array
    return array


def _kind(kind: pa.DataType) -> str:
    """Return how values of a type are encoded."""
    if pa.types.is_dictionary(kind):
        return _kind(kind.value_type)
    if _is_bytes(kind):
        return "bytes"
    if pa.types.is_decimal(kind):
        return f"decimal {kind.scale}"
    if pa.types.is_floating(kind):
        return "float"
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return f"integer {kind.unit}"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"list of {_kind(kind.value_type)}"
    if pa.types.is_struct(kind):
        return f"struct of {', '.join(_kind(field.type) for field in kind)}"
    return "date" if pa.types.is_date32(kind) else "integer"


def _is_bytes(kind: pa.DataType) -> bool:
    return any(
        test(kind)
        for test in (
            pa.types.is_string,
            pa.types.is_binary,
            pa.types.is_large_string,
            pa.types.is_large_binary,
            pa.types.is_fixed_size_binary,
        )
    )


def _is_fixed(kind: pa.DataType) -> bool:
    """Return whether all keys of a type have the same length."""
    return any(test(kind) for test in (pa.types.is_primitive, pa.types.is_decimal, pa.types.is_null))


# --- Values of one length: as rows of a matrix of bytes --------------------------------------------------------------


def _matrix(array: pa.Array, *, nullable: bool) -> np.ndarray:
    """Return the bytes of values of one length, a row for each."""
    is_null = np.asarray(array.is_null()) if array.null_count else None
    if pa.types.is_null(array.type):
        return np.zeros((len(array), 1), np.uint8)
    words = _words(array)
    if is_null is not None:
        words[is_null] = 0
    encoded = words.view(np.uint8).reshape(len(array), words.itemsize * (words.size // max(1, len(array))))
    if not nullable:
        return encoded
    marks = np.ones((len(array), 1), np.uint8) if is_null is None else (~is_null).astype(np.uint8).reshape(-1, 1)
    return np.concatenate([marks, encoded], axis=1)


def _words(array: pa.Array) -> np.ndarray:
    """Return values as unsigned big-endian words, one or two for each."""
    kind, count = array.type, len(array)
    if pa.types.is_decimal(kind):
        wide = array.cast(pa.decimal128(38, kind.scale))
        low_high = np.frombuffer(wide.buffers()[1], np.uint64, 2 * count, _WIDE * wide.offset).reshape(count, 2)
        return np.stack([low_high[:, 1] ^ _SIGN, low_high[:, 0]], axis=1).astype(">u8")
    if pa.types.is_floating(kind):
        numbers = array.cast(pa.float64())
        bits = np.frombuffer(numbers.buffers()[1], np.uint64, count, _WORD * numbers.offset)
        return np.where(bits & _SIGN, ~bits, bits | _SIGN).astype(">u8")
    numbers = array if array.type.bit_width == 8 * _WORD else _narrow(array).cast(pa.int64())
    values = np.frombuffer(numbers.buffers()[1], np.uint64, count, _WORD * numbers.offset)
    return (values ^ _SIGN).astype(">u8")


def _narrow(array: pa.Array) -> pa.Array:
    """Return values of less than 64 bits as integers."""
    return array.cast(pa.int32()) if pa.types.is_date32(array.type) else array


def _joined_matrices(matrices: Sequence[np.ndarray]) -> pa.Array:
    matrix = matrices[0] if len(matrices) == 1 else np.concatenate(matrices, axis=1)
    count, width = matrix.shape
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(width)
    data = np.ascontiguousarray(matrix)
    return pa.Array.from_buffers(KEY_TYPE, count, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


# --- Values of any length ---------------------------------------------------------------------------------------------


def _encoded(array: pa.Array, *, is_last: bool) -> pa.Array:
    """Return the bytes of values; of NULL they are null, or anything."""
    kind = array.type
    if _is_fixed(kind):
        return _joined_matrices([_matrix(array, nullable=False)])
    if _is_bytes(kind):
        return array if is_last else _terminated(array)
    if pa.types.is_struct(kind):
        children = [_marked(_plain(array.field(index)), is_last=False) for index in range(kind.num_fields)]
        return pc.binary_join_element_wise(*children, _empty()) if children else _repeated(_END, len(array))
    return _encoded_lists(array)


def _marked(array: pa.Array, *, is_last: bool) -> pa.Array:
    """Return the bytes of values that may be NULL."""
    marked = pc.binary_join_element_wise(_scalar(_VALUE), _encoded(array, is_last=is_last), _empty())
    if pa.types.is_null(array.type):
        return _repeated(_NULL, len(array))
    return pc.if_else(array.is_valid(), marked, _scalar(_NULL)) if array.null_count else marked


def _terminated(array: pa.Array) -> pa.Array:
    escaped = pc.replace_substring(array, _ZERO, _ESCAPED_ZERO)
    return pc.binary_join_element_wise(escaped, _scalar(_TERMINATOR), _empty())


def _encoded_lists(array: pa.Array) -> pa.Array:
    values = _marked(_plain(array.flatten()), is_last=False)
    values = pc.binary_join_element_wise(_scalar(_VALUE), values, _empty())
    counts = np.asarray(pc.fill_null(pc.list_value_length(array), 0)).astype(np.int32)
    offsets = np.concatenate([np.zeros(1, np.int32), np.cumsum(counts, dtype=np.int32)])
    lists = pa.ListArray.from_arrays(pa.array(offsets), values)
    return pc.binary_join_element_wise(pc.binary_join(lists, _empty()), _scalar(_END), _empty())


def _limited(keys: pa.Array) -> pa.Array:
    """Return keys with the end of long ones replaced by a digest of all of it. Their order is that of their beginning.

    They are in the footers of files and in the memory of the driver, and a row may have a gigabyte.
    """
    is_long = np.asarray(pc.greater(pc.binary_length(keys), MAX_ROW_KEY_BYTES))
    if not is_long.any():
        return keys
    values = keys.filter(pa.array(is_long))
    short = [_digested(memoryview(value.as_buffer())) for value in values]
    return pc.replace_with_mask(keys, pa.array(is_long), pa.array(short, KEY_TYPE))


def _digested(key: memoryview) -> bytes:
    return bytes(key[:MAX_ROW_KEY_BYTES]) + hashlib.sha256(key).digest()


def _scalar(value: bytes) -> pa.Scalar:
    return pa.scalar(value, KEY_TYPE)


def _empty() -> pa.Scalar:
    return _scalar(b"")


def _repeated(value: bytes, count: int) -> pa.Array:
    return pa.repeat(_scalar(value), count)
