"""Columns over the schema versions of a table: renamed, swapped, dropped, added again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from binspark.schema.lineage import Lineage, LineageStep, WantedColumn, WantedColumns, free_name

Names = dict[str, str | None]


def lineage(*steps: Names, incarnation: str = "t") -> Lineage:
    found = Lineage(incarnation)
    for number, names in enumerate(steps):
        found = found.followed_by(LineageStep(f"log:{number}", tuple(names.items())))
    return found


CHAIN: tuple[Names, ...] = ({"a": "b"}, {"b": "c", "x": None}, {"c": "a", "a": "c"})


@pytest.mark.parametrize(
    ("name", "have", "want", "found"),
    [
        ("a", 0, 1, "b"),
        ("a", 0, 2, "c"),
        ("a", 0, 3, "a"),
        ("b", 1, 3, "a"),
        ("c", 2, 0, "a"),
        ("x", 0, 1, "x"),
        ("x", 0, 2, None),
        ("x", 3, 1, None),
        ("other", 0, 3, "other"),
        ("other", 3, 0, "other"),
    ],
)
def test_a_column_is_followed_forward_and_backward(name: str, have: int, want: int, found: str | None) -> None:
    assert lineage(*CHAIN[:have]).name_in(name, lineage(*CHAIN[:want])) == found


def test_a_column_that_is_dropped_and_added_again_is_another_one() -> None:
    before, after = lineage(), lineage({"a": None})
    assert before.name_in("a", after) is None
    assert after.name_in("a", before) is None


def test_a_column_that_replaces_another_in_one_statement_is_that_other_column() -> None:
    before, after = lineage(), lineage({"a": None, "b": "a"})
    assert before.name_in("b", after) == "a"
    assert after.name_in("a", before) == "b"


def test_columns_of_another_incarnation_are_known_by_name() -> None:
    assert lineage({"a": "b"}).name_in("a", lineage({"a": None}, incarnation="later")) == "a"


def test_the_same_statements_at_other_positions_lead_to_the_same_column() -> None:
    moved = Lineage("t", (LineageStep("other:7", (("a", "b"),)),))
    assert moved.name_in("b", lineage({"a": "b"})) == "b"


def test_past_names_find_the_column_that_had_them_last() -> None:
    now = lineage(*CHAIN)
    wanted = WantedColumns.of(["a", "x", "b"], ["a"], now)
    assert wanted.sources(["a", "x", "y"], lineage()) == {"a": "a", "x": "x", "b": "a"}
    assert wanted.sources(["A", "Y"], now) == {"a": "A", "b": "A"}


def test_a_dropped_column_has_a_name_of_its_own_beside_its_successor() -> None:
    now = lineage({"a": None})
    (dropped,) = now.dropped()
    column = WantedColumn("a_dropped", dropped.name, dropped.lineage)
    wanted = WantedColumns.of(["a", "a_dropped"], ["a"], now).and_also([column])
    assert wanted.sources(["a"], lineage()) == {"a_dropped": "a"}
    assert wanted.sources(["a"], now) == {"a": "a"}


def test_names_of_dropped_columns_are_free() -> None:
    assert free_name("a", ["b"]) == "a"
    assert free_name("a", ["A"]) == "a_dropped"
    assert free_name("a", ["a", "a_dropped"]) == "a_dropped_2"


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[dict[str, int]], list[Names]]:
    """Return the columns of a table over statements, by name and with a number for each column, and the statements."""
    columns = {name: number for number, name in enumerate("abc")}
    versions, steps = [columns], []
    next_number = len(columns)
    for _ in range(draw(st.integers(0, 6))):
        kept = draw(st.lists(st.sampled_from(sorted(columns)), unique=True)) if columns else []
        names = draw(st.permutations("abcdef"))[: len(kept)]
        renamed: Names = {**dict.fromkeys(columns), **dict(zip(kept, names, strict=True))}
        new = {name: columns[old] for old, name in renamed.items() if name is not None}
        for name in draw(st.lists(st.sampled_from("abcdef"), unique=True)):
            if name not in new:
                new[name], next_number = next_number, next_number + 1
        steps.append({old: name for old, name in renamed.items() if old != name})
        versions.append(new)
        columns = new
    return versions, steps


@given(tables(), st.data())
def test_any_sequence_of_statements_leads_to_the_same_column(
    table: tuple[list[dict[str, int]], list[Names]], data: st.DataObject
) -> None:
    versions, steps = table
    have, want = (data.draw(st.integers(0, len(steps))) for _ in range(2))
    number_of, name_of = versions[have], {number: name for name, number in versions[want].items()}
    wanted = WantedColumns.of(versions[want], versions[want], lineage(*steps[:want]))
    found = wanted.sources(list(number_of), lineage(*steps[:have]))
    assert found == {name_of[number]: name for name, number in number_of.items() if number in name_of}
