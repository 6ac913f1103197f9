"""Damage in splits is reported exactly once, wherever the log is cut, and the rest is read exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.event import Event
from binspark.files.split_reader import Damage, SplitReader
from binspark.files.splits import PlannedLog, Split
from tests.support.examples import examples
from tests.support.files.split_logs import KINDS, BuiltLog, built_log, flipped, overwritten
from tests.support.files.split_reading import (
    Reports,
    Row,
    all_events,
    all_rows,
    history_of,
    plan,
    split_events,
    split_rows,
    splits_at,
    value_in,
)

CHECKED = [kind for kind in KINDS if kind.endswith("crc32") and not kind.startswith("5.6-named")]
UNCHECKED = [kind for kind in KINDS if not kind.endswith("crc32") and not kind.startswith("5.6-named")]
FIELDS = {"time": 0, "type": 4, "server": 5, "size": 9, "high-size": 12, "position": 13, "flags": 17, "body": 20}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damage")


class Case:
    """A log, its contents, and the same log damaged."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.made: BuiltLog = built_log(kind, 200)
        self.path = folder / "binlog.000001"
        self.name = str(self.path)
        self.rows = all_rows(self.made.content, self.name).tables
        self.events = all_events(self.made.content, self.name).events

    def outer_events(self) -> list[Event]:
        """Return the events of the file, but for the first: without it no log can be read."""
        return [event for event in self.events if event.inner is None and event.offset > 4]

    def some_events(self) -> list[tuple[int, Event]]:
        """Return every third of them with its number; which ones depends on the kind of log."""
        return list(enumerate(self.outer_events()))[KINDS.index(self.kind) % 3 :: 3]

    def plan(self, content: bytes) -> PlannedLog:
        self.path.write_bytes(content)
        return plan(self.path)

    def next_start(self, offset: int) -> int:
        return next((start for start in self.made.starts if start > offset), len(self.made.content))

    def cut_around(self, event: Event) -> list[list[int]]:
        """Return some ways to cut a log near an event."""
        near = [event.offset - 1, event.offset, event.offset + 1, event.end_offset, self.next_start(event.offset)]
        return [[], near[1:2], near[2:3], near, list(range(0, len(self.made.content), 150))]


def outside(rows: dict[str, list[Row]], damage: Damage) -> dict[str, list[Row]]:
    """Return the rows before damage and after it."""
    kept = {
        name: [row for row in of_table if not damage.start <= value_in(row, "_log_pos") < damage.end]
        for name, of_table in rows.items()
    }
    return {name: of_table for name, of_table in kept.items() if of_table}


def read_what_is_sound(log: PlannedLog, cuts: Iterable[int]) -> tuple[dict[str, list[Row]], list[Event], list[Damage]]:
    """Read rows and events, each in splits; both report the same damage."""
    told_with_rows, told_with_events = Reports(), Reports()
    splits, history = splits_at(log, cuts), history_of(log)
    rows = split_rows(splits, SplitReader(history, told_with_rows))
    events = split_events(splits, SplitReader(history, told_with_events))
    assert rows.refusal is None
    assert events.refusal is None
    assert _places(told_with_rows) == _places(told_with_events)
    return rows.tables, events.events, told_with_rows.found


def _places(reports: Reports) -> list[tuple[int, int]]:
    return [(damage.start, damage.end) for damage in reports.found]


def check_sound_is_read(case: Case, content: bytes, event: Event, cuts: list[int]) -> None:
    """Check what is read of a log one event of which is damaged."""
    rows, events, [damage] = read_what_is_sound(case.plan(content), cuts)
    assert (damage.file, damage.start, damage.end) == (case.name, event.offset, case.next_start(event.offset))
    assert damage.error.position.file == case.name
    assert rows == outside(case.rows, damage)
    assert events == [event for event in case.events if not damage.start <= event.offset < damage.end]


@pytest.mark.parametrize("kind", CHECKED)
def test_sound_transactions_are_read_once_and_damage_is_reported_once(kind: str, folder: Path) -> None:
    case = Case(kind, folder)
    for number, event in case.some_events():
        field = list(FIELDS.values())[number % len(FIELDS)]
        cuts = case.cut_around(event)[number % 5]
        check_sound_is_read(case, flipped(case.made.content, event.offset + field, 0x11), event, cuts)


