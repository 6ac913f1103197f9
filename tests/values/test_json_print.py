"""Numbers and strings as a server prints them in JSON."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.values.json.document import double_text, quoted


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (-1.5, "-1.5"),
        (0.1, "0.1"),
        (100000.0, "100000.0"),
        (1e14, "100000000000000.0"),
        (1e15, "1e15"),
        (1.5e15, "1.5e15"),
        (1234567890123456.8, "1234567890123456.8"),
        (123456789012345.67, "123456789012345.67"),
        (1.2345678901234568e16, "1.2345678901234568e16"),
        (9007199254740992.0, "9.007199254740992e15"),
        (1e22, "1e22"),
        (1e-5, "0.00001"),
        (1.2345678901234568e-5, "0.000012345678901234568"),
        (1e-15, "0.000000000000001"),
        (1.5e-15, "0.0000000000000015"),
        (1e-16, "1e-16"),
        (1.5e-16, "1.5e-16"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e308"),
    ],
)
def test_a_double_prints_as(value: float, text: str) -> None:
    assert double_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_double_reads_back_to_the_same_number(value: float) -> None:
    read_back = float(double_text(value))
    assert (read_back, math.copysign(1, read_back)) == (value, math.copysign(1, value))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_double_is_never_taken_for_an_integer(value: float) -> None:
    assert isinstance(json.loads(double_text(value)), float)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", '""'),
        ('a"b\\c/d', '"a\\"b\\\\c/d"'),
        ("\b\t\n\f\r", '"\\b\\t\\n\\f\\r"'),
        ("\0\x0b\x1f\x7f", '"\\u0000\\u000b\\u001f\x7f"'),
        ("é😀\u2028", '"é😀\u2028"'),
    ],
)
def test_a_string_prints_as(text: str, printed: str) -> None:
    assert quoted(text) == printed


@given(st.text())
def test_a_printed_string_reads_back(text: str) -> None:
    assert json.loads(quoted(text)) == text
