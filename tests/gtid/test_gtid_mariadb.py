"""MariaDB's positions and states: text, meaning of the operators, laws."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given

from binspark.errors import EncodeError, Malformed
from binspark.gtid import MariadbGtid, MariadbPosition, MariadbState
from tests.support.gtid.gtid_strategies import mariadb_gtids, positions, states

HIGHEST = "4294967295-4294967295-18446744073709551615"

TAKEN = {
    "": "",
    "0-1-100": "0-1-100",
    "1-2-3,0-1-100": "0-1-100,1-2-3",
    "9-1-1,10-1-1,2-1-1": "2-1-1,9-1-1,10-1-1",
    " 0-1-100,\n\t1-2-3": "0-1-100,1-2-3",
    "0- 1- 100": "0-1-100",
    "+0-+1-+100": "0-1-100",
    "0-01-0100": "0-1-100",
    "0-0-0": "0-0-0",
    HIGHEST: HIGHEST,
    "0-1-100\n": "0-1-100",
}

REFUSED = {
    "a": 0,
    "0-1": 0,
    "0-1-": 0,
    "-0-1-1": 0,
    "0--1-2": 0,
    "+ 0-1-1": 0,
    "0 - 1 - 100": 0,
    ",0-1-100": 0,
    "4294967296-1-1": 0,
    "0-4294967296-1": 0,
    "0-1-18446744073709551616": 0,
    "0-1-100,": 8,
    "0-1-100,,1-2-3": 8,
    "0-1-100x": 7,
    "0-1-0x10": 5,
    "0-1-100;1-2-3": 7,
}


@pytest.mark.parametrize("text", TAKEN)
def test_every_form_is_printed_in_normal_form(text: str) -> None:
    assert str(MariadbPosition(text)) == str(MariadbState(text)) == TAKEN[text]


@pytest.mark.parametrize("text", REFUSED)
def test_an_error_shows_the_offset(text: str) -> None:
    with pytest.raises(Malformed, match=f"expected .* at offset {REFUSED[text]}, marked"):
        MariadbPosition(text)


def test_a_position_has_one_gtid_per_domain() -> None:
    with pytest.raises(Malformed, match="0-2-101 and 0-1-100 are both of domain 0"):
        MariadbPosition("0-1-100,0-2-101")


def test_a_gtid_parses_and_prints() -> None:
    assert MariadbGtid.parse("0-1-42") == MariadbGtid(domain=0, server=1, sequence=42)
    assert str(MariadbGtid(0, 1, 42)) == "0-1-42"


@pytest.mark.parametrize("text", ["", "0-1", "0-1-2,0-1-3", "4294967296-1-1"])
def test_what_is_not_one_gtid_is_malformed(text: str) -> None:
    with pytest.raises(Malformed):
        MariadbGtid.parse(text)


def test_the_operators_compare_numbers_within_a_domain() -> None:
    left, right = MariadbPosition("0-1-100,1-1-5"), MariadbPosition("0-2-90,1-2-7,2-1-1")
    assert str(left | right) == "0-1-100,1-2-7,2-1-1"
    assert str(left & right) == "0-2-90,1-1-5"
    assert str(left - right) == "0-1-100"
    assert str(right - left) == "1-2-7,2-1-1"


def test_a_position_contains_what_it_has_passed() -> None:
    position = MariadbPosition("0-1-100")
    assert MariadbGtid(0, 2, 99) in position
    assert "0-1-100" in position
    assert "0-1-101" not in position
    assert "1-1-1" not in position
    assert MariadbPosition("0-1-7") < position


def test_a_position_advances_to_what_was_read_even_if_its_number_is_lower() -> None:
    assert str(MariadbPosition("0-1-100,1-1-1").advance(MariadbGtid(0, 2, 99))) == "0-2-99,1-1-1"


def test_the_last_gtid_of_a_domain_is_where_a_state_is() -> None:
    state = MariadbState("0-5-9,0-1-10,1-7-7,0-9-1")
    assert str(state) == "0-1-10,0-5-9,0-9-1,1-7-7"
    assert str(state.position) == "0-9-1,1-7-7"
    assert state.domains == (0, 1)


def test_the_last_gtid_of_a_server_counts() -> None:
    assert str(MariadbState("0-1-101,0-2-99,0-1-50")) == "0-2-99,0-1-50"


def test_the_next_number_is_above_all_of_the_domain() -> None:
    assert [str(gtid) for gtid in MariadbState("0-1-100,0-2-99").next_gtids()] == ["0-2-101"]
    assert [str(gtid) for gtid in MariadbPosition("0-1-100,3-2-1").next_gtids()] == ["0-1-101", "3-2-2"]


def test_a_domain_can_run_out_of_numbers() -> None:
    with pytest.raises(EncodeError, match="used up"):
        MariadbPosition(HIGHEST).next_gtids()


def test_states_unite_by_server() -> None:
    left, right = MariadbState("0-1-100,0-2-99"), MariadbState("0-2-101,0-1-90,1-1-1")
    assert str(left | right) == "0-1-100,0-2-101,1-1-1"
    assert str(left & right) == "0-1-90,0-2-99"
    assert str(right - left) == "0-2-101,1-1-1"


def test_a_state_contains_by_server() -> None:
    state = MariadbState("0-1-100,0-2-120")
    assert "0-1-100,0-2-7" in state
    assert "0-1-101" not in state
    assert MariadbGtid(0, 3, 1) not in state
    assert state.add(MariadbGtid(0, 3, 1)) >= state


def test_a_state_remembers_which_gtid_is_last() -> None:
    assert MariadbState("0-1-1,0-2-2") != MariadbState("0-2-2,0-1-1")


def test_values_survive_pickle_and_hash_alike() -> None:
    for value in (MariadbGtid(0, 1, 2), MariadbPosition("0-1-2"), MariadbState("0-1-2,0-3-4")):
        assert pickle.loads(pickle.dumps(value)) == value
        assert hash(pickle.loads(pickle.dumps(value))) == hash(value)


@given(positions, positions, positions)
def test_positions_are_a_lattice(a: MariadbPosition, b: MariadbPosition, c: MariadbPosition) -> None:
    assert a | b == b | a
    assert a & b == b & a
    assert (a | b) | c == a | (b | c)
    assert (a & b) & c == a & (b & c)
    assert a | (a & b) == a == a & (a | b)
    assert a | a == a == a & a


@given(positions, positions)
def test_order_union_and_difference_of_positions_agree(a: MariadbPosition, b: MariadbPosition) -> None:
    assert (a <= b) == (a | b == b) == (a & b == a) == (not a - b) == (a in b)
    assert (a - b) | b == a | b
    assert (a < b) == (a <= b and a != b)
    assert MariadbPosition(str(a)) == a


@given(states, states, states)
def test_union_of_states_is_commutative_associative_and_idempotent(
    a: MariadbState, b: MariadbState, c: MariadbState
) -> None:
    assert a | b == b | a
    assert (a | b) | c == a | (b | c)
    assert a | a == a == a | MariadbState()


@given(states, states)
def test_order_and_difference_of_states_agree(a: MariadbState, b: MariadbState) -> None:
    assert (a <= b) == (not a - b)
    assert a <= a | b
    assert a & b <= a
    assert a & b == b & a
    assert a - b <= a
    assert b | (a - b) >= a
    assert MariadbState(str(a)) == a


@given(states, mariadb_gtids)
def test_what_is_added_to_a_state_becomes_its_position(state: MariadbState, gtid: MariadbGtid) -> None:
    assert state.add(gtid).position.get(gtid.domain) == gtid
