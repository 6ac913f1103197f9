"""The kernel prints JSON documents as the reference does, and refuses what the reference refuses."""

from __future__ import annotations

import random
import struct
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.event.column_types import ColumnType
from binspark.kernels.json.strings import ROOM
from binspark.values.json.document import MAX_DEPTH
from tests.support.kernels.json_kernel import kernel_outcome, reference_outcome, room_for
from tests.support.values.json_encoding import (
    LARGE,
    SMALL,
    Opaque,
    decimal_data,
    encode_document,
    encode_json,
    encode_opaque,
)

patiently = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

TEMPORALS = (ColumnType.DATE, ColumnType.TIME, ColumnType.DATETIME, ColumnType.TIMESTAMP)


def packed_moment(hours: int, minute: int, second: int, microsecond: int, sign: int) -> bytes:
    return struct.pack("<q", sign * (hours << 36 | minute << 30 | second << 24 | microsecond))


moments = st.builds(
    packed_moment,
    st.integers(0, 850) | st.integers(0, (10_001 * 13 << 10) - 1),
    st.integers(0, 61),
    st.integers(0, 61),
    st.integers(0, 1_000_001),
    st.sampled_from([1, 1, 1, -1]),
)
decimals = st.from_regex(r"-?[0-9]{1,60}(\.[0-9]{1,21})?", fullmatch=True).map(decimal_data)
opaques = (
    st.builds(Opaque, st.sampled_from(TEMPORALS), moments | st.binary(max_size=9))
    | st.builds(Opaque, st.just(ColumnType.NEWDECIMAL), decimals | st.binary(max_size=12))
    | st.builds(Opaque, st.just(ColumnType.VAR_STRING), st.text().map(str.encode) | st.binary(max_size=12))
    | st.builds(Opaque, st.integers(0, 255), st.binary(max_size=200))
)
integers = st.integers(-(1 << 63), (1 << 64) - 1) | st.integers(-70_000, 70_000)
texts = st.text() | st.text(st.sampled_from('ab"\\\n\x01\x1f\x7f é€😀'), max_size=40)
scalars = st.none() | st.booleans() | integers | st.floats() | texts | opaques
documents = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner))
encoded = st.builds(encode_document, documents, st.sampled_from([SMALL, LARGE]))


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """Documents with a few bytes changed, and perhaps without their end."""
    document = bytearray(draw(encoded))
    for _ in range(draw(st.integers(0, 4))):
        document[draw(st.integers(0, len(document) - 1))] = draw(st.sampled_from(range(16)) | st.integers(0, 255))
    return bytes(document[: draw(st.integers(0, len(document)))]) if draw(st.booleans()) else bytes(document)


@patiently
@given(encoded)
def test_every_document_is_printed_as_the_reference_prints_it(document: bytes) -> None:
    assert kernel_outcome(document) == reference_outcome(document)


@patiently
@given(damaged())
def test_a_damaged_document_is_printed_or_refused_as_by_the_reference(document: bytes) -> None:
    assert kernel_outcome(document) == reference_outcome(document)


@patiently
@given(st.binary(max_size=100))
def test_any_bytes_are_printed_or_refused_as_by_the_reference(document: bytes) -> None:
    assert kernel_outcome(document) == reference_outcome(document)


@patiently
@given(st.integers(0, 15), st.binary(max_size=40))
def test_any_bytes_after_a_known_type_are_printed_or_refused_as_by_the_reference(kind: int, rest: bytes) -> None:
    document = bytes((kind,)) + rest
    assert kernel_outcome(document) == reference_outcome(document)


@patiently
@given(damaged(), st.binary(min_size=16, max_size=16))
def test_bytes_after_a_document_do_not_matter(document: bytes, after: bytes) -> None:
    assert kernel_outcome(document, after=after) == kernel_outcome(document)


@patiently
@given(damaged(), st.integers(0, 400))
def test_with_less_room_the_answer_is_the_same_or_that_there_is_no_room(document: bytes, capacity: int) -> None:
    assert kernel_outcome(document, capacity) in (kernel_outcome(document), "no room")


