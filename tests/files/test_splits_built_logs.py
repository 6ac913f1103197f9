"""Logs of every kind, cut at any byte: the splits together are the log."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.files.split_reader import SplitReader
from binspark.files.splits import Split, split_logs
from binspark.testing.builder import (
    MYSQL_3_23,
    MYSQL_4_1,
    MYSQL_5_0,
    MYSQL_5_1_PRE_RELEASE,
    MYSQL_5_6,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    delete,
    insert,
    update,
)
from tests.support.examples import examples
from tests.support.files.split_logs import DOCUMENTS, ITEMS, KINDS, ORDERS, BuiltLog, built_log, flipped, writer_of
from tests.support.files.split_reading import (
    Rows,
    all_events,
    all_rows,
    history_of,
    plan,
    saved,
    split_events,
    split_rows,
    splits_at,
    value_in,
)

kinds = pytest.mark.parametrize("kind", KINDS)
OLD_SERVERS = [MYSQL_3_23, MYSQL_4_1, MYSQL_5_0, MYSQL_5_1_PRE_RELEASE]
FOUR_GIB = 1 << 32


def rows_in_splits(path: Path, cuts: list[int]) -> Rows:
    log = plan(path)
    return split_rows(splits_at(log, cuts), SplitReader(history_of(log)))


@kinds
def test_one_cut_anywhere_neither_loses_nor_repeats_a_row(kind: str, tmp_path: Path) -> None:
    log = built_log(kind, 300)
    path = saved(log.content, tmp_path)
    unsplit = all_rows(log.content, str(path))
    around = {start + step for start in log.starts[2:6] for step in (0, 1, 70)}
    cuts = sorted(around | {4, 130, len(log.content) - 1})
    assert [rows_in_splits(path, [cut]) for cut in cuts] == [unsplit] * len(cuts)


@kinds
def test_one_cut_anywhere_neither_loses_nor_repeats_an_event(kind: str, tmp_path: Path) -> None:
    log = built_log(kind, 300)
    path = saved(log.content, tmp_path)
    planned, reader = plan(path), SplitReader(history_of(plan(path)))
    unsplit = all_events(log.content, str(path))
    cuts = sorted({*range(1, len(log.content), 41), *log.starts})
    wrong = [cut for cut in cuts if split_events(splits_at(planned, [cut]), reader) != unsplit]
    assert wrong == []


@kinds
def test_transactions_larger_than_many_splits_are_read_by_one(kind: str, tmp_path: Path) -> None:
    log = built_log(kind, 5000)
    path = saved(log.content, tmp_path)
    planned, reader = plan(path), SplitReader(history_of(plan(path)))
    unsplit = all_rows(log.content, str(path))
    each = [split_rows([split], reader) for split in splits_at(planned, range(0, len(log.content), 512))]
    documents = [row for rows in each for row in rows.tables.get("shop.documents", [])]
    assert documents == unsplit.tables["shop.documents"]
    assert unsplit.refusal is None
    assert [len(rows.tables["shop.documents"]) for rows in each if "shop.documents" in rows.tables] == [3, 1]


@kinds
def test_a_split_owns_the_transactions_that_begin_in_it(kind: str, tmp_path: Path) -> None:
    log = built_log(kind)
    planned = plan(saved(log.content, tmp_path))
    reader = SplitReader(history_of(planned))
    for part in log.parts():
        events = list(reader.events(Split((planned,), part.start, part.start + 1), expand=False))
        assert (events[0].offset, events[-1].end_offset) == (part.start, part.stop)
        assert list(reader.events(Split((planned,), part.start + 1, part.stop), expand=False)) == []


_contents = st.binary(max_size=40) | st.binary(min_size=500, max_size=1500)
_document = st.tuples(st.integers(0, 99), st.none() | _contents)
_order = st.tuples(st.integers(0, 99), st.none() | st.text(max_size=9))
_change = st.one_of(
    st.lists(_document, min_size=1, max_size=4).map(lambda rows: insert(DOCUMENTS, *rows)),
    st.tuples(_order, _order).map(lambda pair: update(ORDERS, pair)),
    st.integers(0, 99).map(lambda number: delete(ITEMS, (number,))),
)
_step = st.lists(_change, max_size=3) | st.sampled_from(("CREATE TABLE x (id INT)", "DROP TABLE x", "TRUNCATE TABLE y"))


@st.composite
def _logs(draw: st.DrawFn) -> BuiltLog:
    writer = writer_of(draw(st.sampled_from(KINDS)))
    for step in draw(st.lists(_step, min_size=1, max_size=9)):
        if isinstance(step, str):
            writer.ddl(step)
        else:
            writer.transaction(*step)
    writer.log.stop()
    return writer.made()


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(_logs(), st.lists(st.floats(0, 1), max_size=12))
def test_any_log_cut_anywhere_is_complete(log: BuiltLog, cuts: list[float]) -> None:
    with TemporaryDirectory() as folder:
        path = saved(log.content, Path(folder))
        splits = splits_at(plan(path), [int(cut * len(log.content)) for cut in cuts])
        reader = SplitReader(history_of(plan(path)))
        assert split_rows(splits, reader) == all_rows(log.content, str(path))
        assert split_events(splits, reader) == all_events(log.content, str(path))


@pytest.mark.parametrize("named", [True, False], ids=["named", "unnamed"])
def test_a_log_past_4_gib_is_split_where_its_positions_wrap(named: bool, tmp_path: Path) -> None:
    writer = writer_of("named-crc32" if named else "5.6-unnamed-crc32")
    writer.log.skip_to(FOUR_GIB - 500)
    for number in range(6):
        writer.transaction(insert(ITEMS, (number,), (number,)))
    [path] = writer.log.save(tmp_path)
    planned = plan(path)
    assert planned.size > FOUR_GIB
    for boundary in range(FOUR_GIB - 500, planned.size, 61):
        splits = [Split((planned,), FOUR_GIB - 500, boundary), Split((planned,), boundary, None)]
        rows = split_rows(splits, SplitReader(history_of()))
        assert [value_in(row, "id") for row in rows.tables["shop.items"]] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]


def test_nothing_is_lost_when_bytes_before_begin_look_like_a_gtid(tmp_path: Path) -> None:
    """The last bytes of the event before BEGIN look like the header of a GTID that ends there."""
    log = BinlogBuilder(MYSQL_5_6)
    looks_like_gtid = bytes(4) + bytes([33]) + bytes(4) + (19 + 4).to_bytes(4, "little") + bytes(6)
    for number in range(3):
        log.query("BEGIN")
        log.write(log.change_specs((insert(ITEMS, (number,)),), log.default_rows_codes()))
        log.xid(1)
        log.append_block(1, looks_like_gtid)
    log.stop()
    path = saved(log.content, tmp_path)
    unsplit = all_rows(log.content, str(path))
    assert len(unsplit.tables["shop.items"]) == 3
    for boundary in range(1, len(log.content), 5):
        assert rows_in_splits(path, [boundary]) == unsplit


@kinds
def test_a_transaction_with_a_wrong_position_belongs_to_the_split_of_the_one_before(kind: str, tmp_path: Path) -> None:
    """Nothing else in the log is wrong, so nothing is lost. With checksums it would be damage."""
    log = built_log(kind.replace("crc32", "none"), 300)
    content = flipped(log.content, log.starts[3] + 13)
    path = saved(content, tmp_path)
    unsplit = all_rows(content, str(path))
    assert unsplit.tables == all_rows(log.content, str(path)).tables
    cuts = [log.starts[3] + step for step in (-1, 0, 1, 20, 60, 90, 130, 200)]
    assert [rows_in_splits(path, [cut]) for cut in cuts] == [unsplit] * len(cuts)


def test_a_log_inside_a_value_is_not_read_as_a_log(tmp_path: Path) -> None:
    inside = BinlogBuilder(MYSQL_9_7)
    for number in range(20):
        inside.transaction(insert(ITEMS, (number,)))
    log = BinlogBuilder(MYSQL_9_7)
    for _ in range(3):
        log.transaction(insert(DOCUMENTS, (1, inside.content)))
    log.stop()
    path = saved(log.content, tmp_path)
    rows = rows_in_splits(path, list(range(0, len(log.content), 97)))
    assert list(rows.tables) == ["shop.documents"]
    assert rows == all_rows(log.content, str(path))


@pytest.mark.parametrize("server", OLD_SERVERS, ids=lambda kind: kind.server_version)
def test_logs_of_old_servers_are_read_as_without_splits(server: ServerKind, tmp_path: Path) -> None:
    """Logs before version 4, and logs with other type codes, are never split."""
    log = BinlogBuilder(server)
    for number in range(5):
        log.ddl(f"CREATE TABLE t{number} (id INT)", "shop")
        log.transaction(f"INSERT INTO t{number} VALUES (1)")
    log.stop()
    path = saved(log.content, tmp_path)
    planned = plan(path)
    splits = split_logs([planned], 100)
    assert (len(splits) == 1) == (server is not MYSQL_5_0)
    reader = SplitReader(history_of(planned))
    assert split_events(splits, reader) == all_events(log.content, str(path))
    assert split_rows(splits, reader) == all_rows(log.content, str(path))
