"""GTID sets as values: contents, operators, pickling."""

from __future__ import annotations

import pickle
import sys
from typing import cast

import pytest

from binspark.errors import EncodeError, Malformed
from binspark.gtid import MAX_NUMBER, Gtid, GtidSet, GtidSetBuilder

A = "b8ae2fd2-3005-11f0-8be8-0242ac150002"
B = "c8ae2fd2-3005-11f0-8be8-0242ac150002"


def test_a_subset_of_an_interval_is_contained() -> None:
    assert f"{A}:1-5" in GtidSet(f"{A}:1-10")
    assert GtidSet(f"{A}:1-5") in GtidSet(f"{A}:1-10")
    assert f"{A}:1-11" not in GtidSet(f"{A}:1-10")


def test_a_single_gtid_is_contained_as_value_and_as_text() -> None:
    executed = GtidSet(f"{A}:1-5:t:7")
    assert Gtid(A, 5) in executed
    assert Gtid(A, 6) not in executed
    assert f"{A}:t:7" in executed
    assert f"{A}:7" not in executed


def test_a_tag_makes_another_source() -> None:
    assert GtidSet(f"{A}:1-5") & GtidSet(f"{A}:t:1-5") == GtidSet()


def test_the_operators_do_what_their_signs_say() -> None:
    left, right = GtidSet(f"{A}:1-5:8"), GtidSet(f"{A}:4-6,{B}:1")
    assert str(left | right) == f"{A}:1-6:8,{B}:1"
    assert str(left & right) == f"{A}:4-5"
    assert str(left - right) == f"{A}:1-3:8"
    assert str(left ^ right) == f"{A}:1-3:6:8,{B}:1"


def test_operands_of_another_kind_are_refused() -> None:
    with pytest.raises(TypeError):
        GtidSet(f"{A}:1") | f"{A}:2"  # type: ignore[operator]
    with pytest.raises(TypeError):
        assert GtidSet(f"{A}:1") <= f"{A}:2"  # type: ignore[operator]
    assert GtidSet() != cast(object, "")


def test_a_proper_subset_is_less() -> None:
    assert GtidSet(f"{A}:1-2") < GtidSet(f"{A}:1-3")
    assert not GtidSet(f"{A}:1-3") < GtidSet(f"{A}:1-3")
    assert GtidSet(f"{A}:1-3") > GtidSet(f"{A}:2")
    assert GtidSet(f"{A}:1-3") >= GtidSet(f"{A}:1-3")


def test_disjoint_sets_are_in_no_order() -> None:
    assert not GtidSet(f"{A}:1") <= GtidSet(f"{B}:1")
    assert not GtidSet(f"{A}:1") >= GtidSet(f"{B}:1")


def test_an_empty_set_is_false_and_in_every_set() -> None:
    assert not GtidSet()
    assert GtidSet() <= GtidSet(f"{A}:1")
    assert "" in GtidSet()


def test_count_exceeds_what_len_can_return() -> None:
    everything = GtidSet(f"{A}:1-{MAX_NUMBER},{B}:1-{MAX_NUMBER}")
    assert everything.count() == 2 * MAX_NUMBER > sys.maxsize
    assert len(GtidSet(f"{A}:1-5:8:t:1")) == 7


def test_iteration_is_lazy() -> None:
    assert next(iter(GtidSet(f"{A}:1-{MAX_NUMBER}"))) == Gtid(A, 1)


def test_iteration_orders_by_uuid_tag_and_number() -> None:
    listed = [str(gtid) for gtid in GtidSet(f"{B}:1,{A}:t:2,{A}:4:3")]
    assert listed == [f"{A}:3", f"{A}:4", f"{A}:t:2", f"{B}:1"]
    assert sorted(map(Gtid.parse, reversed(listed))) == list(map(Gtid.parse, listed))


def test_the_next_gtid_fills_the_first_gap_as_the_server_does() -> None:
    executed = GtidSet(f"{A}:3-5:9:t:1-2")
    assert executed.next_gtid(A) == Gtid(A, 1)
    assert executed.add(Gtid(A, 1)).next_gtid(A) == Gtid(A, 2)
    assert executed.add(f"{A}:1").add(f"{A}:2").next_gtid(A) == Gtid(A, 6)
    assert executed.next_gtid(A, "T") == Gtid(A, 3, "t")
    assert executed.next_gtid(B) == Gtid(B, 1)


def test_a_uuid_can_run_out_of_numbers() -> None:
    with pytest.raises(EncodeError, match="used up"):
        GtidSet(f"{A}:1-{MAX_NUMBER}").next_gtid(A)


def test_the_parts_of_a_set_can_be_read() -> None:
    executed = GtidSet(f"{B}:2,{A}:1-5:9:t:3")
    assert executed.uuids == (A, B)
    assert executed.sources == ((A, ""), (A, "t"), (B, ""))
    assert executed.intervals(A.upper()) == (range(1, 6), range(9, 10))
    assert executed.intervals(B, "t") == ()
    assert (executed.last(A), executed.last(A, "t"), executed.last(B, "t")) == (9, 3, 0)


def test_sets_are_values() -> None:
    assert {GtidSet(f"{A}:1:2"), GtidSet(f"{A}:1-2")} == {GtidSet(f"{A}:2:1")}
    assert eval(repr(GtidSet(f"{A}:1-2"))) == GtidSet(f"{A}:1-2")
    with pytest.raises(AttributeError):
        GtidSet().parts = ()  # type: ignore[misc]


def test_values_survive_pickle() -> None:
    for value in (GtidSet(f"{A}:1-5:t:7"), GtidSet(), Gtid(A, 5, "t")):
        assert pickle.loads(pickle.dumps(value)) == value


def test_a_gtid_parses_in_every_form_of_the_server() -> None:
    assert Gtid.parse(f" {A.upper()} : Nightly : 007\n") == Gtid(A, 7, "nightly")
    assert Gtid.parse("{" + A + "}:1") == Gtid(A, 1)
    assert str(Gtid.parse(f"{A}:t:1")) == f"{A}:t:1"


@pytest.mark.parametrize("text", ["", A, f"{A}:", f"{A}:0", f"{A}:1-2", f"{A}:t", f"{A}:1:2", f"{A}:{MAX_NUMBER + 1}"])
def test_what_is_not_one_gtid_is_malformed(text: str) -> None:
    with pytest.raises(Malformed):
        Gtid.parse(text)


@pytest.mark.parametrize(("uuid", "tag"), [(A.upper(), ""), (A, "T"), (A, "9"), ("", "")])
def test_a_gtid_is_made_of_normal_parts_only(uuid: str, tag: str) -> None:
    with pytest.raises(Malformed, match="normal form"):
        Gtid(uuid, 1, tag)


def test_a_builder_grows_from_a_set_and_freezes_again_and_again() -> None:
    builder = GtidSetBuilder(GtidSet(f"{A}:1-3"))
    builder.add(Gtid(A, 5))
    before = builder.freeze()
    builder.add(Gtid(A, 4))
    builder.add(Gtid(A, 4))
    builder.add(Gtid(B, 1, "t"))
    assert str(before) == f"{A}:1-3:5"
    assert str(builder.freeze()) == f"{A}:1-5,{B}:t:1"
