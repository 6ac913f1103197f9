"""Columns of one schema version of a table as columns of another: what was narrower becomes wider, without loss."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from binspark.errors import Malformed

_INTEGERS = {pa.int8(): 3, pa.int16(): 5, pa.int32(): 10, pa.int64(): 19}
"""The integer types, narrowest first, and the maximum digits of each."""

_EXACT_IN_DOUBLE = 10  # digits of the widest integer type all of whose values a double has

Conversion = Callable[[pa.Array], pa.Array]


def conversion(have: pa.DataType, want: pa.DataType, *, is_json: bool = False) -> Conversion | None:
    """Return what makes a column of one type a column of another, without loss; None if nothing does."""
    if pa.types.is_dictionary(have):
        return conversion_after(lambda array: array.dictionary_decode(), have.value_type, want)
    if have == want:
        return _same
    if is_json and pa.types.is_struct(want):
        return _documents(want)
    if widens(have, want):
        return lambda array: array.cast(want)
    return None


def conversion_after(first: Conversion, have: pa.DataType, want: pa.DataType) -> Conversion | None:
    """Return a conversion that another one comes before."""
    then = conversion(have, want)
    return None if then is None else lambda array: then(first(array))


def widens(have: pa.DataType, want: pa.DataType) -> bool:
    """Return whether every value of a type is also one of another."""
    if have in _INTEGERS:
        if want in _INTEGERS:
            return _INTEGERS[have] <= _INTEGERS[want]
        if pa.types.is_decimal(want):
            return bool(want.precision - want.scale >= _INTEGERS[have])
        return bool(want == pa.float64() and _INTEGERS[have] <= _EXACT_IN_DOUBLE)
    if pa.types.is_decimal(have) and pa.types.is_decimal(want):
        return bool(want.scale >= have.scale and want.precision - want.scale >= have.precision - have.scale)
    if have == pa.float32():
        return bool(want == pa.float64())
    return bool(have == pa.date32() and want == pa.timestamp("us"))


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


def _documents(want: pa.DataType) -> Conversion | None:
    """Return what makes documents VARIANT; its kernels are loaded only where they are needed."""
    from binspark.documents.variant import VARIANT, variant_documents

    return variant_documents if want == VARIANT else None


def _same(array: pa.Array) -> pa.Array:
    return array
