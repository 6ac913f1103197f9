"""Numbers as digits: as Python prints them, of any length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from binspark.kernels.printing.digits import write_signed, write_unsigned

_ROOM = 32


def _text(write: Callable[[int, int], int], value: int) -> str:
    target = np.zeros(_ROOM, dtype=np.uint8)
    start = int(target.ctypes.data)
    end = write(start, value)
    return target[: end - start].tobytes().decode()


def test_numbers_around_powers_of_two_and_ten_have_all_their_digits() -> None:
    bounds = [2**bit for bit in range(63)] + [10**digits for digits in range(19)]
    for value in {bound + step for bound in bounds for step in (-1, 0, 1)}:
        assert _text(write_unsigned, value) == str(value)
        assert _text(write_signed, -value) == str(-value)


@given(st.integers(-(2**63), 2**63 - 1))
@example(0)
def test_any_number_is_printed_as_python_prints_it(value: int) -> None:
    assert _text(write_signed, value) == str(value)
    assert _text(write_unsigned, value) == str(value % 2**64)
