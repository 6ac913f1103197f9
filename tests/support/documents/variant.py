"""VARIANT read back by PySpark, for comparison."""

from __future__ import annotations

import json
import struct
from decimal import Context, Decimal, localcontext
from math import isnan
from typing import Any

import pyarrow as pa
from pyspark.sql.types import VariantVal

from binspark.documents.variant import VARIANT

_EXACT = Context(prec=100)


def variant_values(array: pa.StructArray) -> list[VariantVal | None]:
    """Return the values of an array, which must be right in itself."""
    assert array.type.equals(VARIANT, check_metadata=True)
    array.validate(full=True)
    assert array.field(0).null_count == array.field(1).null_count == 0
    assert array.null_count == array.is_null().to_numpy(zero_copy_only=False).sum()
    return [None if item is None else VariantVal(item["value"], item["metadata"]) for item in array.to_pylist()]


def variant_objects(array: pa.StructArray) -> list[Any]:
    """Return the values of an array as Python objects that can be compared."""
    with localcontext(_EXACT):
        return [None if value is None else comparable(value.toPython()) for value in variant_values(array)]


def document_of(text: str) -> Any:
    """Return what a document is for Spark, by Python's own parser."""
    return json.loads(text, parse_float=_fraction, parse_int=_integer, parse_constant=int)


def _integer(digits: str) -> int | float | Decimal:
    return int(digits) if -(1 << 63) <= int(digits) < 1 << 63 else _fraction(digits)


def _fraction(digits: str) -> float | Decimal:
    """Return a number that is no integer: a decimal if it is written like one and has 38 digits at most."""
    number = Decimal(digits)
    _, significant, exponent = number.as_tuple()
    is_exact = "e" not in digits.lower() and len(significant) <= 38 and -int(exponent) <= 38
    return (number or abs(number)) if is_exact else float(digits)


def comparable(value: Any) -> Any:
    """Return a value with its type, where Python takes values of different types for the same."""
    if isinstance(value, dict):
        return {key: comparable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [comparable(inner) for inner in value]
    if isinstance(value, float):
        return "float", b"NaN" if isnan(value) else struct.pack("<d", value)
    if isinstance(value, Decimal):
        return "decimal", value
    return type(value).__name__, value
