"""Bitmaps in both bit orders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.wire.bitmap import (
    bitmap_length,
    encode_high_bits_first,
    encode_low_bits_first,
    high_bits_first,
    low_bits_first,
)


@pytest.mark.parametrize(("bits", "length"), [(0, 0), (1, 1), (8, 1), (9, 2), (4096, 512)])
def test_a_bitmap_takes_full_bytes(bits: int, length: int) -> None:
    assert bitmap_length(bits) == length


def test_the_lowest_bit_comes_first_where_columns_are_present_or_nullable() -> None:
    assert low_bits_first(b"\x05\x01", 9) == (True, False, True, False, False, False, False, False, True)
    assert encode_low_bits_first([True, False, True, False, False, False, False, False, True]) == b"\x05\x01"


def test_the_highest_bit_comes_first_where_columns_are_unsigned_or_visible() -> None:
    assert high_bits_first(b"\xa0\x80", 9) == (True, False, True, False, False, False, False, False, True)
    assert encode_high_bits_first([True, False, True, False, False, False, False, False, True]) == b"\xa0\x80"


@given(st.lists(st.booleans(), max_size=40))
def test_bits_come_back_in_either_order(bits: list[bool]) -> None:
    assert low_bits_first(encode_low_bits_first(bits), len(bits)) == tuple(bits)
    assert high_bits_first(encode_high_bits_first(bits), len(bits)) == tuple(bits)
    assert len(encode_low_bits_first(bits)) == len(encode_high_bits_first(bits)) == bitmap_length(len(bits))
