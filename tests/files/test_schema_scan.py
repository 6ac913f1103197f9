"""The DDL of logs is found before rows are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.files.schema_scan import read_history
from binspark.files.sources import LogSource
from binspark.files.split_reader import SplitReader
from binspark.files.splits import Split, plan_logs, split_logs
from binspark.frames import Framer
from binspark.schema.history import SchemaHistory
from binspark.testing.builder import (
    MARIADB_10_11,
    MYSQL_4_1,
    MYSQL_5_1_PRE_RELEASE,
    MYSQL_5_5,
    MYSQL_5_6,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    insert,
)
from tests.corpus.cases import corpus_logs, log_id
from tests.support.files.split_logs import overwritten
from tests.support.files.split_reading import (
    Reports,
    all_events,
    all_rows,
    history_of,
    plan,
    saved,
    split_rows,
    splits_at,
)
from tests.support.files.table_logs import NAMES, ONE, named_by_ddl, names_of

ALL_LOGS = corpus_logs(truncated=True)
servers = pytest.mark.parametrize("server", [MYSQL_9_7, MYSQL_5_5, MARIADB_10_11], ids=lambda kind: kind.server_version)


@servers
def test_every_split_has_the_column_names_at_its_position(server: ServerKind, tmp_path: Path) -> None:
    content = named_by_ddl(server).content
    path = saved(content, tmp_path)
    log = plan(path)
    reader = SplitReader(history_of(log))
    unsplit = all_rows(content, str(path))
    assert names_of(unsplit.tables["shop.t"]) == NAMES
    for at in range(100, len(content), 53):
        assert split_rows(splits_at(log, [at]), reader) == unsplit
    assert split_rows(splits_at(log, range(0, len(content), 60)), reader) == unsplit


def test_column_names_are_right_inside_payloads(tmp_path: Path) -> None:
    content = named_by_ddl(MYSQL_9_7, compress=True).content
    log = plan(saved(content, tmp_path))
    found = split_rows(splits_at(log, range(0, len(content), 50)), SplitReader(history_of(log)))
    assert names_of(found.tables["shop.t"]) == NAMES


def test_without_ddl_columns_have_numbers_instead_of_names(tmp_path: Path) -> None:
    content = named_by_ddl(MYSQL_9_7).content
    last = [frame.offset for frame in Framer().feed(content) if frame.type_code == 33][-1]
    log = plan(saved(content, tmp_path))
    found = split_rows([Split((log,), last, None)], SplitReader(SchemaHistory()))
    assert names_of(found.tables["shop.t"]) == [("@1",)]


@pytest.mark.parametrize("size", [1, 300, 1 << 20], ids=["parts", "logs", "together"])
def test_ddl_of_one_log_is_known_in_the_logs_after_it(size: int, tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.full_metadata = False
    log.ddl("CREATE TABLE t (first INT)", "shop")
    log.rotate()
    log.transaction(insert(ONE, (1,)))
    log.ddl("ALTER TABLE t RENAME COLUMN first TO second", "shop")
    log.rotate()
    log.transaction(insert(ONE, (2,)))
    log.rotate()
    log.transaction(insert(ONE, (3,)))
    logs = plan_logs([LogSource(str(path)) for path in log.save(tmp_path)])
    found = split_rows(split_logs(logs, size), SplitReader(history_of(*logs)))
    assert names_of(found.tables["shop.t"]) == [("first",), ("second",), ("second",)]


def test_schemas_known_before_the_logs_are_used_until_ddl_changes_them(tmp_path: Path) -> None:
    before = BinlogBuilder(MYSQL_9_7)
    before.ddl("CREATE TABLE t (old INT)", "shop")
    known = history_of(plan(saved(before.content, tmp_path))).catalog
    log = BinlogBuilder(MYSQL_9_7)
    log.full_metadata = False
    log.transaction(insert(ONE, (1,)))
    log.ddl("ALTER TABLE t RENAME COLUMN old TO new", "shop")
    log.transaction(insert(ONE, (2,)))
    planned = plan(saved(log.content, tmp_path))
    reader = SplitReader(read_history([planned], SchemaHistory(known)))
    for at in range(100, planned.size, 60):
        found = split_rows(splits_at(planned, [at]), reader)
        assert names_of(found.tables["shop.t"]) == [("old",), ("new",)]


@pytest.mark.parametrize("path", ALL_LOGS, ids=log_id)
def test_the_history_is_that_of_a_full_read(path: Path) -> None:
    log = plan(path)
    full = SchemaHistory()
    for event in all_events(path.read_bytes()[: log.size], str(path)).events:
        full.feed(event)
    found = history_of(log)
    assert found.entries == full.entries
    assert found.files == full.files
    assert found.catalog.tables == full.catalog.tables


@pytest.mark.parametrize("relay", [False, True], ids=["log", "relay-log"])
def test_ddl_before_damage_is_known_however_the_log_is_read(relay: bool, tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7, relay=relay)
    log.ddl("CREATE TABLE t (first INT)", "shop")
    log.ddl("ALTER TABLE t RENAME COLUMN first TO second", "shop")
    history = history_of(plan(saved(log.content + b"no event", tmp_path)))
    assert [entry.position.file for entry in history.entries] == [str(tmp_path / "binlog.000001")] * 2


@pytest.mark.parametrize("size", [100, 400, 1 << 20], ids=["parts", "halves", "one"])
@pytest.mark.parametrize("server", [MYSQL_9_7, MYSQL_5_5, MYSQL_5_6], ids=lambda kind: kind.server_version)
def test_ddl_after_damage_is_known(server: ServerKind, size: int, tmp_path: Path) -> None:
    """The rows event before the first ALTER TABLE is damaged. Without GTIDs, ALTER belongs to the same split."""
    log = named_by_ddl(server)
    rows = next(frame for frame in Framer().feed(log.content) if frame.type_code in (23, 30))
    content = overwritten(log.content, rows.offset + 9, (5000).to_bytes(4, "little"))
    planned = plan(saved(content, tmp_path))
    reports = Reports()
    found = split_rows(split_logs([planned], size), SplitReader(history_of(planned), reports))
    assert names_of(found.tables["shop.t"]) == NAMES[1:]
    assert len(reports.found) == 1


@pytest.mark.parametrize("server", [MYSQL_4_1, MYSQL_5_1_PRE_RELEASE], ids=lambda kind: kind.server_version)
def test_ddl_of_logs_that_cannot_be_split_is_known(server: ServerKind, tmp_path: Path) -> None:
    log = BinlogBuilder(server)
    log.ddl("CREATE TABLE t (first INT)", "shop")
    planned = plan(saved(log.content, tmp_path))
    assert not planned.can_split
    assert len(history_of(planned).entries) == 1


def test_compressed_statements_are_known(tmp_path: Path) -> None:
    log = BinlogBuilder(MARIADB_10_11)
    log.full_metadata = False
    log.mariadb_gtid("0-1-1", 1)
    log.query_compressed("CREATE TABLE t (first INT)" + " " * 300, "shop")
    log.transaction(insert(ONE, (1,)))
    planned = plan(saved(log.content, tmp_path))
    found = split_rows(splits_at(planned, [planned.size - 100]), SplitReader(history_of(planned)))
    assert names_of(found.tables["shop.t"]) == [("first",)]
