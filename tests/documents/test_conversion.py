"""Columns of one type as columns of another: wider ones only, and no value changes."""

from __future__ import annotations

import datetime
from decimal import Decimal
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.columns.types import GEOMETRY, TIMESTAMP
from binspark.documents.conversion import conversion, geometry_of, widens
from binspark.documents.variant import VARIANT
from binspark.errors import Malformed

INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
DECIMALS = [
    pa.decimal128(*digits) for digits in ((3, 0), (5, 2), (10, 0), (12, 2), (20, 0), (21, 2), (38, 0), (38, 20))
]
FLOATS = [pa.float32(), pa.float64()]
OTHERS = [
    pa.bool_(),
    pa.date32(),
    pa.timestamp("us"),
    TIMESTAMP,
    pa.duration("us"),
    pa.string(),
    pa.binary(),
    pa.list_(pa.string()),
    pa.list_(pa.float32()),
    GEOMETRY,
    VARIANT,
]
TYPES = [*INTEGERS, *DECIMALS, *FLOATS, *OTHERS]
EPOCH = datetime.date(1970, 1, 1)


def bounds(kind: pa.DataType) -> tuple[Decimal, Decimal, Decimal] | None:
    """Return the smallest and largest of some numbers, and their step; None for what is no exact number."""
    if pa.types.is_integer(kind):
        return Decimal(-(1 << kind.bit_width - 1)), Decimal((1 << kind.bit_width - 1) - 1), Decimal(1)
    if pa.types.is_decimal(kind):
        step = Decimal(1).scaleb(-kind.scale)
        largest = Decimal(10**kind.precision - 1).scaleb(-kind.scale)
        return -largest, largest, step
    return None


def contains(have: pa.DataType, want: pa.DataType) -> bool:
    """Return whether a type has every number of another, by their ranges."""
    narrow, wide = bounds(have), bounds(want)
    if narrow is not None and wide is not None:
        return wide[0] <= narrow[0] and narrow[1] <= wide[1] and narrow[2] % wide[2] == 0
    if pa.types.is_integer(have) and want == pa.float64():
        return bool(have.bit_width <= 53)
    return (have, want) in ((pa.float32(), pa.float64()), (pa.date32(), pa.timestamp("us")))


EXACT = {
    (have, want): contains(have, want)
    for have, want in product(TYPES, TYPES)
    if not (pa.types.is_decimal(have) and pa.types.is_integer(want))
}
"""What may become what. A DECIMAL never becomes an integer, though some would fit: its scale may change."""

WIDER = [pair for pair, fits in EXACT.items() if fits and pair[0] != pair[1]]


@pytest.mark.parametrize("have", TYPES, ids=str)
def test_a_type_becomes_another_only_if_that_has_all_its_values(have: pa.DataType) -> None:
    found = {want for want in TYPES if conversion(have, want) is not None}
    assert found == {want for want in TYPES if EXACT.get((have, want), False) or have == want}
    assert {want for want in TYPES if widens(have, want)} - {have} == found - {have}


def values_of(kind: pa.DataType) -> st.SearchStrategy[object]:
    number = bounds(kind)
    if number is not None and pa.types.is_integer(kind):
        return st.integers(int(number[0]), int(number[1])) | st.sampled_from((int(number[0]), int(number[1])))
    if number is not None:
        digits = 10**kind.precision - 1
        return st.integers(-digits, digits).map(lambda unscaled: Decimal(unscaled).scaleb(-kind.scale))
    if kind == pa.date32():
        return st.dates()
    return st.floats(width=32, allow_nan=False)


@settings(max_examples=15)
@pytest.mark.parametrize(("have", "want"), WIDER, ids=lambda kind: str(kind))
@given(st.data())
def test_what_became_wider_can_become_what_it_was(have: pa.DataType, want: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | values_of(have), max_size=9))
    array = pa.array(values, have)
    convert = conversion(have, want)
    assert convert is not None
    wider = convert(array)
    assert wider.type == want
    assert wider.cast(have).equals(array)
    assert [None if value is None else as_number(value) for value in wider.to_pylist()] == [
        None if value is None else as_number(value) for value in values
    ]


def as_number(value: object) -> object:
    """Return a value so that it is equal to the same value of another type."""
    if isinstance(value, datetime.datetime):
        assert value.time() == datetime.time()
        return (value.date() - EPOCH).days
    if isinstance(value, datetime.date):
        return (value - EPOCH).days
    return value


def test_the_extremes_of_every_integer_fit() -> None:
    for have, want in [pair for pair in WIDER if pair[0] in INTEGERS]:
        low, high, _ = bounds(have) or (Decimal(), Decimal(), Decimal())
        convert = conversion(have, want)
        assert convert is not None
        assert convert(pa.array([int(low), None, int(high)], have)).to_pylist() == [low, None, high]


def test_parts_of_arrays_are_converted_as_they_stand() -> None:
    convert = conversion(pa.int16(), pa.int64())
    assert convert is not None
    part = pa.array([1, None, 3, 4, None], pa.int16()).slice(1, 3)
    assert convert(part).to_pylist() == [None, 3, 4]
    assert convert(part.slice(0, 0)).to_pylist() == []


def test_words_of_a_dictionary_are_written_out() -> None:
    words = pa.array(["b", None, "a", "b"]).dictionary_encode()
    convert = conversion(words.type, pa.string())
    assert convert is not None
    assert convert(words).equals(pa.array(["b", None, "a", "b"]))
    assert conversion(words.type, pa.int32()) is None


def test_numbers_of_a_dictionary_become_wider() -> None:
    numbers = pa.array([7, None, 7], pa.int8()).dictionary_encode()
    convert = conversion(numbers.type, pa.int32())
    assert convert is not None
    assert convert(numbers).equals(pa.array([7, None, 7], pa.int32()))
    assert conversion(numbers.type, pa.string()) is None


def test_only_documents_become_variants() -> None:
    assert conversion(pa.string(), VARIANT) is None
    assert conversion(pa.int64(), VARIANT) is None
    convert = conversion(pa.string(), VARIANT, is_json=True)
    assert convert is not None
    assert convert(pa.array(['{"a": 1}', None])).type == VARIANT
    assert convert(pa.array(['{"a": 1}', None])).is_null().to_pylist() == [False, True]


def test_a_document_stays_text_where_text_is_wanted() -> None:
    array = pa.array(['{"a": 1}'])
    convert = conversion(pa.string(), pa.string(), is_json=True)
    assert convert is not None
    assert convert(array) is array


def geometries(*rows: tuple[int, bytes] | None) -> pa.Array:
    return pa.array([None if row is None else {"srid": row[0], "wkb": row[1]} for row in rows], GEOMETRY)


def test_geometries_of_one_system_become_geometries_of_that_system() -> None:
    want = pa.struct([pa.field("srid", pa.int32(), nullable=False), pa.field("wkb", pa.binary(), nullable=False)])
    found = geometry_of(4326, want)(geometries((4326, b"a"), None, (4326, b"")))
    found.validate(full=True)
    assert found.type == want
    assert found.to_pylist() == [{"srid": 4326, "wkb": b"a"}, None, {"srid": 4326, "wkb": b""}]
    assert geometry_of(4326, want)(geometries(None, None)).to_pylist() == [None, None]
    assert len(geometry_of(4326, want)(geometries())) == 0


def test_a_geometry_of_another_system_is_refused() -> None:
    with pytest.raises(Malformed, match="SRID 0, expected 4326"):
        geometry_of(4326, GEOMETRY)(geometries((4326, b"a"), None, (0, b"b")))
