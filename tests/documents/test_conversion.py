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
from binspark.documents.conversion import as_text, common_type, conversion, geometry_of, widens
from binspark.documents.variant import VARIANT
from binspark.errors import Malformed
from binspark.event.column_types import ColumnType as T
from binspark.values.column import Column

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
    if pa.types.is_integer(have) and pa.types.is_floating(want):
        return bool(have.bit_width <= (53 if want == pa.float64() else 24))
    return (have, want) in ((pa.float32(), pa.float64()), (pa.date32(), pa.timestamp("us")))


EXACT = {
    (have, want): contains(have, want)
    for have, want in product(TYPES, TYPES)
    if not (pa.types.is_decimal(have) and pa.types.is_integer(want))
}
"""What may become what. A DECIMAL never becomes an integer, though some would fit: its scale may change."""

TEXTS = [
    *INTEGERS,
    *DECIMALS,
    *FLOATS,
    pa.date32(),
    pa.timestamp("us"),
    TIMESTAMP,
    pa.duration("us"),
    pa.list_(pa.string()),
]
"""What has a text from which it can be read again. Bytes, geometries and vectors have none."""

WIDER = [pair for pair, fits in EXACT.items() if fits and pair[0] != pair[1]]


@pytest.mark.parametrize("have", TYPES, ids=str)
def test_a_type_becomes_another_only_if_that_has_all_its_values(have: pa.DataType) -> None:
    found = {want for want in TYPES if conversion(have, want) is not None}
    text = {pa.string()} if have in TEXTS else set()
    assert found == {want for want in TYPES if EXACT.get((have, want), False) or have == want} | text
    assert {want for want in TYPES if widens(have, want)} - {have} == found - {have} - text


def values_of(kind: pa.DataType) -> st.SearchStrategy[object]:
    number = bounds(kind)
    if number is not None and pa.types.is_integer(kind):
        return st.integers(int(number[0]), int(number[1])) | st.sampled_from((int(number[0]), int(number[1])))
    if number is not None:
        digits = 10**kind.precision - 1
        return st.integers(-digits, digits).map(lambda unscaled: Decimal(f"{unscaled}e-{kind.scale}"))
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


def as_strings(kind: pa.DataType, values: list[object], column: Column | None = None) -> list[str | None]:
    convert = as_text(kind, column)
    assert convert is not None
    found: list[str | None] = convert(pa.array(values, kind)).to_pylist()
    return found


def test_values_become_the_text_that_a_server_prints() -> None:
    assert as_strings(pa.int64(), [-(2**63), None, 7]) == ["-9223372036854775808", None, "7"]
    assert as_strings(pa.decimal128(20, 0), [Decimal(2**64 - 1)]) == ["18446744073709551615"]
    assert as_strings(pa.decimal128(30, 12), [Decimal("0.000000000001"), Decimal(0)]) == [
        "0.000000000001",
        "0.000000000000",
    ]
    assert as_strings(pa.float64(), [0.1, 1e300]) == ["0.1", "1e+300"]
    assert as_strings(pa.date32(), [datetime.date(2024, 2, 29)]) == ["2024-02-29"]
    assert as_strings(pa.list_(pa.string()), [["a", "b"], [], None]) == ["a,b", "", None]
    assert as_strings(pa.binary(), [b"\x00\xff"]) == ["0x00ff"]


@pytest.mark.parametrize(("digits", "fraction"), [(0, ""), (3, ".123"), (6, ".123456")])
def test_times_have_the_fractional_digits_of_their_column(digits: int, fraction: str) -> None:
    moment = datetime.datetime(2024, 2, 29, 13, 5, 9, 123456)
    span = datetime.timedelta(hours=-838, microseconds=-123456)
    assert as_strings(pa.timestamp("us"), [moment], Column(T.DATETIME2, scale=digits)) == [
        f"2024-02-29 13:05:09{fraction}"
    ]
    zoned = as_strings(TIMESTAMP, [moment.replace(tzinfo=datetime.UTC)], Column(T.TIMESTAMP2, scale=digits))
    assert zoned == [f"2024-02-29 13:05:09{fraction}+00:00"]
    assert as_strings(pa.duration("us"), [span], Column(T.TIME2, scale=digits)) == [f"-838:00:00{fraction}"]


@settings(max_examples=15)
@pytest.mark.parametrize("kind", [*INTEGERS, *DECIMALS, *FLOATS], ids=str)
@given(st.data())
def test_text_of_a_number_is_read_back_as_the_same_number(kind: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(values_of(kind), max_size=9))
    texts = as_strings(kind, values)
    assert pa.array(texts, pa.string()).cast(kind).equals(pa.array(values, kind))


@pytest.mark.parametrize(
    ("types", "common"),
    [
        ([pa.int32(), pa.int64(), pa.int8()], pa.int64()),
        ([pa.int64(), pa.decimal128(5, 2)], pa.decimal128(21, 2)),
        ([pa.decimal128(5, 4), pa.decimal128(8, 1)], pa.decimal128(11, 4)),
        ([pa.int32(), pa.float32()], pa.float64()),
        ([pa.int64(), pa.float64()], pa.string()),
        ([pa.int32(), pa.string()], pa.string()),
        ([pa.date32(), pa.timestamp("us")], pa.timestamp("us")),
        ([pa.date32(), pa.int32()], pa.string()),
        ([pa.binary(), pa.string()], None),
        ([GEOMETRY, pa.int32()], None),
    ],
    ids=str,
)
def test_a_common_type_has_all_values_of_several_types(types: list[pa.DataType], common: pa.DataType | None) -> None:
    assert common_type(types) == common
    assert common_type(types[::-1]) == common


def test_numbers_of_a_dictionary_become_wider() -> None:
    numbers = pa.array([7, None, 7], pa.int8()).dictionary_encode()
    convert = conversion(numbers.type, pa.int32())
    assert convert is not None
    assert convert(numbers).equals(pa.array([7, None, 7], pa.int32()))
    assert conversion(numbers.type, pa.date32()) is None


def test_only_documents_become_variants() -> None:
    assert conversion(pa.string(), VARIANT) is None
    assert conversion(pa.int64(), VARIANT) is None
    convert = conversion(pa.string(), VARIANT, Column(T.JSON, length=4))
    assert convert is not None
    assert convert(pa.array(['{"a": 1}', None])).type == VARIANT
    assert convert(pa.array(['{"a": 1}', None])).is_null().to_pylist() == [False, True]


def test_a_document_stays_text_where_text_is_wanted() -> None:
    array = pa.array(['{"a": 1}'])
    convert = conversion(pa.string(), pa.string(), Column(T.JSON, length=4))
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