@pytest.mark.parametrize("field", FIELDS)
def test_it_does_not_matter_which_field_of_an_event_is_wrong_nor_where_the_log_is_cut(field: str, folder: Path) -> None:
    case = Case("named-crc32", folder)
    update = case.made.parts()[2]
    for event in (event for event in case.outer_events() if event.offset in update):
        for cuts in case.cut_around(event)[:4]:
            check_sound_is_read(case, flipped(case.made.content, event.offset + FIELDS[field], 0x80), event, cuts)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["named-crc32", "mariadb-crc32", "5.6-unnamed-crc32", "compressed-crc32"])
def test_any_field_of_any_event_may_be_wrong(kind: str, folder: Path) -> None:
    case = Case(kind, folder)
    for number, (event, field) in enumerate(product(case.outer_events(), FIELDS.values())):
        cuts = case.cut_around(event)[number % 5]
        check_sound_is_read(case, flipped(case.made.content, event.offset + field, 0x11), event, cuts)


@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_wrong_byte_leaves_the_rest_readable(folder: Path, data: st.DataObject) -> None:
    case = Case(data.draw(st.sampled_from(CHECKED)), folder)
    event = data.draw(st.sampled_from(case.outer_events()))
    offset = data.draw(st.integers(event.offset, event.end_offset - 1))
    mask = data.draw(st.integers(1, 255))
    cuts = data.draw(st.lists(st.integers(1, len(case.made.content)), max_size=6))
    check_sound_is_read(case, flipped(case.made.content, offset, mask), event, cuts)


def failing(log: PlannedLog, cuts: list[int]) -> Iterator[tuple[Split, dict[str, list[Row]], bool]]:
    """Read each split, and yield whether it failed."""
    reader = SplitReader(history_of(log))
    for split in splits_at(log, cuts):
        found = split_rows([split], reader)
        yield split, found.tables, found.refusal is not None


def check_it_fails(case: Case, content: bytes, damaged: range, cuts: list[int]) -> None:
    """Check that one split fails, and that the others have all transactions that begin in them."""
    each = list(failing(case.plan(content), cuts))
    assert [failed for _, _, failed in each].count(True) == 1
    sound = [part for part in case.made.parts() if part != damaged]
    for split, rows, _ in (read for read in each if not read[2]):
        owned = range(split.start, len(content) if split.end is None else split.end)
        expected = sum(_count(case, part) for part in sound if part.start in owned)
        assert sum(map(len, rows.values())) == expected


def _count(case: Case, part: range) -> int:
    return sum(1 for of_table in case.rows.values() for row in of_table if value_in(row, "_log_pos") in part)


@pytest.mark.parametrize("kind", CHECKED)
def test_without_a_listener_exactly_one_split_fails_and_the_others_are_complete(kind: str, folder: Path) -> None:
    case = Case(kind, folder)
    parts = [range(4, case.made.starts[0]), *case.made.parts()]
    for number, event in case.some_events():
        damaged = next(part for part in parts if event.offset in part)
        field = list(FIELDS.values())[number % len(FIELDS)]
        cuts = case.cut_around(event)[(number + 1) % 5]
        check_it_fails(case, flipped(case.made.content, event.offset + field, 0x22), damaged, cuts)


def wrong_sizes(case: Case) -> Iterator[tuple[int, Event, bytes]]:
    """Yield logs with one wrong size: slightly wrong, or leading past the end of the log.

    None leads to another event of the log: without checksums, only `verify` detects that.
    """
    boundaries = {event.offset for event in case.outer_events()}
    for number, event in case.some_events():
        tried = (len(event.frame.data) + 1, len(event.frame.data) + 200, 40_000, (1 << 32) - 1)
        wrong = next(size for size in tried[number % 4 :] if event.offset + size not in boundaries)
        yield number, event, overwritten(case.made.content, event.offset + 9, wrong.to_bytes(4, "little"))


@pytest.mark.parametrize("kind", UNCHECKED)
def test_without_checksums_a_wrong_size_loses_one_transaction(kind: str, folder: Path) -> None:
    case = Case(kind, folder)
    for number, event, content in wrong_sizes(case):
        rows, _, [damage] = read_what_is_sound(case.plan(content), case.cut_around(event)[number % 5])
        assert damage.start <= event.offset < damage.end == case.next_start(event.offset)
        assert outside(rows, damage) == outside(case.rows, damage)


