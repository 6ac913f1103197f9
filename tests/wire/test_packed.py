"""The two variable-length integers of the format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import EncodeError, Malformed, Truncated
from binspark.wire import Cursor
from binspark.wire.packed import encode_packed, encode_signed_varlen, encode_varlen

U64 = (1 << 64) - 1

PACKED = [
    (0, "00"),
    (250, "fa"),
    (251, "fcfb00"),
    (252, "fcfc00"),
    (255, "fcff00"),
    (0xFFFF, "fcffff"),
    (0x10000, "fd000001"),
    (0xFFFFFF, "fdffffff"),
    (0x1000000, "fe0000000100000000"),
    (0xFFFFFFFF, "feffffffff00000000"),
    (U64, "feffffffffffffffff"),
]
VARLEN = [
    (0, "00"),
    (1, "02"),
    (0x7F, "fe"),
    (0x80, "0102"),
    (0x89, "2502"),
    (0x3FFF, "fdff"),
    (0x4000, "030002"),
    (1770368687207196, "7f1cf3b814244a06"),
    ((1 << 56) - 1, "7fffffffffffffff"),
    (1 << 56, "ff0000000000000001"),
    (U64, "ffffffffffffffffff"),
]
SIGNED = [(0, "00"), (-1, "02"), (1, "04"), (3, "0c"), (-2, "06"), ((1 << 63) - 1, "fffeffffffffffffff")]


@pytest.mark.parametrize(("value", "encoded"), PACKED)
def test_a_packed_integer_in_each_form(value: int, encoded: str) -> None:
    assert encode_packed(value).hex() == encoded
    assert Cursor(bytes.fromhex(encoded)).packed("n") == value


@pytest.mark.parametrize(("encoded", "value"), [("fc0000", 0), ("fd050000", 5), ("fe0700000000000000", 7)])
def test_a_packed_integer_longer_than_it_needs_is_read(encoded: str, value: int) -> None:
    assert Cursor(bytes.fromhex(encoded)).packed("n") == value


@pytest.mark.parametrize("first", ["fb", "ff"])
def test_two_bytes_begin_no_packed_integer(first: str) -> None:
    cursor = Cursor(bytes.fromhex(first + "00" * 8))
    with pytest.raises(Malformed, match=f"n begins with 0x{first}, expected a packed integer"):
        cursor.packed("n")
    assert cursor.offset == 0


@pytest.mark.parametrize("encoded", ["", "fc", "fc01", "fd0102", "fe01020304050607"])
def test_a_packed_integer_that_is_cut_is_truncated(encoded: str) -> None:
    with pytest.raises(Truncated):
        Cursor(bytes.fromhex(encoded)).packed("n")


@pytest.mark.parametrize(("value", "encoded"), VARLEN)
def test_a_varlen_integer_in_each_form(value: int, encoded: str) -> None:
    assert encode_varlen(value).hex() == encoded
    assert Cursor(bytes.fromhex(encoded)).varlen("n") == value


@pytest.mark.parametrize(("value", "encoded"), SIGNED)
def test_a_signed_varlen_integer_has_its_sign_in_the_lowest_bit(value: int, encoded: str) -> None:
    assert encode_signed_varlen(value).hex() == encoded
    assert Cursor(bytes.fromhex(encoded)).signed_varlen("n") == value


@pytest.mark.parametrize("encoded", ["", "01", "0300", "7f" + "00" * 6, "ff" + "00" * 7])
def test_a_varlen_integer_that_is_cut_is_truncated(encoded: str) -> None:
    with pytest.raises(Truncated):
        Cursor(bytes.fromhex(encoded)).varlen("n")


@pytest.mark.parametrize("value", [-1, U64 + 1])
def test_what_does_not_fit_64_bits_is_refused(value: int) -> None:
    with pytest.raises(EncodeError):
        encode_packed(value)
    with pytest.raises(EncodeError):
        encode_varlen(value)


@pytest.mark.parametrize("value", [-(1 << 63) - 1, 1 << 63])
def test_what_does_not_fit_63_bits_and_a_sign_is_refused(value: int) -> None:
    with pytest.raises(EncodeError):
        encode_signed_varlen(value)


@given(st.integers(0, U64))
def test_unsigned_integers_come_back(value: int) -> None:
    assert Cursor(encode_packed(value)).packed("n") == value
    assert Cursor(encode_varlen(value)).varlen("n") == value
    assert len(encode_varlen(value)) == min(9, max(1, -(-value.bit_length() // 7)))


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_signed_integers_come_back(value: int) -> None:
    assert Cursor(encode_signed_varlen(value)).signed_varlen("n") == value
