"""Whether a kernel cuts transactions or Python cuts event by event, the new log has the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import addressof, c_int64
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import binspark
from binspark.changes.selection_options import make_selection
from binspark.cut import CutOptions, CutSummary, cut_logs
from binspark.cut import run as cut_run
from binspark.cut.bulk import BulkCutter
from binspark.cut.clock import LogicalClock
from binspark.event import GtidEvent
from binspark.files import find_logs, known_maps
from binspark.files.positions import part_between
from binspark.kernels import cache
from binspark.kernels.cut.gtids import advance_clock
from binspark.kernels.cut.layout import KEPT_NUMBERS
from binspark.testing.builder import (
    MARIADB_10_11,
    MYSQL_5_5,
    MYSQL_9_7,
    BinlogBuilder,
    delete,
    insert,
    integer,
    table,
    update,
    varchar,
)
from binspark.verify.chain import verify_logs
from tests.corpus.cases import case_of, corpus_logs
from tests.support.examples import examples

UUID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"
ORDERS = table("shop.orders", integer("id"))
VISITS = table("shop.visits", integer("id"))
LOGS: dict[str, list[Path]] = {}
for _log in corpus_logs():
    LOGS.setdefault(f"{case_of(_log)}/{_log.stem}", []).append(_log)
CUTS: dict[str, dict[str, Any]] = {
    "everything": {},
    "tables": {"tables": "shop.*", "exclude_tables": "shop.orders"},
    "rows": {"where": "id > 1"},
    "almost all rows": {"where": "id <> 2"},
    "a thread": {"thread_id": 8},
    "inserts, nothing empty": {"operations": "insert", "drop_empty": True},
}


@pytest.fixture(autouse=True, scope="module")
def _kept_kernels() -> None:
    cache.enable()


Cutter = Callable[..., tuple[bytes | str, CutSummary | None]]


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cutter:
    """Return what cuts logs in both ways, and returns what both wrote: a log, or the error."""

    def cut_both(logs: Any, *, drop_empty: bool = False, **options: Any) -> tuple[bytes | str, CutSummary | None]:
        results = []
        for in_bulk in (True, False):
            monkeypatch.setattr(cut_run, "pays_in_bulk", lambda _size, in_bulk=in_bulk: in_bulk)
            results.append(_cut(logs, tmp_path / "new", CutOptions(make_selection(dict(options)), drop_empty)))
        assert results[0] == results[1]
        return results[0]

    return cut_both


def _cut(logs: Any, target: Path, options: CutOptions) -> tuple[bytes | str, CutSummary | None]:
    target.unlink(missing_ok=True)
    try:
        summary = cut_logs(part_between(find_logs(logs), options.selection), target, options)
    except binspark.BinlogError as error:
        return str(error), None
    return target.read_bytes(), summary


@pytest.mark.parametrize("logs", LOGS)
def test_recorded_logs_are_cut_in_both_ways_alike(logs: str, cut: Cutter) -> None:
    for options in CUTS.values():
        cut(LOGS[logs], **options)


def mixed_log(server: Any) -> BinlogBuilder:
    """Return logs with what the kernel cuts and what it refuses."""
    builder = BinlogBuilder(server)
    for number in range(1, 9):
        if number == 3:
            builder.ddl("CREATE TABLE orders (id INT)", "shop")
        elif number == 5:
            builder.transaction(insert(VISITS, (number,)))
        else:
            builder.transaction(insert(ORDERS, (number,)), insert(VISITS, *((n,) for n in range(80 * number))))
        if number == 6:
            builder.rotate()
    builder.stop()
    return builder


@pytest.mark.parametrize("server", [MYSQL_9_7, MARIADB_10_11], ids=["mysql", "mariadb"])
@pytest.mark.parametrize(
    "options",
    [
        {"tables": "shop.orders"},
        {"tables": "shop.orders", "drop_empty": True},
        {"tables": "shop.visits", "start_position": "1200", "drop_empty": True},
        {"exclude_tables": "shop.orders", "operations": "insert"},
        {"operations": "delete"},
        {"include": (2, 4, 5, 7)},
        {"exclude": (1, 2, 6)},
        {"server_id": 1},
        {"server_id": 77},
        {"start_position": "binlog.000001:1000", "stop_position": "binlog.000002:400"},
        {"committed_from": "2035-01-01"},
        {"start_datetime": "1971-01-01", "stop_datetime": "2040-01-01"},
        {"thread_id": 7},
        {"thread_id": 8, "tables": "shop.orders"},
        {"where": "id = 7"},
        {"where": "id < 560"},
        {"where": "id <> 3", "operations": "insert", "exclude_tables": "shop.orders"},
        {"where": "id = 3", "tables": "shop.visits", "drop_empty": True},
        {"where": "id > 600", "start_position": "1200"},
    ],
    ids=str,
)
def test_filters_select_the_same_transactions(server: Any, options: Any, cut: Cutter, tmp_path: Path) -> None:
    logs = mixed_log(server).save(tmp_path)
    for name in ("include", "exclude"):
        numbers = options.get(name)
        if numbers is not None:
            prefix = f"{UUID}:" if server is MYSQL_9_7 else "0-1-"
            options = {f"{name}_gtids": ",".join(f"{prefix}{number}" for number in numbers)}
    content, summary = cut(logs, **options)
    assert summary is not None, content


def test_many_gtids_are_decided_by_python_alike(cut: Cutter, tmp_path: Path) -> None:
    builder = BinlogBuilder()
    for number in range(1, 301):
        builder.transaction(insert(ORDERS, (number,)))
    builder.stop()
    odd = ",".join(f"{UUID}:{number}" for number in range(1, 301, 2))
    _, summary = cut(builder.save(tmp_path), exclude_gtids=odd)
    assert summary is not None
    assert (summary.transactions, summary.removed) == (150, 150)


def test_the_kernel_cuts_complete_transactions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Python sees no transaction of a plain log, so the comparisons above compare something."""
    builder = BinlogBuilder()
    for number in range(1, 51):
        builder.transaction(insert(ORDERS, (number,)), insert(VISITS, (number,)))
    builder.stop()
    (log,) = builder.save(tmp_path)
    counts = []
    kernel_cut = BulkCutter.cut

    def counted(*arguments: Any) -> Any:
        part = kernel_cut(*arguments)
        counts.append(0 if part is None else part.transactions)
        return part

    monkeypatch.setattr(cut_run, "pays_in_bulk", lambda _size: True)
    monkeypatch.setattr(BulkCutter, "cut", counted)
    for options in ({}, {"tables": "shop.visits"}, {"where": "id > 0"}, {"thread_id": 8}):
        counts.clear()
        _cut(log, tmp_path / "new", CutOptions(make_selection(dict(options))))
        assert sum(counts) == 50


