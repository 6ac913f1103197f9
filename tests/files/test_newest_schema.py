"""The newest schema of a table is that of its last rows, however far back they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.event import Event, TableMap
from binspark.files import header_scan, schema_scan
from binspark.files.schema_scan import newest_schema
from binspark.files.sources import LogSource
from binspark.files.split_reader import SplitReader
from binspark.files.splits import PlannedLog, Split, plan_logs
from binspark.frames import ChecksumAlgorithm
from binspark.schema.history import SchemaHistory
from binspark.testing.builder import (
    MARIADB_10_11,
    MYSQL_5_5,
    MYSQL_9_7,
    BinlogBuilder,
    ServerKind,
    insert,
)
from tests.corpus.cases import corpus_logs, log_id
from tests.support.files.split_logs import overwritten
from tests.support.files.split_reading import all_events, history_of, plan, saved, split_rows
from tests.support.files.table_logs import ONE, OTHER, TWO, named_by_ddl, names_of

ALL_LOGS = corpus_logs(truncated=True)
servers = pytest.mark.parametrize("server", [MYSQL_9_7, MYSQL_5_5, MARIADB_10_11], ids=lambda kind: kind.server_version)


def last_map(events: list[Event], name: str) -> Event | None:
    maps = [event for event in events if isinstance(event.body, TableMap)]
    return next((event for event in reversed(maps) if f"{event.body.schema}.{event.body.table}" == name), None)


@pytest.mark.parametrize("window", [200, 1500], ids=str)
@pytest.mark.parametrize("path", ALL_LOGS[::2], ids=log_id)
def test_the_last_map_is_found_over_many_windows(path: Path, window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_scan, "_WINDOW", window)
    monkeypatch.setattr(header_scan, "_WINDOW", 128)
    log = plan(path)
    events = all_events(path.read_bytes()[: log.size], str(path)).events
    names = {f"{event.body.schema}.{event.body.table}" for event in events if isinstance(event.body, TableMap)}
    history = history_of(log)
    for name in sorted(names)[:6]:
        found = newest_schema([log], name, history)
        assert found is not None
        assert found[1] == last_map(events, name)


@pytest.mark.parametrize("window", [64, 100, 333, 64 << 20], ids=str)
@pytest.mark.parametrize("compress", [False, True], ids=["rows", "payloads"])
@servers
def test_the_newest_schema_is_that_of_the_last_rows(
    server: ServerKind, compress: bool, window: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_scan, "_WINDOW", window)
    log = named_by_ddl(server, compress=compress and server is not MYSQL_5_5)
    log.ddl("ALTER TABLE t ADD COLUMN unused INT", "shop")
    for number in range(9):
        log.transaction(insert(OTHER, (number,)))
    planned = plan(saved(log.content, tmp_path))
    history = history_of(planned)
    files, entries = list(history.files), list(history.entries)
    found = newest_schema([planned], "shop.t", history)
    assert found is not None
    assert found[0].column_names == ("other",)
    assert (history.files, history.entries) == (files, entries)


def test_the_schema_is_that_in_the_newest_log_with_rows_of_the_table(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    for version in (ONE, TWO, OTHER):
        log.transaction(insert(version, (1,) + ("x",) * (len(version.columns) - 1)))
        log.rotate()
    logs = plan_logs([LogSource(str(path)) for path in log.save(tmp_path)])
    found = newest_schema(logs, "shop.t", SchemaHistory())
    assert found is not None
    assert found[0].column_names == ("x", "y")
    assert found[1].file == logs[1].name


@pytest.mark.parametrize("name", ["shop.none", "none.t", "shop.ttt", "shop", "shop." + "t" * 300, "é" * 200 + ".t"])
def test_a_table_without_rows_in_any_log_has_no_schema(name: str, tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(OTHER, (1,)), compress=True)
    log.transaction(insert(ONE, (1,)))
    assert newest_schema([plan(saved(log.content, tmp_path))], name, SchemaHistory()) is None


@pytest.mark.parametrize("relay", [False, True], ids=["log", "relay-log"])
def test_the_last_map_before_damage_is_found(relay: bool, tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7, relay=relay)
    log.transaction(insert(TWO, (1, "x")))
    found = newest_schema([plan(saved(log.content + b"no event", tmp_path))], "shop.t", SchemaHistory())
    assert found is not None
    assert found[0].column_names == ("x", "y")


def test_a_payload_that_cannot_be_expanded_hides_no_map_before_it(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7, checksum=ChecksumAlgorithm.NONE)
    log.transaction(insert(TWO, (1, "x")), compress=True)
    start = log.offset
    log.transaction(insert(OTHER, (1,)), compress=True)
    payload = log.content.index(b"\x28\xb5\x2f\xfd", start)
    planned = plan(saved(overwritten(log.content, payload, bytes(12)), tmp_path))
    found = newest_schema([planned], "shop.t", SchemaHistory())
    assert found is not None
    assert found[0].column_names == ("x", "y")


def test_a_log_that_was_not_scanned_is_read_with_the_schemas_known_before(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.ddl("CREATE TABLE t (first INT)", "shop")
    known = SchemaHistory(history_of(plan(saved(log.content, tmp_path))).catalog)
    log = BinlogBuilder(MYSQL_9_7)
    log.full_metadata = False
    log.transaction(insert(ONE, (1,)))
    planned: PlannedLog = plan(saved(log.content, tmp_path))
    found = split_rows([Split((planned,))], SplitReader(known))
    assert names_of(found.tables["shop.t"]) == [("first",)]
    found_schema = newest_schema([planned], "shop.t", known)
    assert found_schema is not None
    assert found_schema[0].column_names == ("first",)
