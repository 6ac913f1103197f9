"""MariaDB's GTIDs as people select transactions: single ones and ranges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import Malformed
from binspark.gtid import MariadbGtid, MariadbPosition, MariadbRanges

GTIDS = st.builds(MariadbGtid, st.integers(0, 2), st.integers(1, 2), st.integers(1, 6))


def chosen(text: str) -> list[str]:
    """Return which of the GTIDs 1 to 6 of two domains and two servers are in a set."""
    every = [MariadbGtid(domain, server, number) for domain in (0, 1) for server in (1, 2) for number in range(1, 7)]
    return [str(gtid) for gtid in every if gtid in MariadbRanges(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0-1-4", ["0-1-4"]),
        ("0-1-4,1-2-6", ["0-1-4", "1-2-6"]),
        ("0-1-4..0-1-5", ["0-1-4", "0-1-5", "0-2-4", "0-2-5"]),
        ("0-1-4 .. 5", ["0-1-4", "0-1-5", "0-2-4", "0-2-5"]),
        ("..0-2-1", ["0-1-1", "0-2-1"]),
        ("1-1-6..", ["1-1-6", "1-2-6"]),
        ("0-1-1, 1-1-6.. ", ["0-1-1", "1-1-6", "1-2-6"]),
    ],
)
def test_single_gtids_are_exact_and_ranges_are_of_a_domain(text: str, expected: list[str]) -> None:
    assert chosen(text) == expected


@pytest.mark.parametrize("text", ["", "0-1", "0-1-4,", "..", "..5", "0-1-5..0-1-4", "0-1-1..1-1-5", "0-1-1 0-1-2", "a"])
def test_what_is_no_set_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        MariadbRanges(text)


@given(GTIDS)
def test_all_up_to_a_gtid_is_what_a_position_contains(last: MariadbGtid) -> None:
    up_to, position = MariadbRanges(f"..{last}"), MariadbPosition(f"{last.domain}-4294967295-{last.sequence}")
    for domain in range(3):
        for number in range(8):
            gtid = MariadbGtid(domain, 1, number)
            assert (gtid in up_to) == (gtid in position)


def test_the_text_is_normal() -> None:
    assert str(MariadbRanges(" 0-1-4 , 0-1-7 .. 9")) == "0-1-4,0-1-7..9"