def test_a_transaction_that_maps_a_table_id_twice_is_cut(cut: Cutter, tmp_path: Path) -> None:
    builder = BinlogBuilder()
    builder.transaction(insert(ORDERS, (1,)))
    builder.gtid(None)
    builder.query("BEGIN")
    for number in range(3):
        for mapped in (ORDERS, PEOPLE):
            builder.table_map(mapped, 7)
            builder.rows(insert(mapped, (number, "a", "b")[: len(mapped.columns)]), 7)
    builder.xid(1)
    builder.transaction(insert(ORDERS, (2,)))
    builder.stop()
    logs = builder.save(tmp_path)
    for options in CUTS.values():
        _, summary = cut(logs, **options)
        assert summary is not None


def test_a_transaction_with_more_tables_than_are_kept_is_cut(
    cut: Cutter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_maps, "_MAX_KNOWN_MAPS", 3)
    builder = BinlogBuilder()
    for number in range(1, 4):
        builder.transaction(*(insert(table(f"shop.t{index}", integer("id")), (number,)) for index in range(5)))
    builder.stop()
    _, summary = cut(builder.save(tmp_path), tables="shop.t1,shop.t4")
    assert summary is not None
    assert summary.transactions == 3


def test_a_table_map_that_is_too_large_to_be_kept_is_cut(
    cut: Cutter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_maps, "_MAX_KNOWN_BYTES", 50)
    builder = BinlogBuilder()
    for number in range(1, 4):
        builder.transaction(insert(ORDERS, (number,)), insert(PEOPLE, (number, "a", "b")))
    builder.stop()
    logs = builder.save(tmp_path)
    _, summary = cut(logs)
    assert summary is not None
    assert summary.transactions == 3
    assert verify_logs(logs, in_bulk=True).findings == verify_logs(logs, in_bulk=False).findings


def test_damage_is_the_same_error(cut: Cutter, tmp_path: Path) -> None:
    builder = mixed_log(MYSQL_9_7)
    logs = builder.save(tmp_path)
    content = bytearray(logs[0].read_bytes())
    for at in range(150, len(content), 97):
        damaged = bytearray(content)
        damaged[at] ^= 0x15
        logs[0].write_bytes(damaged)
        cut(logs[0])
        cut(logs[0], tables="shop.orders")
        cut(logs[0], where="id > 2")
        logs[0].write_bytes(content[:at])
        cut(logs[0])


