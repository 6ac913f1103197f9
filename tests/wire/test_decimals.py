"""DECIMAL as servers pack it."""

from __future__ import annotations

from decimal import Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import EncodeError, Malformed
from binspark.wire.decimals import decode_packed_decimal, encode_packed_decimal, packed_decimal_length

PACKED = [
    ("1234567890.1234", 14, 4, "810dfb38d204d2"),
    ("-1234567890.1234", 14, 4, "7ef204c72dfb2d"),
    ("0", 1, 0, "80"),
    ("9", 1, 0, "89"),
    ("-9", 1, 0, "76"),
    ("0.5", 1, 1, "85"),
    ("123.45", 5, 2, "807b2d"),
    ("-123.45", 5, 2, "7f84d2"),
    ("999999999", 9, 0, "bb9ac9ff"),
    ("1000000000", 10, 0, "8100000000"),
    ("0.000000001", 9, 9, "80000001"),
    ("0." + "9" * 30, 30, 30, "bb9ac9ff" + "3b9ac9ff" * 2 + "03e7"),
    ("9" * 65, 65, 0, "e3" + "3b9ac9ff" * 7),
]


@pytest.mark.parametrize(("text", "precision", "scale", "packed"), PACKED)
def test_a_decimal_is_packed_nine_digits_in_four_bytes(text: str, precision: int, scale: int, packed: str) -> None:
    value = Decimal(text)
    assert encode_packed_decimal(value, precision, scale).hex() == packed
    decoded = decode_packed_decimal(bytes.fromhex(packed), precision, scale)
    assert (decoded, decoded.as_tuple().exponent) == (value, -scale)
    assert packed_decimal_length(precision, scale) == len(packed) // 2


def test_larger_numbers_have_larger_bytes() -> None:
    numbers = [Decimal(text) for text in ("-99.99", "-1.00", "-0.01", "0.00", "0.01", "1.00", "99.99")]
    packed = [encode_packed_decimal(number, 4, 2) for number in numbers]
    assert packed == sorted(packed)


@pytest.mark.parametrize(("packed", "precision", "scale"), [("ffffffff", 9, 0), ("8a", 1, 0), ("e4", 2, 0)])
def test_a_group_with_too_many_digits_is_malformed(packed: str, precision: int, scale: int) -> None:
    with pytest.raises(Malformed, match=r"decimal group is \d+, expected at most \d digits"):
        decode_packed_decimal(bytes.fromhex(packed), precision, scale)


@pytest.mark.parametrize(("text", "precision", "scale"), [("100", 2, 0), ("0.123", 5, 2), ("NaN", 5, 2), ("1e5", 5, 2)])
def test_a_number_that_does_not_fit_is_refused(text: str, precision: int, scale: int) -> None:
    with pytest.raises(EncodeError):
        encode_packed_decimal(Decimal(text), precision, scale)


@given(st.data())
def test_every_decimal_comes_back(data: st.DataObject) -> None:
    scale = data.draw(st.integers(0, 30))
    precision = data.draw(st.integers(max(1, scale), 65))
    digits = data.draw(st.integers(-(10**precision) + 1, 10**precision - 1))
    value = Decimal(digits).scaleb(-scale, Context(prec=80))
    packed = encode_packed_decimal(value, precision, scale)
    assert len(packed) == packed_decimal_length(precision, scale)
    assert decode_packed_decimal(packed, precision, scale) == value
