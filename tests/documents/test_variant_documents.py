"""JSON documents as VARIANT: PySpark reads out of them what Python's own parser reads out of the text."""

from __future__ import annotations

import json
import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import VariantType

from binspark.documents.variant import VARIANT, variant_documents
from binspark.errors import Malformed
from binspark.kernels.objects.layout import MAX_DEPTH
from tests.support.documents.variant import comparable, document_of, variant_objects, variant_values

patiently = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

characters = st.characters(codec="utf-8")
strings = st.text(characters) | st.text(st.sampled_from('ab"\\/\n\x01\x1f\x7f é€😀'), max_size=80)
integers = st.integers(-(10**39), 10**39) | st.integers(-(1 << 64), 1 << 64) | st.integers(-300, 70_000)
floats = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | integers | floats | strings
documents = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(strings, inner))
separators = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t: \r")])


def as_variant(text: str | None) -> Any:
    return variant_objects(variant_documents(pa.array([text], pa.string())))[0]


def expected(text: str) -> Any:
    return comparable(document_of(text))


def test_the_type_is_the_one_that_spark_takes() -> None:
    assert VARIANT.equals(to_arrow_type(VariantType()), check_metadata=True)


@patiently
@given(documents, st.booleans(), separators)
def test_a_document_is_what_python_reads(document: Any, ensure_ascii: bool, marks: tuple[str, str]) -> None:
    text = json.dumps(document, ensure_ascii=ensure_ascii, separators=marks)
    assert as_variant(text) == expected(text)


@patiently
@given(st.lists(st.none() | documents.map(json.dumps), max_size=30), st.integers(0, 5))
def test_every_document_of_an_array_has_its_own_dictionary(texts: list[str | None], first: int) -> None:
    found = variant_objects(variant_documents(pa.array(texts, pa.string()).slice(first)))
    assert found == [None if text is None else expected(text) for text in texts[first:]]


numbers = st.from_regex(r"-?(0|[1-9][0-9]{0,45})(\.[0-9]{1,45})?([eE][-+]?[0-9]{1,3})?", fullmatch=True)


@patiently
@given(st.lists(numbers | floats.map(repr), min_size=1, max_size=20))
def test_every_number_is_exact_or_rounded_right(found: list[str]) -> None:
    text = f"[{','.join(found)}]"
    assert as_variant(text) == expected(text)


def random_decimals() -> list[str]:
    chance = random.Random(7)
    return [f"{chance.getrandbits(chance.randint(1, 60))}e{chance.randint(-345, 310)}" for _ in range(20_000)]


def random_doubles() -> list[str]:
    chance = random.Random(8)
    doubles = [chance.uniform(-1, 1) * 10 ** chance.uniform(-300, 300) for _ in range(20_000)]
    return [f"{double:.17e}" for double in doubles] + [f"{double!r}" for double in doubles]


def between_doubles() -> list[str]:
    """Numbers in the middle of two doubles, and next to it."""
    middles = [(1 << 53) + 2 * index + 1 for index in range(1000)]
    return [f"{middle + step}e{power}" for middle in middles for step in (0, 0.5, -0.5) for power in (0, 3)]


@pytest.mark.parametrize("kind", [random_decimals, random_doubles, between_doubles])
def test_many_doubles_are_rounded_right(kind: Any) -> None:
    text = f"[{','.join(kind())}]"
    assert as_variant(text) == expected(text)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("127", 3),
        ("-128", 3),
        ("128", 4),
        ("-32768", 4),
        ("32768", 5),
        ("-2147483648", 5),
        ("2147483648", 6),
        ("9223372036854775807", 6),
        ("-9223372036854775808", 6),
        ("9223372036854775808", 10),
        ("0.5", 8),
        ("999999999.0", 9),
        ("99999999.9", 8),
        ("0.0000000001", 9),
        ("0.0000000000000000001", 10),
        ("1e0", 7),
    ],
)
def test_a_number_takes_the_smallest_type_that_fits(text: str, header: int) -> None:
    [value] = variant_values(variant_documents(pa.array([text])))
    assert value is not None
    assert value.value[0] >> 2 == header