@pytest.mark.parametrize("kind", UNCHECKED)
def test_without_checksums_and_without_a_listener_a_wrong_size_fails(kind: str, folder: Path) -> None:
    case = Case(kind, folder)
    for number, event in case.some_events():
        content = overwritten(case.made.content, event.offset + 9, (3).to_bytes(4, "little"))
        each = list(failing(case.plan(content), case.cut_around(event)[number % 5]))
        assert [failed for _, _, failed in each].count(True) == 1


@pytest.mark.parametrize("cuts", [[], [700], list(range(0, 4000, 100))], ids=["one", "two", "many"])
def test_each_of_several_damages_is_reported(cuts: list[int], folder: Path) -> None:
    case = Case("named-crc32", folder)
    content = case.made.content
    for start in case.made.starts[1::3]:
        content = flipped(content, start + 25)
    rows, _, found = read_what_is_sound(case.plan(content), cuts)
    ends = [case.next_start(start) for start in case.made.starts[1::3]]
    assert [(damage.start, damage.end) for damage in found] == list(zip(case.made.starts[1::3], ends, strict=True))
    expected = case.rows
    for damage in found:
        expected = outside(expected, damage)
    assert rows == expected


@pytest.mark.parametrize("kind", ["named-crc32", "mariadb-none", "5.5-plain"])
def test_zeros_in_the_middle_of_a_log_are_skipped(kind: str, folder: Path) -> None:
    case = Case(kind, folder)
    hole = case.made.parts()[3]
    content = overwritten(case.made.content, hole.start + 40, bytes(len(hole)))
    for cuts in ([], [hole.start], [hole.stop - 1], list(range(0, len(content), 90))):
        rows, _, [damage] = read_what_is_sound(case.plan(content), cuts)
        assert damage.start in hole
        assert damage.end == case.next_start(case.next_start(hole.start))
        assert rows == outside(case.rows, damage)


@pytest.mark.parametrize("offset", [0, 4, 8, 13, 30, 90], ids=str)
def test_a_log_with_a_damaged_head_is_read_from_its_first_transaction_on(offset: int, folder: Path) -> None:
    case = Case("named-crc32", folder)
    log = case.plan(flipped(case.made.content, offset, 0x40))
    rows, events, [damage] = read_what_is_sound(log, [])
    first = case.made.starts[0]
    assert rows == case.rows
    assert [event.offset for event in events] == [event.offset for event in case.events if event.offset >= first]
    assert (damage.start, damage.end) == (min(offset, 4), first)
    assert not log.can_split


def test_a_log_with_a_damaged_head_does_not_hide_the_others_in_its_split(tmp_path: Path) -> None:
    sound = built_log("named-crc32", 200)
    paths = [tmp_path / f"binlog.00000{number}" for number in (1, 2, 3)]
    for path in paths:
        path.write_bytes(sound.content)
    paths[1].write_bytes(flipped(sound.content, 30))
    logs = tuple(map(plan, paths))
    reports = Reports()
    rows = split_rows([Split(logs)], SplitReader(history_of(*logs), reports))
    each = all_rows(sound.content, "").tables
    assert {name: len(of_table) for name, of_table in rows.tables.items()} == {
        name: 3 * len(of_table) for name, of_table in each.items()
    }
    assert [damage.file for damage in reports.found] == [str(paths[1])]


def test_damage_in_one_log_does_not_hide_the_next_one(tmp_path: Path) -> None:
    sound = built_log("named-crc32", 200)
    paths = [tmp_path / "binlog.000001", tmp_path / "binlog.000002"]
    paths[0].write_bytes(flipped(sound.content, sound.starts[3] + 30))
    paths[1].write_bytes(sound.content)
    logs = tuple(map(plan, paths))
    reports = Reports()
    rows = split_rows([Split(logs)], SplitReader(history_of(*logs), reports)).tables
    first = outside(all_rows(sound.content, str(paths[0])).tables, reports.found[0])
    second = all_rows(sound.content, str(paths[1])).tables
    assert rows == {name: [*first.get(name, []), *second[name]] for name in second}
