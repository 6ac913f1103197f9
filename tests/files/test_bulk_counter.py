"""What is selected of logs, counted by kernels and event by event: the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.changes.selection_options import make_selection
from binspark.columns import event_list, log_scan, scan_memory, transaction_list
from binspark.errors import DecodeError, OptionError
from binspark.event import Rows
from binspark.files import find_logs
from binspark.files.condition_counts import ConditionCounts
from binspark.files.contents import BulkCounter, SelectedContents, can_count_in_bulk
from binspark.files.positions import part_between
from binspark.files.read import source_events
from binspark.frames.header import HEADER_LENGTH
from binspark.schema.history import SchemaHistory
from binspark.testing.builder import (
    MARIADB_11_8,
    MYSQL_5_5,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    delete,
    insert,
    integer,
    table,
    update,
)
from binspark.transactions.contents import Contents
from tests.corpus.cases import case_logs, case_of, corpus_logs
from tests.support.examples import examples
from tests.support.files.selections import Options, selections_of
from tests.support.transactions.grammar_logs import event_soups, stories

CASES = [
    case
    for case in sorted({case_of(log) for log in corpus_logs(truncated=True)})
    if all(map(can_count_in_bulk, find_logs(case_logs(case))))
]
SMALL = ["mysql/compressed", "mysql/xa", "mysql/gtid-tagged", "mariadb/gtid-domains", "mysql/crash-truncated"]
many = settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
Counted = tuple[Contents, list[str]] | str


def by_event(logs: Sequence[Path], options: Options) -> Counted:
    """Count event by event."""
    selection, errors = make_selection(options), []
    counts = None if selection.where is None else ConditionCounts(selection, SchemaHistory())
    counter = SelectedContents(selection, counts)
    try:
        for source in part_between(find_logs(logs), selection, with_earlier=False):
            try:
                if counts is None:
                    counter.read(source_events(source), source.start)
                else:
                    counts.begin_source(source)
                    counter.read(counts.follow(source_events(source)), source.start)
            except DecodeError as error:
                errors.append(str(error))
    except OptionError as error:
        return str(error)
    return counter.finish(), errors


def in_bulk(logs: Sequence[Path], options: Options) -> Counted:
    """Count by kernels."""
    selection, errors = make_selection(options), []
    counter = BulkCounter(selection)
    try:
        for source in part_between(find_logs(logs), selection, with_earlier=False):
            try:
                counter.count(source)
            except DecodeError as error:
                errors.append(str(error))
    except OptionError as error:
        return str(error)
    return counter.finish(), errors


def assert_same(logs: Sequence[Path], options: Options) -> None:
    assert in_bulk(logs, options) == by_event(logs, options), options


@pytest.mark.parametrize(("number", "case"), list(enumerate(CASES)), ids=CASES)
def test_both_count_the_same_of_recorded_logs(number: int, case: str) -> None:
    logs = case_logs(case)
    for options in selections_of(logs)[number % 6 :: 6]:  # some of them with each log, to be quick
        assert_same(logs, options)


@pytest.mark.parametrize("case", SMALL)
def test_windows_and_batches_may_be_small(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_scan, "WINDOW", 300)
    monkeypatch.setattr(scan_memory, "_WINDOW", 1)
    monkeypatch.setattr(transaction_list, "_CAPACITY", 3)
    monkeypatch.setattr(event_list, "_CAPACITY", 3)
    logs = case_logs(case)
    for options in selections_of(logs)[::2]:
        assert_same(logs, options)


@many
@given(stories() | event_soups(), st.data())
def test_both_count_the_same_of_random_logs(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("log") / "binlog.000001"
    if data.draw(st.booleans()):  # damage
        at = data.draw(st.integers(min_value=200, max_value=max(200, len(content))))
        content = content[:at] if data.draw(st.booleans()) else content[:at] + b"\xff" + content[at + 1 :]
    path.write_bytes(content)
    if can_count_in_bulk(find_logs(path)[0]):
        assert_same([path], data.draw(st.sampled_from(selections_of([path]))))


ORDERS, ITEMS = table("shop.orders", integer("id"), integer("amount")), table("shop.items", integer("id"))
CONDITIONS: list[Options] = [
    {"where": "id = 3"},
    {"where": "amount > 50 or id = 7"},
    {"where": "id > 5", "tables": "shop.orders"},
    {"where": "id > 5", "tables": ["shop.*"], "operations": "update,delete"},
    {"where": "id < 4", "thread_id": 2},
    {"where": "id > 100"},
    {"where": "id >= 0", "start_position": 900, "stop_position": 4000},
    {"where": "no_column = 1"},
]


def changed_log(folder: Path, server: ServerKind, *, compressed: bool) -> list[Path]:
    """Write transactions that change one or two tables, in two logs; in the first the last one is not complete."""
    log = BinlogBuilder(server)
    for number in range(20):
        log.timestamp, log.thread_id = 1_794_744_000 + number, 1 + number % 3
        changes = (
            insert(ORDERS, (number, 10 * number), (number + 1, 5)),
            update(ITEMS, ((number,), (number + 1,))),
            delete(ORDERS, (number % 4, 0)),
        )
        log.transaction(*changes[number % 2 :], compress=compressed or None)
        if number == 9:
            log.rotate()
    first, second = log.save(folder)
    if not compressed:
        first.write_bytes(first.read_bytes()[: -(31 + 27)])  # without ROTATE and XID
    return [first, second]


@pytest.mark.parametrize("options", CONDITIONS, ids=str)
@pytest.mark.parametrize(
    ("server", "compressed"),
    [(MYSQL_9_7, False), (MYSQL_9_7, True), (MARIADB_11_8, False)],
    ids=["mysql", "compressed", "mariadb"],
)
def test_both_count_the_rows_that_a_condition_selects(
    tmp_path: Path, server: ServerKind, compressed: bool, options: Options
) -> None:
    assert_same(changed_log(tmp_path, server, compressed=compressed), options)


@pytest.mark.parametrize("options", [{}, {"tables": ["shop.items"]}, {"operations": "insert"}])
def test_events_after_rows_that_are_refused_are_not_counted(tmp_path: Path, options: Options) -> None:
    """Without checksums, only what reads the rows finds that they are damaged."""
    builder = BinlogBuilder(MYSQL_5_5)
    for number in range(3):
        builder.transaction(insert(ITEMS, (number,)))
    [path] = builder.save(tmp_path)
    rows = [event.offset for event in source_events(find_logs(path)[0]) if isinstance(event.body, Rows)]
    content = bytearray(path.read_bytes())
    content[rows[1] + HEADER_LENGTH + 8] = 0xFF  # the number of columns
    path.write_bytes(content)
    found = in_bulk([path], options)
    assert not isinstance(found, str)
    counted, errors = found
    assert [f"{path}:{rows[1]} (WRITE_ROWS" in error for error in errors] == [True]
    assert [tally.count for name, tally in counted.types.items() if name.startswith("WRITE_ROWS")] == [1]
    assert_same([path], options)