def test_transactions_that_are_larger_than_a_window_are_cut(cut: Cutter, tmp_path: Path) -> None:
    builder = BinlogBuilder()
    for count in (1, 400_000, 1, 2):
        builder.transaction(insert(ORDERS, *((n,) for n in range(count))), insert(VISITS, (1,)))
    builder.stop()
    logs = builder.save(tmp_path)
    assert logs[0].stat().st_size > 1 << 20
    cut(logs)
    cut(logs, exclude_tables="shop.visits")
    cut(logs, where="id > 200000")


PEOPLE = table("shop.people", integer("id"), varchar("name", 60), varchar("note", 300), key=("id",))
IDS, TEXTS = st.integers(0, 9), st.none() | st.text("ab", max_size=70)
PERSON = st.tuples(IDS, TEXTS, TEXTS)
CHANGES = st.one_of(
    st.lists(PERSON, min_size=1, max_size=9).map(lambda rows: insert(PEOPLE, *rows)),
    st.lists(PERSON, min_size=1, max_size=9).map(lambda rows: delete(PEOPLE, *rows)),
    st.lists(st.tuples(PERSON, PERSON), min_size=1, max_size=9).map(lambda rows: update(PEOPLE, *rows)),
    st.lists(st.tuples(IDS), min_size=1, max_size=9).map(lambda rows: insert(ORDERS, *rows)),
)


@given(
    st.sampled_from([MYSQL_9_7, MYSQL_5_5, MARIADB_10_11]),
    st.lists(st.lists(CHANGES, min_size=1, max_size=4), min_size=1, max_size=6),
    st.sampled_from(["id > 4", "id <> 4", "id = 4", "name IS NULL", "note < 'b' OR id = 1", "id >= 0"]),
    st.booleans(),
)
@settings(max_examples=examples(40), deadline=None)
def test_exactly_the_rows_that_a_condition_selects_are_left(
    server: Any, transactions: list[list[Any]], where: str, drop_empty: bool
) -> None:
    builder = BinlogBuilder(server)
    for changes in transactions:
        builder.transaction(*changes)
    builder.stop()
    results = []
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        logs, new = builder.save(Path(folder)), Path(folder) / "new"
        for in_bulk in (True, False):
            patch.setattr(cut_run, "pays_in_bulk", lambda _size, in_bulk=in_bulk: in_bulk)
            results.append(_cut(logs, new, CutOptions(make_selection({"where": where}), drop_empty)))
        selected = [(row.op, row.table, row.before_image, row.after_image) for row in binspark.rows(logs, where=where)]
        left = [(row.op, row.table, row.before_image, row.after_image) for row in binspark.rows(new)]
    assert results[0] == results[1]
    assert left == selected


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 4)), max_size=60), st.integers(0, 3))
@settings(max_examples=examples(50), deadline=None)
def test_the_clock_of_the_kernel_is_that_of_python(steps: list[tuple[int, int]], files: int) -> None:
    reference, compiled = LogicalClock(), LogicalClock()
    body = (c_int64 * 6)()  # the two numbers are 26 and 34 bytes into the body of a GTID event
    view = memoryview(body).cast("B")
    for file in range(files + 1):
        reference.begin_file()
        compiled.begin_file()
        number = 0
        for back, forward in steps[file:]:
            number += forward
            old = max(0, number - 1 - back)
            moved = reference.moved(
                GtidEvent(0, UUID, 1, logical_clock_typecode=2, last_committed=old, sequence_number=number)
            )
            view[26:34], view[34:42] = old.to_bytes(8, "little"), number.to_bytes(8, "little")
            advance_clock(compiled.address, addressof(body))
            found = int.from_bytes(view[26:34], "little"), int.from_bytes(view[34:42], "little")
            assert isinstance(moved, GtidEvent)
            assert found == (moved.last_committed, moved.sequence_number)


def test_the_clock_forgets_old_numbers() -> None:
    clock = LogicalClock()
    for number in range(1, KEPT_NUMBERS + 11):
        body = clock.moved(GtidEvent(0, UUID, 1, logical_clock_typecode=2, last_committed=3, sequence_number=number))
    assert isinstance(body, GtidEvent)
    assert body.last_committed == 9
