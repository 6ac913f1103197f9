"""The laws of the algebra, on random sets, and against Python's own sets."""

from __future__ import annotations

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from binspark.errors import Malformed
from binspark.gtid import Gtid, GtidSet, GtidSetBuilder, MariadbState
from tests.support.gtid.gtid_strategies import (
    UUIDS,
    Model,
    from_model,
    gtid_sets,
    gtids,
    models,
    set_like_texts,
    to_model,
)


@given(models, models)
def test_sets_behave_like_sets_of_triples(left: Model, right: Model) -> None:
    a, b = from_model(left), from_model(right)
    assert to_model(a | b) == left | right
    assert to_model(a & b) == left & right
    assert to_model(a - b) == left - right
    assert to_model(a ^ b) == left ^ right
    assert (a <= b, a < b, a >= b, a > b) == (left <= right, left < right, left >= right, left > right)
    assert (a == b) == (left == right)
    assert (a.count(), bool(a)) == (len(left), bool(left))


@given(models, st.sampled_from(UUIDS[:2]), st.integers(1, 12))
def test_membership_is_that_of_the_model(model: Model, uuid: str, number: int) -> None:
    assert (Gtid(uuid, number) in from_model(model)) == ((uuid, "", number) in model)
    assert (f"{uuid}:{number}" in from_model(model)) == ((uuid, "", number) in model)


@given(gtid_sets, gtid_sets, gtid_sets)
def test_union_and_intersection_are_commutative_and_associative(a: GtidSet, b: GtidSet, c: GtidSet) -> None:
    assert a | b == b | a
    assert a & b == b & a
    assert (a | b) | c == a | (b | c)
    assert (a & b) & c == a & (b & c)


@given(gtid_sets, gtid_sets, gtid_sets)
def test_union_and_intersection_distribute_and_absorb(a: GtidSet, b: GtidSet, c: GtidSet) -> None:
    assert a & (b | c) == (a & b) | (a & c)
    assert a | (b & c) == (a | b) & (a | c)
    assert a | (a & b) == a == a & (a | b)


@given(gtid_sets, gtid_sets, gtid_sets)
def test_difference_turns_unions_into_intersections(a: GtidSet, b: GtidSet, c: GtidSet) -> None:
    assert a - (b | c) == (a - b) & (a - c)
    assert a - (b & c) == (a - b) | (a - c)


@given(gtid_sets)
def test_a_set_meets_itself_and_nothing(a: GtidSet) -> None:
    nothing = GtidSet()
    assert a | a == a & a == a | nothing == a - nothing == a
    assert a - a == a & nothing == a ^ a == nothing


@given(gtid_sets, gtid_sets)
def test_subset_and_difference_agree(a: GtidSet, b: GtidSet) -> None:
    assert (a <= b) == (not a - b) == (a | b == b) == (a & b == a)
    assert (a - b) | (a & b) == a
    assert not (a - b) & b


@given(gtid_sets)
def test_the_text_reads_back(a: GtidSet) -> None:
    assert GtidSet(str(a)) == GtidSet(a.server_text()) == a
    assert hash(GtidSet(str(a))) == hash(a)


@given(st.lists(gtids))
def test_a_builder_makes_the_same_set_in_any_order(listed: list[Gtid]) -> None:
    builder = GtidSetBuilder()
    for gtid in listed:
        builder.add(gtid)
    assert builder.freeze() == GtidSet.of(listed) == GtidSet(",".join(map(str, listed)))


@given(gtid_sets, st.sampled_from(UUIDS))
def test_the_next_gtid_is_free_and_all_before_it_are_taken(a: GtidSet, uuid: str) -> None:
    upcoming = a.next_gtid(uuid)
    assert upcoming not in a
    assert all(Gtid(uuid, number) in a for number in range(1, upcoming.number))


@given(set_like_texts | st.text())
def test_any_text_parses_or_is_malformed(text: str) -> None:
    with contextlib.suppress(Malformed):
        parsed = GtidSet(text)
        assert GtidSet(str(parsed)) == parsed


@given(st.text("0123456789-+, \nx", max_size=30))
def test_any_text_is_a_mariadb_list_or_malformed(text: str) -> None:
    with contextlib.suppress(Malformed):
        state = MariadbState(text)
        assert MariadbState(str(state)) == state