def test_fields_stand_in_the_order_of_the_bytes_of_their_names() -> None:
    names = ["b", "", "a\0", "a", "ab", "é", "\uffff", "😀", "abcdefgh", "abcdefghi", "abcdefgg", "Z", '"']
    assert list(as_variant(json.dumps(dict.fromkeys(names, 1)))) == sorted(names, key=str.encode)


@pytest.mark.parametrize("count", [2, 255, 256, 257, 70_000])
def test_objects_and_arrays_may_have_many_members(count: int) -> None:
    chance = random.Random(count)
    members = {f"key {chance.getrandbits(64)}": index for index in range(count)}
    text = json.dumps([members, list(range(count))])
    found = as_variant(text)
    assert found == expected(text)
    assert list(found[0]) == sorted(members)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 63, 64, 255, 65_535, 65_536, 20_000_000])
def test_strings_and_what_is_around_them_may_have_any_length(length: int) -> None:
    text = json.dumps({"x" * min(length, 100_000): ["y" * length, 1]})
    assert as_variant(text) == expected(text)


def test_the_last_of_members_with_the_same_key_counts() -> None:
    text = r'{"a": 1, "b": {"x": 0}, "\u0061": [2], "b": 3, "a": "4", "c": 5}'
    assert as_variant(text) == expected(text)


def test_keys_with_escapes_are_the_same_as_those_without() -> None:
    [value] = variant_values(variant_documents(pa.array([r'[{"\u00e9": 1}, {"é": 2}, {"\/": 3}]'])))
    assert value is not None
    assert value.metadata == b"\x01\x02\x00\x02\x03" + "é/".encode()


def nested(depth: int) -> str:
    return '{"a":[' * (depth // 2) + "]}" * (depth // 2)


def test_documents_may_be_as_deep_as_a_thousand_levels() -> None:
    [value] = variant_values(variant_documents(pa.array([nested(MAX_DEPTH)])))
    assert value is not None
    assert value.metadata == b"\x01\x01\x00\x01a"
    assert as_variant(nested(200)) == expected(nested(200))
    with pytest.raises(Malformed, match=r"at byte 3000\b"):
        as_variant(nested(MAX_DEPTH + 2))


WRONG = [
    *("", " ", "{", "[", "}", "]", "[}", "{]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1] x", "1 1", "\ufeff1", "'a'"),
    *(
        "{1:2}",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        '{"a" 1}',
        '{"a":1 "b":2}',
        "{a:1}",
        '{"\\',
        '{"a\x01":1}',
        '{"\\ud800":1}',
    ),
    *("nul", "nulll", "tru", "fals", "falsx", "NaN", "Infinity"),
    *("+1", "-", "01", "-01", "1.", ".5", "1.e5", "1e", "1e+", "1.5.5", "0x1", "1-"),
    *('"', '"abc', '"\n"', '"\x00"', '"\\', '"\\x"', '"\\u12"', '"\\u12g4"', '"\\ud800\\u'),
    *('"\\ud800"', '"\\udc00"', '"\\ud800x"', '"\\ud800\\n"', '"\\ud800\\ud800"'),
]


@pytest.mark.parametrize("text", WRONG, ids=ascii)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(Malformed, match="invalid JSON document in row 1 of a batch, at byte"):
        variant_documents(pa.array(["{}", text]))


@patiently
@given(documents.map(json.dumps), st.data())
def test_a_damaged_document_is_read_as_by_python_or_refused(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    damaged = text[:at] + data.draw(st.text(st.sampled_from('{}[],:"\\u0123e+-. tfn'), max_size=3)) + text[at + 1 :]
    assert outcome(as_variant, damaged) == outcome(strictly_expected, damaged)


def strictly_expected(text: str) -> Any:
    """Python reads halves of pairs, too."""
    found = document_of(text)
    json.dumps(found, default=str, ensure_ascii=False).encode()
    return comparable(found)


def outcome(read: Any, text: str) -> Any:
    try:
        return read(text)
    except (Malformed, ValueError):
        return "refused"


def test_an_empty_array_stays_empty() -> None:
    assert variant_objects(variant_documents(pa.array([], pa.string()))) == []
