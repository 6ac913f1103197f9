"""The kernel prints doubles as the reference does: with the shortest digits that read back."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.kernels.printing.doubles import G0, G1, K_MAX, K_MIN, floor_log2_pow10, floor_log10_pow2
from binspark.values.json.document import double_text
from tests.support.kernels.json_kernel import kernel_outcome
from tests.support.values.json_encoding import LARGE, encode_document, encode_json

Doubles = npt.NDArray[np.float64]
COUNT = 50_000


def texts(doubles: Doubles) -> list[str]:
    """Print doubles with the kernel, all in one document."""
    text = kernel_outcome(encode_document(doubles.tolist(), LARGE))
    assert isinstance(text, bytes)
    return text.decode()[1:-1].split(", ")


def expected(doubles: Doubles) -> list[str]:
    return [double_text(double) for double in doubles.tolist()]


def chance() -> np.random.Generator:
    return np.random.default_rng(20_240_229)


def any_doubles() -> Doubles:
    doubles = chance().integers(-(1 << 63), (1 << 63) - 1, COUNT).view(np.float64)
    return doubles[np.isfinite(doubles)]


def powers_of_two() -> Doubles:
    return np.array([2.0**exponent for exponent in range(-1074, 1024)])


def powers_of_ten() -> Doubles:
    return np.array([float(f"{digit}e{exponent}") for exponent in range(-323, 306) for digit in (1, 2, 5, 9, 123)])


MANY: dict[str, Callable[[], npt.NDArray[np.float64]]] = {
    "any": any_doubles,
    "subnormal": lambda: chance().integers(0, 1 << 52, COUNT).view(np.float64),
    "the smallest": lambda: np.arange(2_000).view(np.float64),
    "powers of two": powers_of_two,
    "above powers of two": lambda: np.nextafter(powers_of_two(), np.inf),
    "below powers of two": lambda: np.nextafter(powers_of_two(), 0),
    "powers of ten": powers_of_ten,
    "above powers of ten": lambda: np.nextafter(powers_of_ten(), np.inf),
    "below powers of ten": lambda: np.nextafter(powers_of_ten(), 0),
    "integers": lambda: np.round(10 ** chance().uniform(0, 19, COUNT)),
    "of two decimals": lambda: np.round(chance().uniform(-1e5, 1e5, COUNT), 2),
    "of eight decimals": lambda: np.round(chance().uniform(-1e7, 1e7, COUNT), 8),
    "below one": lambda: chance().uniform(-1, 1, COUNT),
    "where exponents begin": lambda: 10 ** chance().uniform(-17, 18, COUNT),
}


@pytest.mark.parametrize("kind", MANY)
def test_many_doubles_are_printed_as_the_reference_prints_them(kind: str) -> None:
    doubles = MANY[kind]()
    assert texts(doubles) == expected(doubles)


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_is_printed_as_the_reference_prints_it(double: float) -> None:
    assert kernel_outcome(encode_json(double)) == double_text(double).encode()


@pytest.mark.parametrize("double", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_is_refused(double: float) -> None:
    assert kernel_outcome(encode_json(double)) == "refused"


@pytest.mark.parametrize(
    ("double", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e308"),
        (-2.2250738585072014e-308, "-2.2250738585072014e-308"),
        (1e15, "1e15"),
        (999999999999999.0, "999999999999999.0"),
        (1234567890123456.7, "1234567890123456.8"),
        (1e-15, "0.000000000000001"),
        (1e-16, "1e-16"),
        (9007199254740993.0, "9.007199254740992e15"),
        (0.1 + 0.2, "0.30000000000000004"),
        (19.99, "19.99"),
        (1e23, "1e23"),
    ],
)
def test_a_double_is_printed_as(double: float, text: str) -> None:
    assert kernel_outcome(encode_json(double)) == text.encode()


def test_powers_of_ten_are_the_integers_above_them_in_126_bits() -> None:
    for k, g1, g0 in zip(range(K_MIN, K_MAX + 1), G1.tolist(), G0.tolist(), strict=True):
        power = Fraction(10) ** -k / Fraction(2) ** (floor_log2_pow10(-k) - 125)
        assert (g1 << 63 | g0) - 1 <= power < g1 << 63 | g0


@pytest.mark.parametrize("three_quarters", [False, True])
def test_logarithms_of_powers_of_two_are_exact(three_quarters: bool) -> None:
    for exponent in range(-1074, 972):
        power = Fraction(2) ** exponent * (Fraction(3, 4) if three_quarters else 1)
        k = floor_log10_pow2(exponent, three_quarters)
        assert Fraction(10) ** k <= power < Fraction(10) ** (k + 1)
