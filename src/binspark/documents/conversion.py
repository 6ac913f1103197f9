"""Columns of one schema version of a table as columns of another: what was narrower becomes wider, without loss."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from binspark.columns.types import BIGINT_UNSIGNED, DATETIME, TIMESTAMP
from binspark.errors import Malformed
from binspark.values.column import Column
from binspark.values.temporal.value import Time

_INTEGERS = {pa.int8(): 3, pa.int16(): 5, pa.int32(): 10, pa.int64(): 19}
"""The integer types, narrowest first, and the maximum digits of each."""

_EXACT = {pa.float32(): 5, pa.float64(): 10}
"""The maximum digits of integer types all of whose values a floating type has."""

_MAX_DIGITS = 38
_SECONDS = len("YYYY-MM-DD HH:MM:SS")
_TIME = pa.duration("us")
_UTC = "+00:00"

Conversion = Callable[[pa.Array], pa.Array]


def conversion(have: pa.DataType, want: pa.DataType, column: Column | None = None) -> Conversion | None:
    """Return what makes a column of one type a column of another, without loss; None if nothing does.

    `column` is the definition of the column as it is.
    """
    if pa.types.is_dictionary(have):
        return conversion_after(lambda array: array.dictionary_decode(), have.value_type, want)
    if have == want:
        return _same
    if column is not None and column.is_document and pa.types.is_struct(want):
        return _documents(want)
    if want == pa.string():
        return _text(have, column)
    if widens(have, want):
        return lambda array: array.cast(want)
    return None


def conversion_after(first: Conversion, have: pa.DataType, want: pa.DataType) -> Conversion | None:
    """Return a conversion that another one comes before."""
    then = conversion(have, want)
    return None if then is None else lambda array: then(first(array))


def as_text(have: pa.DataType, column: Column | None = None) -> Conversion | None:
    """Return what makes a column text because someone asked for it: bytes become `0x…`, too."""
    return _hexadecimal if pa.types.is_binary(have) else conversion(have, pa.string(), column)


def struct_conversion(
    have: pa.DataType,
    want: pa.DataType,
    sources: Mapping[str, str],
    convert: Callable[[pa.DataType, pa.Field], Conversion],
) -> Conversion:
    """Return what makes structs of one type structs of another: `sources` has the names of fields. Others are null."""
    steps: list[tuple[int, Conversion] | None] = []
    for field in want:
        index = have.get_field_index(sources.get(field.name, ""))
        steps.append(None if index < 0 else (index, convert(have.field(index).type, field)))

    def convert_structs(array: pa.Array) -> pa.Array:
        children = [
            pa.nulls(len(array), field.type) if step is None else step[1](array.field(step[0]))
            for field, step in zip(want, steps, strict=True)
        ]
        return pa.StructArray.from_arrays(children, fields=list(want), mask=array.is_null())

    return convert_structs


def common_type(types: Iterable[pa.DataType]) -> pa.DataType | None:
    """Return the type that columns of several types can become without loss; None if there is none.

    If one of them has all values of the others it is that one; for numbers it may be a wider one, for others text.
    """
    found = list(dict.fromkeys(types))
    for candidate in [*found, *_wider_numbers(found), pa.string()]:
        if all(conversion(have, candidate) is not None for have in found):
            return candidate
    return None


def _wider_numbers(types: list[pa.DataType]) -> list[pa.DataType]:
    """Return a DECIMAL with as many digits before and after the point as any of these numbers, and DOUBLE."""
    whole = [_INTEGERS.get(kind, 0) for kind in types]
    whole += [kind.precision - kind.scale for kind in types if pa.types.is_decimal(kind)]
    scale = max((kind.scale for kind in types if pa.types.is_decimal(kind)), default=0)
    digits = max(whole) + scale
    decimals = [pa.decimal128(digits, scale)] if 0 < digits <= _MAX_DIGITS else []
    return [*decimals, pa.float64()]


def widens(have: pa.DataType, want: pa.DataType) -> bool:
    """Return whether every value of a type is also one of another, which is not text."""
    if have in _INTEGERS:
        if want in _INTEGERS:
            return _INTEGERS[have] <= _INTEGERS[want]
        if pa.types.is_decimal(want):
            return bool(want.precision - want.scale >= _INTEGERS[have])
        return _INTEGERS[have] <= _EXACT.get(want, 0)
    if pa.types.is_decimal(have) and pa.types.is_decimal(want):
        return bool(want.scale >= have.scale and want.precision - want.scale >= have.precision - have.scale)
    if have == pa.float32():
        return bool(want == pa.float64())
    return bool(have == pa.date32() and want == DATETIME)


def geometry_of(srid: int, want: pa.DataType) -> Conversion:
    """Return what makes a column of geometries with SRIDs one of a single SRID."""

    def convert(array: pa.Array) -> pa.Array:
        valid = array.drop_null()
        others = pc.unique(valid.field("srid")).to_pylist()
        if any(other != srid for other in others):
            raise Malformed(f"a geometry has the SRID {next(o for o in others if o != srid)}, expected {srid}")
        children = [array.field(name).fill_null(empty) for name, empty in (("srid", srid), ("wkb", b""))]
        return pa.StructArray.from_arrays(children, fields=list(want), mask=array.is_null())

    return convert


# --- Text, as the server writes it when it changes a column to VARCHAR ------------------------------------------------


def _text(have: pa.DataType, column: Column | None) -> Conversion | None:
    """Return what makes values text from which they can be read again; None for bytes, documents and geometries."""
    digits = 6 if column is None else column.scale
    if have in _INTEGERS or pa.types.is_floating(have) or have == pa.date32():
        return lambda array: array.cast(pa.string())
    if pa.types.is_decimal(have):
        return _decimals
    if have == DATETIME:
        return lambda array: _moments(array, digits)
    if have == TIMESTAMP:
        return lambda array: pc.binary_join_element_wise(_moments(array.cast(DATETIME), digits), _UTC, "")
    if have == _TIME:
        return lambda array: _by_value(array.cast(pa.int64()), lambda number: Time(number, digits).text())
    if have == pa.list_(pa.string()):
        return lambda array: pc.binary_join(array, ",")
    return None


def _decimals(array: pa.Array) -> pa.Array:
    """Write decimals with all their digits: Arrow would write small ones with an exponent."""
    if array.type == BIGINT_UNSIGNED:
        return array.cast(pa.string())
    return _by_value(array, lambda number: f"{number:f}")


def _moments(array: pa.Array, digits: int) -> pa.Array:
    """Write dates and times with the fractional digits of their column."""
    return pc.utf8_slice_codeunits(array.cast(pa.string()), 0, _SECONDS + (digits + 1 if digits else 0))


def _hexadecimal(array: pa.Array) -> pa.Array:
    return _by_value(array, lambda value: f"0x{value.hex()}")


def _by_value(array: pa.Array, write: Callable[..., str]) -> pa.Array:
    return pa.array([None if value is None else write(value) for value in array.to_pylist()], pa.string())


def _documents(want: pa.DataType) -> Conversion | None:
    """Return what makes documents VARIANT; its kernels are loaded only where they are needed."""
    from binspark.documents.variant import VARIANT, variant_documents

    return variant_documents if want == VARIANT else None


def _same(array: pa.Array) -> pa.Array:
    return array
