"""Laws of every document, and of any bytes."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.errors import BinlogError, Malformed
from binspark.values.json.binary import json_text
from binspark.values.json.diff import apply_json_diffs
from tests.support.values.json_encoding import LARGE, SMALL, encode_diff, encode_document, encode_json

integers = st.integers(-(1 << 63), (1 << 64) - 1)
scalars = st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | st.text()
in_bounded_time = settings(deadline=2000, suppress_health_check=[HealthCheck.too_slow])
"""Milliseconds enough for a busy machine, and too few for a document that grows while it is read."""

documents = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


def outcome(document: bytes, diff_vector: bytes = b"") -> str | type[BinlogError]:
    try:
        return apply_json_diffs(document, diff_vector)
    except BinlogError as error:
        return type(error)


@in_bounded_time
@given(documents, st.sampled_from([SMALL, LARGE]))
def test_a_document_reads_back(document: object, width: int) -> None:
    assert json.loads(json_text(encode_document(document, width))) == document


@in_bounded_time
@given(documents)
def test_both_formats_print_the_same(document: object) -> None:
    assert json_text(encode_document(document, SMALL)) == json_text(encode_document(document, LARGE))


@in_bounded_time
@given(st.binary(max_size=200))
def test_any_bytes_are_a_document_or_refused(document: bytes) -> None:
    assert isinstance(outcome(document), str | type)


@in_bounded_time
@given(documents, st.data())
def test_a_damaged_document_is_read_or_refused_and_never_grows(document: object, data: st.DataObject) -> None:
    damaged = bytearray(encode_json(document))
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    # a byte makes six characters at most (\u0001), and three bytes of entry a separator and a number of 6
    assert len(str(outcome(bytes(damaged)))) <= 40 + 6 * len(damaged)


@in_bounded_time
@given(documents, st.binary(max_size=100))
def test_any_diffs_are_applied_or_refused(document: object, vector: bytes) -> None:
    assert isinstance(outcome(encode_json(document), vector), str | type)


@in_bounded_time
@given(documents, documents, st.sampled_from(["$.a", '$."a b"[0]', "$[0]", "$[last-1].b", "$[1][1]"]))
def test_diffs_of_the_right_form_are_applied_or_refused(document: object, value: object, path: str) -> None:
    vectors = [encode_diff(operation, path, encode_json(value)) for operation in (0, 1)]
    assert all(isinstance(outcome(encode_json(document), vector), str | type) for vector in vectors)


@pytest.mark.parametrize("kind", {*range(256)} - {*range(0x0D), 0x0F})
def test_an_unknown_type_is_refused(kind: int) -> None:
    with pytest.raises(Malformed, match="unknown JSON type 0x"):
        json_text(bytes((kind,)) + bytes(16))
