"""Key bytes are in the order of keys, and different for different keys."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.columns.types import GEOMETRY
from binspark.errors import SchemaError
from binspark.mirror.records.keys import MAX_ROW_KEY_BYTES, key_bytes, row_keys
from tests.support.examples import examples
from tests.support.mirror.leaf_tables import mirrored, rows_of

MOMENTS = st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(9999, 12, 31))
# The surrogates of UTF-16 sort otherwise in Python's strings than in UTF-8, and are no characters.
TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
BYTES = st.binary(max_size=6) | st.lists(st.sampled_from([0, 1, 255]), max_size=4).map(bytes)
TYPES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int8(): st.integers(-(2**7), 2**7 - 1),
    pa.int16(): st.integers(-(2**15), 2**15 - 1),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.decimal128(20, 0): st.integers(0, 2**64 - 1).map(Decimal),
    pa.decimal128(38, 10): st.decimals(-(10**27), 10**27, places=10, allow_nan=False),
    pa.decimal128(5, 2): st.decimals(-999, 999, places=2, allow_nan=False),
    pa.float32(): st.floats(width=32, allow_nan=False).filter(bool),
    pa.float64(): st.floats(allow_nan=False).filter(bool),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(dt.date(1000, 1, 1)),
    pa.timestamp("us"): MOMENTS,
    pa.timestamp("us", tz="UTC"): MOMENTS.map(lambda moment: moment.replace(tzinfo=dt.UTC)),
    pa.duration("us"): st.timedeltas(dt.timedelta(days=-40), dt.timedelta(days=40)),
    pa.string(): TEXT,
    pa.binary(): BYTES,
    pa.list_(pa.string()): st.lists(TEXT, max_size=3),
    pa.list_(pa.float32()): st.lists(st.floats(width=32, allow_nan=False).filter(bool), max_size=3),
}
NULLABLE = {
    **TYPES,
    GEOMETRY: st.fixed_dictionaries({"srid": st.integers(0, 9), "wkb": BYTES}),
    pa.list_(pa.string()): st.lists(st.none() | TEXT, max_size=3),
    pa.null(): st.none(),
}


def comparable(value: Any) -> Any:
    """Return a value that Python compares as MySQL does: text by its bytes, NULL before all others."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict):
        return tuple(nullable(value[name]) for name in sorted(value))
    return [nullable(item) for item in value] if isinstance(value, list) else value


def nullable(value: Any) -> Any:
    return (0,) if value is None else (1, comparable(value))


@st.composite
def keys(draw: st.DrawFn) -> tuple[list[pa.DataType], list[tuple[Any, ...]]]:
    types = draw(st.lists(st.sampled_from(list(TYPES)), min_size=1, max_size=3))
    return types, draw(st.lists(st.tuples(*(TYPES[kind] for kind in types)), min_size=1, max_size=30))


@st.composite
def nullable_rows(draw: st.DrawFn) -> tuple[list[pa.DataType], list[tuple[Any, ...]]]:
    types = draw(st.lists(st.sampled_from(list(NULLABLE)), min_size=1, max_size=3))
    return types, draw(st.lists(st.tuples(*(st.none() | NULLABLE[kind] for kind in types)), min_size=1, max_size=30))


def encoded(types: list[pa.DataType], rows: list[tuple[Any, ...]], **options: bool) -> list[bytes]:
    arrays = [pa.array([row[index] for row in rows], kind) for index, kind in enumerate(types)]
    found: list[bytes] = key_bytes(arrays, **options).to_pylist()
    # A slice has another offset in its buffers.
    assert key_bytes([array.slice(1) for array in arrays], **options).to_pylist() == found[1:]
    return found


@settings(max_examples=examples(200), deadline=None)
@given(keys())
def test_keys_are_in_the_order_of_their_values(drawn: tuple[list[pa.DataType], list[tuple[Any, ...]]]) -> None:
    types, rows = drawn
    values = [tuple(comparable(value) for value in row) for row in rows]
    found = encoded(types, rows)
    assert [value for _, value in sorted(zip(found, values, strict=True), key=lambda pair: pair[0])] == sorted(values)
    assert len(set(found)) == len({repr(value) for value in values})


@settings(max_examples=examples(200), deadline=None)
@given(nullable_rows())
def test_rows_with_nulls_are_in_the_order_of_their_values(drawn: tuple[list[pa.DataType], list[Any]]) -> None:
    types, rows = drawn
    values = [tuple(nullable(value) for value in row) for row in rows]
    found = encoded(types, rows, nullable=True)
    assert [value for _, value in sorted(zip(found, values, strict=True), key=lambda pair: pair[0])] == sorted(values)
    assert len(set(found)) == len({repr(value) for value in values})


def test_zeros_of_both_signs_are_two_keys() -> None:
    assert sorted(key_bytes([pa.array([0.0, -0.0])]).to_pylist()) == key_bytes([pa.array([-0.0, 0.0])]).to_pylist()
    assert len(set(key_bytes([pa.array([0.0, -0.0])]).to_pylist())) == 2


@pytest.mark.parametrize(
    ("narrow", "wide", "values"),
    [
        (pa.int8(), pa.int64(), [-5, 7]),
        (pa.float32(), pa.float64(), [-1.5, 0.1]),
        (pa.decimal128(5, 2), pa.decimal128(38, 2), [Decimal("-1.25"), Decimal("9.99")]),
        (pa.string(), pa.binary(), ["é", ""]),
    ],
)
def test_the_key_of_a_widened_column_is_the_same(narrow: pa.DataType, wide: pa.DataType, values: list[Any]) -> None:
    column = pa.array(values, narrow)
    assert key_bytes([column]) == key_bytes([column.cast(wide)])


def test_a_key_of_a_mirrored_table_with_null_is_an_error_that_says_what_to_do() -> None:
    table = mirrored({"day": pa.date32(), "id": pa.int64()}, ["day", "id"])
    with pytest.raises(SchemaError, match=r"shop\.orders: column day of the key is NULL .* --zero-dates string"):
        row_keys(table, rows_of(table, [{"day": None, "id": 1}]))


def test_long_rows_without_a_key_have_short_keys_that_differ() -> None:
    table = mirrored({"id": pa.int64(), "text": pa.string()})
    begin = "x" * (2 * MAX_ROW_KEY_BYTES)
    rows = [{"id": 1, "text": begin + end} for end in ("a", "b")] + [{"id": 1, "text": "y"}, {"id": 2, "text": None}]
    found = row_keys(table, rows_of(table, rows)).to_pylist()
    assert len(set(found)) == 4
    assert max(map(len, found)) <= MAX_ROW_KEY_BYTES + 32
    assert max(found[:3]) < found[3]