@patiently
@given(encoded.filter(lambda document: reference_outcome(document) != "refused"))
def test_room_for_the_text_and_a_constant_suffices(document: bytes) -> None:
    text = reference_outcome(document)
    assert kernel_outcome(document, len(text) + ROOM) == text
    assert len(text) + ROOM <= room_for(document)


@pytest.mark.parametrize("capacity", [0, 1, ROOM - 1])
def test_there_is_no_room_for_anything_in_less_than_the_constant(capacity: int) -> None:
    assert kernel_outcome(encode_json(None), capacity) == "no room"


def test_a_document_of_no_bytes_is_null() -> None:
    assert kernel_outcome(b"") == b"null"


@pytest.mark.parametrize("length", range(1, 20))
@pytest.mark.parametrize("special", ['"', "\\", "\n", "\x00", "\x1f", "é", "😀"])
def test_what_is_special_is_seen_at_every_position_of_a_text(special: str, length: int) -> None:
    document = encode_json(["x" * before + special + "y" * (length - before - 1) for before in range(length)])
    assert kernel_outcome(document) == reference_outcome(document)


@pytest.mark.parametrize("wrong", [b"\x80", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe2\x82"])
@pytest.mark.parametrize("before", [0, 1, 7, 8, 9, 16])
def test_text_that_is_not_utf8_is_refused(wrong: bytes, before: int) -> None:
    raw = b"x" * before + wrong
    assert kernel_outcome(bytes((0x0C, len(raw))) + raw) == "refused"


@pytest.mark.parametrize(("levels", "outcome"), [(MAX_DEPTH, b"[" * 100 + b"]" * 100), (MAX_DEPTH + 1, "refused")])
def test_a_document_has_at_most_a_hundred_levels(levels: int, outcome: bytes | str) -> None:
    document: list[Any] = []
    for _ in range(levels - 1):
        document = [document]
    assert kernel_outcome(encode_json(document)) == outcome


def test_values_on_top_of_each_other_are_refused() -> None:
    twice = bytearray(encode_document(["a text of some length", "a text of some length"], SMALL))
    twice[9:11] = twice[6:8]
    assert (
        kernel_outcome(bytes(twice))
        == reference_outcome(bytes(twice))
        == b'["a text of some length", "a text of some length"]'
    )
    often = bytearray(encode_document(["a text of some length"] + [""] * 30, SMALL))
    for entry in range(8, 8 + 30 * 3, 3):
        often[entry : entry + 3] = often[5:8]
    assert kernel_outcome(bytes(often)) == reference_outcome(bytes(often)) == "refused"


@pytest.mark.parametrize("size", [0, 1, 2, 3, 56, 57, 58, 113, 114, 115, 1000])
def test_bytes_are_printed_in_base64_with_lines(size: int) -> None:
    document = encode_opaque(ColumnType.BLOB, random.Random(size).randbytes(size))
    assert kernel_outcome(document) == reference_outcome(document)


@pytest.mark.parametrize("type_code", range(256))
def test_every_opaque_type_is_printed_or_refused_as_by_the_reference(type_code: int) -> None:
    document = encode_opaque(type_code, bytes(8))
    assert kernel_outcome(document) == reference_outcome(document)


@pytest.mark.parametrize("precision", range(83))
def test_decimals_of_every_precision_and_scale(precision: int) -> None:
    for scale in range(precision + 2):
        for first in (0x00, 0x7F, 0x80, 0xFF):
            for length in range(precision * 4 // 9, precision * 4 // 9 + 4):
                data = bytes((precision, scale)) + bytes((first,) * min(length, 1)) + bytes((first & 1,)) * (length - 1)
                document = encode_opaque(ColumnType.NEWDECIMAL, data)
                assert kernel_outcome(document) == reference_outcome(document)


@pytest.mark.parametrize("number", [0, 9, 10, 10**8 - 1, 10**8, 10**16 - 1, 10**16, 2**31, 2**63 - 1, 2**63, 2**64 - 1])
def test_integers_at_the_edges(number: int) -> None:
    assert kernel_outcome(encode_json(number)) == str(number).encode()


@pytest.mark.parametrize("number", [-1, -(2**15), -(2**31), -(2**31) - 1, -(2**63)])
def test_negative_integers_at_the_edges(number: int) -> None:
    assert kernel_outcome(encode_json([number, [number]])) == f"[{number}, [{number}]]".encode()
