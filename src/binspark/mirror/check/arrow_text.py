"""The canonical texts of Arrow arrays, in bulk. Each is UTF-8 or bytes in an array of large binary; NULL is null."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from binspark.values.column import Column

Texts = Callable[[pa.Array], pa.Array]

_SECOND = 1_000_000
_MIN_POINT, _MAX_POINT = -14, 15


def strings(array: pa.Array, _column: Column) -> pa.Array:
    """Return text and bytes as they are."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array.cast(pa.large_binary())


def numbers(array: pa.Array, column: Column) -> pa.Array:
    """Return integers and decimals with all digits of their scale; a decimal of more than 38 digits is text already."""
    if pa.types.is_integer(array.type):
        return array.cast(pa.large_string()).cast(pa.large_binary())
    if not pa.types.is_decimal(array.type):
        return strings(array, column)
    return _decimals(array).cast(pa.large_binary())


def _decimals(array: pa.Array) -> pa.Array:
    """Arrow prints small decimals with an exponent, but not integers: print these, and insert the point."""
    scale = array.type.scale
    unscaled = pa.Array.from_buffers(
        pa.decimal128(array.type.precision, 0), len(array), array.buffers(), offset=array.offset
    )
    digits = unscaled.cast(pa.large_string())
    if not scale:
        return digits
    is_negative = pc.starts_with(digits, "-")
    digits = pc.utf8_lpad(pc.utf8_ltrim(digits, characters="-"), width=scale + 1, padding="0")
    integer, fraction = pc.utf8_slice_codeunits(digits, 0, -scale), pc.utf8_slice_codeunits(digits, -scale)
    sign = pc.if_else(is_negative, pa.scalar("-", pa.large_string()), pa.scalar("", pa.large_string()))
    point = pa.scalar(".", pa.large_string())
    nothing = pa.scalar("", pa.large_string())
    return pc.binary_join_element_wise(sign, integer, point, fraction, nothing)


def reals(array: pa.Array, _column: Column) -> pa.Array:
    """Return the shortest digits of doubles, as servers print them; those of a float are the digits of the same double.

    Arrow prints numbers of ordinary size as servers do; the others with an exponent, which servers write differently.
    """
    doubles = array.cast(pa.float64())
    texts = doubles.cast(pa.large_string())
    others = pc.fill_null(pc.match_substring(texts, "e"), fill_value=False)
    if pc.any(others).as_py():
        written = [real_text(value) for value in doubles.filter(others).to_pylist()]
        texts = pc.replace_with_mask(texts, others, pa.array(written, pa.large_string()))
    return texts.cast(pa.large_binary())


def real_text(value: float) -> str:
    """Return a double as servers print it: with an exponent if its point is far from its digits.

    A number with a fraction has none however large it is: zeros between the digits and the point are what it saves.
    """
    if not math.isfinite(value):
        return str(value)
    sign, digit_tuple, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    digits = "".join(map(str, digit_tuple))
    minus = "-" if sign else ""
    point = len(digits) + exponent
    if digits == "0":
        return f"{minus}0"
    if point >= _MIN_POINT and (point <= _MAX_POINT or len(digits) > point):
        if point <= 0:
            return f"{minus}0.{'0' * -point}{digits}"
        padded = digits.ljust(point, "0")
        return f"{minus}{padded[:point]}.{padded[point:]}".rstrip(".")
    fraction = f".{digits[1:]}" if digits[1:] else ""
    return f"{minus}{digits[0]}{fraction}e{point - 1}"


def dates(array: pa.Array, column: Column) -> pa.Array:
    """Return dates as `YYYY-MM-DD`."""
    return (
        array.cast(pa.large_string()).cast(pa.large_binary())
        if pa.types.is_date(array.type)
        else strings(array, column)
    )


def timestamps(array: pa.Array, column: Column) -> pa.Array:
    """Return times with six digits, in UTC if they have a zone."""
    if not pa.types.is_timestamp(array.type):
        return strings(array, column)
    naive = array.cast(pa.timestamp("us", array.type.tz)).view(pa.int64()).view(pa.timestamp("us"))
    return naive.cast(pa.large_string()).cast(pa.large_binary())


def times(array: pa.Array, column: Column) -> pa.Array:
    """Return TIME with the digits of its column: from text, microseconds or durations."""
    if not (pa.types.is_duration(array.type) or pa.types.is_integer(array.type)):
        return strings(array, column)
    valid = array.is_valid()
    counts = pc.fill_null(array.cast(pa.duration("us")) if pa.types.is_duration(array.type) else array, 0)
    seconds, fractions = np.divmod(np.abs(counts.view(pa.int64()).to_numpy()), _SECOND)
    negative = counts.view(pa.int64()).to_numpy() < 0
    digits = column.scale
    texts = [
        f"{'-' if minus else ''}{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
        + (f".{fraction:06d}"[: digits + 1] if digits else "")
        for second, fraction, minus in zip(seconds.tolist(), fractions.tolist(), negative.tolist(), strict=True)
    ]
    return pc.if_else(valid, pa.array(texts, pa.large_string()), None).cast(pa.large_binary())


def members(array: pa.Array, column: Column) -> pa.Array:
    """Return the members of a SET as servers write them, with commas."""
    if not pa.types.is_list(array.type) and not pa.types.is_large_list(array.type):
        return numbers(array, column)
    texts = array.cast(pa.large_list(pa.large_string()))
    return pc.binary_join(texts, pa.scalar(",", pa.large_string())).cast(pa.large_binary())


def member_counts(array: pa.Array, column: Column) -> pa.Array:
    """Return how many members of a SET there are."""
    if not pa.types.is_list(array.type) and not pa.types.is_large_list(array.type):
        return numbers(array, column)
    return numbers(pc.list_value_length(array), column)


def geometries(array: pa.Array, _column: Column) -> pa.Array:
    """Return geometries as servers store them: the id of the spatial reference system, then WKB."""
    srids = pc.fill_null(pc.struct_field(array, "srid"), 0).cast(pa.int32())
    written = np.ascontiguousarray(srids.to_numpy(zero_copy_only=False), dtype="<i4")
    prefix = pa.Array.from_buffers(pa.binary(4), len(array), [None, pa.py_buffer(written)])
    wkb = pc.struct_field(array, "wkb").cast(pa.large_binary())
    return pc.binary_join_element_wise(prefix.cast(pa.large_binary()), wkb, pa.scalar(b"", pa.large_binary()))


def vectors(array: pa.Array, _column: Column) -> pa.Array:
    """Return vectors as servers store them: floats of four bytes."""
    elements = array.cast(pa.large_list(pa.float32()))
    lengths = pc.fill_null(pc.list_value_length(elements), 0).to_numpy(zero_copy_only=False)
    offsets = np.concatenate(([0], np.cumsum(lengths * 4))).astype("<i8")
    values = np.ascontiguousarray(elements.flatten().to_numpy(zero_copy_only=False), dtype="<f4")
    joined = pa.Array.from_buffers(pa.large_binary(), len(array), [None, pa.py_buffer(offsets), pa.py_buffer(values)])
    return pc.if_else(array.is_valid(), joined, pa.scalar(None, pa.large_binary()))
