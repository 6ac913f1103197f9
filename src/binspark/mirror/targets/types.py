"""Types of Arrow that neither format has, and what is stored instead: every value fits."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

_REPLACED: dict[pa.DataType, pa.DataType] = {
    pa.null(): pa.string(),
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.large_string(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.date64(): pa.date32(),
}


def storable_type(kind: pa.DataType, inner: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """Return the type in which values of a type are stored. `inner` is that of a format, for nested types."""
    if pa.types.is_dictionary(kind):
        return inner(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(inner(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(kind.value_field.with_type(inner(kind.value_type)))
    if pa.types.is_duration(kind):
        return pa.int64()
    if pa.types.is_decimal256(kind):
        return pa.string()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz="UTC" if kind.tz else None)
    return _REPLACED.get(kind, kind)
