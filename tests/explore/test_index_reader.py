"""Logs that are more than a sound file of this machine: damaged, incomplete, compressed, encrypted, remote, many."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from binspark.columns.transaction_batch import ClosedTransactions, Flags
from binspark.errors import BinlogError
from binspark.explore.clear_copies import ClearCopies
from binspark.explore.events import event_detail, unit_events
from binspark.explore.explorer import Explorer
from binspark.explore.jump import jump
from binspark.explore.row_history import row_history
from binspark.explore.search import Cursor, search
from binspark.explore.totals import Totals
from binspark.explore.units import Unit, UnitKind
from binspark.files.keyring_file import keyring_storage
from binspark.files.sources import find_logs
from binspark.position import log_name
from binspark.testing.builder import BinlogBuilder, insert, integer, table, update, varchar
from tests.corpus.cases import case_logs
from tests.support.encryption.encrypting import encrypt_mysql, mysql_log, save_mysql_keyring
from tests.support.explore.logs import explored, many_transactions, units_of

TRANSACTION = UnitKind.TRANSACTION
ITEMS = table("shop.items", integer("id"), varchar("name", 100), key=("id",))


def kinds(units: list[Unit]) -> list[str]:
    return [unit.kind.value for unit in units]


def assert_complete(explorer: Explorer, size: int) -> list[Unit]:
    """Check that all bytes of the only log are in units, each once, and return them."""
    (log,) = explorer.logs
    units = units_of(explorer, log, page=7)
    assert [unit.number for unit in units] == list(range(log.index.units))
    assert [unit.start for unit in units] == [0, *(unit.end for unit in units[:-1])]
    assert units[-1].end == size
    return units


def test_what_comes_after_damage_is_listed_and_explained(tmp_path: Path) -> None:
    (path,) = many_transactions(400).save(tmp_path)
    data = bytearray(path.read_bytes())
    sound = units_of(explorer := explored(tmp_path), explorer.logs[0])
    for number in (100, 101, 300):
        data[sound[number].start + 100] ^= 0xFF
    path.write_bytes(data)
    explorer = explored(tmp_path)
    units = assert_complete(explorer, len(data))
    damaged = [unit for unit in units if unit.kind is UnitKind.DAMAGED]
    assert len(damaged) == 3
    assert all("checksum mismatch" in unit.about["text"] for unit in damaged)
    complete = [unit for unit in units if unit.kind is TRANSACTION and unit.about["complete"]]
    assert [unit.start for unit in complete] == [
        unit.start for unit in sound if unit.kind is TRANSACTION and unit.number not in (100, 101, 300)
    ]
    last = unit_events(explorer, 0, units[-1]).events
    assert [event["type"] for event in last] == ["GTID", "QUERY", "TABLE_MAP", "WRITE_ROWS", "XID"]
    assert len(explorer.overview()["logs"][0]["problems"]) == 3
    assert len(search(explorer, "type", "XID", Cursor(), 60).hits) > 100
    assert sum(explorer.timeline_record()["transactions"]) == 397
    detail = event_detail(explorer, 0, damaged[0].start)
    assert detail["damaged"]
    assert detail["pos"] == damaged[0].start


def test_a_log_with_a_damaged_beginning_is_read_after_it(tmp_path: Path) -> None:
    (path,) = many_transactions(20).save(tmp_path)
    data = bytearray(path.read_bytes())
    data[30] ^= 0xFF
    path.write_bytes(data)
    units = assert_complete(explored(tmp_path), len(data))
    assert kinds(units) == ["between", "damaged", *["transaction"] * 20]


def test_what_is_no_event_is_one_damaged_unit(tmp_path: Path) -> None:
    (tmp_path / "binlog.000001").write_bytes(b"\xfebin" + bytes(500))
    explorer = explored(tmp_path)
    assert kinds(assert_complete(explorer, 504)) == ["between", "damaged"]
    assert event_detail(explorer, 0, 100)["damaged"]


def test_a_log_with_very_much_damage_has_a_bounded_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("binspark.explore.index_reader.MAX_DAMAGES", 8)
    (path,) = many_transactions(60).save(tmp_path)
    data = bytearray(path.read_bytes())
    sound = units_of(explorer := explored(tmp_path), explorer.logs[0])
    for number in range(10, 50, 2):
        data[sound[number].start + 100] ^= 0xFF
    path.write_bytes(data)
    explorer = explored(tmp_path)
    units = assert_complete(explorer, len(data))
    assert "damaged in more than 8 positions" in units[-1].about["text"]
    assert explorer.overview()["logs"][0]["problem_count"] == 9


def test_an_event_that_a_server_is_writing_is_incomplete_and_no_damage(tmp_path: Path) -> None:
    log = many_transactions(10)
    log.mark_in_use()
    (path,) = log.save(tmp_path)
    data = path.read_bytes()
    for cut in (3, 60, 10):
        path.write_bytes(data[:-cut])
        explorer = explored(tmp_path)
        units = assert_complete(explorer, len(data) - cut)
        assert units[-1].kind is UnitKind.INCOMPLETE
        assert explorer.overview()["logs"][0]["problems"] == []
        assert not unit_events(explorer, 0, units[-1]).events[0]["damaged"]
    path.write_bytes(data)
    explorer.read_all()
    assert kinds(assert_complete(explorer, len(data)))[1:] == ["transaction"] * 10


def test_a_closed_log_that_ends_inside_an_event_is_damaged(tmp_path: Path) -> None:
    (path,) = many_transactions(10).save(tmp_path)
    path.write_bytes(path.read_bytes()[:-3])
    explorer = explored(tmp_path)
    units = assert_complete(explorer, path.stat().st_size)
    assert units[-1].kind is UnitKind.DAMAGED
    (problem,) = explorer.overview()["logs"][0]["problems"]
    assert "ends" in problem["text"]


@pytest.fixture
def minimal(tmp_path: Path) -> Explorer:
    """Logs without names of columns: statements define them, in an earlier log and between rows."""
    log = BinlogBuilder()
    log.full_metadata = False
    log.ddl("CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(100))", "shop")
    log.rotate()
    log.transaction(insert(ITEMS, (1, "apple")))
    log.ddl("ALTER TABLE items RENAME COLUMN name TO title", "shop")
    log.transaction(update(ITEMS, ((1, "apple"), (1, "pear"))))
    log.save(tmp_path)
    return explored(tmp_path)


def columns(event: dict[str, Any]) -> set[str]:
    return {field["field"].split(".")[2] for field in event["fields"] if field["field"].startswith("row[")}


def test_names_of_columns_come_from_the_statements_before(minimal: Explorer) -> None:
    rows = search(minimal, "type", "*_ROWS", Cursor(), 60).hits
    names = [columns(event_detail(minimal, hit["log"], hit["pos"])) for hit in rows]
    assert "name" in names[0]
    assert "title" not in names[0]
    assert "title" in names[1]


def test_the_history_of_rows_has_names_from_the_statements_before(minimal: Explorer) -> None:
    found = row_history(minimal, "shop.items", "id = 1", Cursor(), 60)
    assert [hit["after"] for hit in found.hits] == [{"id": 1, "name": "apple"}, {"id": 1, "title": "pear"}]
    later = row_history(minimal, "shop.items", "id = 1", Cursor(1, found.hits[1]["pos"]), 60)
    assert [hit["after"] for hit in later.hits] == [{"id": 1, "title": "pear"}]


def test_the_history_of_rows_is_answered_in_steps_although_nothing_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("binspark.explore.row_history.RANGE_BYTES", 1)
    many_transactions(600).save(tmp_path)
    explorer = explored(tmp_path)
    answers = 0
    cursor: Cursor | None = Cursor()
    hits = []
    while cursor is not None:
        found = row_history(explorer, "shop.orders", "id = 599", cursor, 0)
        hits += found.hits
        answers, following = answers + 1, found.next
        assert following is None or (following.log, following.offset) > (cursor.log, cursor.offset)
        cursor = following
    assert answers >= 5
    assert [hit["after"]["id"] for hit in hits] == [599]


def test_a_compressed_log_is_copied_once_and_the_copy_is_deleted(tmp_path: Path) -> None:
    (path,) = many_transactions(300).save(tmp_path)
    (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    explorer = explored(tmp_path)
    copies = explorer.logs[0].copies
    for _ in range(3):
        assert len(units_of(explorer, explorer.logs[0])) == 301
        assert len(search(explorer, "type", "XID", Cursor(), 60).hits) >= 100
        assert len(row_history(explorer, "shop.orders", "id = 7", Cursor(), 60).hits) == 1
        explorer.read_all()
    assert copies.made == 1
    (copy,) = copies.paths
    assert copy.stat().st_size == explorer.logs[0].index.size
    explorer.stop()
    assert not copy.parent.exists()


def test_only_the_last_copies_are_kept(tmp_path: Path) -> None:
    log = many_transactions(3)
    log.rotate()
    log.rotate()
    for path in log.save(tmp_path):
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    copies = ClearCopies(max_copies=2)
    sources = find_logs(tmp_path)
    for source in (*sources, sources[0]):
        with copies.opened(source) as file:
            assert file.read_at(0, 4) == b"\xfebin"
    assert copies.made == 4
    assert sorted(copies.paths) == sorted(copies.paths[0].parent.iterdir())
    assert len(copies.paths) == 2
    copies.close()


def test_encrypted_logs_are_explored_with_their_keys(tmp_path: Path) -> None:
    plain = mysql_log(30)
    (tmp_path / "binlog.000001").write_bytes(encrypt_mysql(plain))
    keyring = save_mysql_keyring(tmp_path)
    explorer = explored(tmp_path / "binlog.000001", storage=keyring_storage(keyring, None))
    units = assert_complete(explorer, len(plain))
    assert kinds(units).count("transaction") == 30
    assert explorer.overview()["logs"][0]["problems"] == []
    detail = event_detail(explorer, 0, units[5].start)
    start = detail["pos"]
    assert bytes.fromhex(detail["bytes"]) == plain[start : start + detail["size"]]
    explorer.read_all()
    assert explorer.logs[0].index.units == len(units)


def test_encrypted_logs_without_keys_show_what_is_needed(tmp_path: Path) -> None:
    (tmp_path / "binlog.000001").write_bytes(encrypt_mysql(mysql_log(3)))
    (problem,) = explored(tmp_path).overview()["logs"][0]["problems"]
    assert "keyring" in problem["text"]


def test_bytes_that_are_encrypted_are_not_shown_as_events() -> None:
    explorer = explored(case_logs("mariadb/encrypted")[0])
    (problem,) = explorer.overview()["logs"][0]["problems"]
    detail = event_detail(explorer, 0, problem["pos"])
    assert (detail["type"], [field["field"] for field in detail["fields"]]) == ("ENCRYPTED", ["undecoded"])
    events = unit_events(explorer, 0, explorer.unit_at(0, problem["pos"])).events
    assert [event["type"] for event in events] == ["ENCRYPTED"]


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[str]:
    """A store in memory with two logs."""
    log = many_transactions(50)
    log.rotate()
    log.transaction(insert(ITEMS, (1, "apple")))
    store = fsspec.filesystem("memory")
    for path in log.save(tmp_path):
        store.pipe(f"/explored/{path.name}", path.read_bytes())
    yield "memory://explored"
    store.rm("/explored", recursive=True)


def test_logs_of_a_remote_store_are_explored(remote: str) -> None:
    explorer = explored(remote)
    assert [each.name for each in explorer.logs] == ["binlog.000001", "binlog.000002"]
    assert len(row_history(explorer, "shop.items", "", Cursor(), 60).hits) == 1
    assert jump(explorer, "binlog.000002:4")["log"] == 1
    assert len(search(explorer, "type", "XID", Cursor(), 60).hits) == 51


class Order(Totals):
    """Notes in which order logs are read."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def add(self, closed: ClosedTransactions, new: Flags) -> None:
        self.names.append(log_name(closed.files[-1]))
        super().add(closed, new)


def test_a_log_that_is_asked_for_is_read_before_others(tmp_path: Path) -> None:
    log = many_transactions(5)
    for number in range(30):
        log.rotate()
        log.transaction(insert(ITEMS, (number, "apple")))
    log.save(tmp_path)
    explorer = Explorer(lambda: find_logs(tmp_path))
    explorer.totals = order = Order()
    assert not explorer.ensure_read(29, 0)
    explorer.read_all()
    assert order.names[:2] == ["binlog.000030", "binlog.000001"]
    assert len(order.names) == 31


def test_a_search_waits_for_logs_that_are_not_read_yet(tmp_path: Path) -> None:
    log = many_transactions(5)
    log.rotate()
    log.transaction(insert(ITEMS, (1, "apple")))
    log.save(tmp_path)
    explorer = Explorer(lambda: find_logs(tmp_path))
    assert search(explorer, "type", "XID", Cursor(), 0).next == Cursor(0, 0)
    assert row_history(explorer, "shop.items", "", Cursor(1, 0), 0).next == Cursor(1, 0)
    explorer.read_all()
    assert len(search(explorer, "type", "XID", Cursor(), 60).hits) == 6


def test_counts_of_very_many_tables_are_bounded(tmp_path: Path) -> None:
    log = BinlogBuilder()
    for number in range(100):
        log.transaction(insert(table(f"shop.t{number}", integer("id")), *((row,) for row in range(1 + number))))
    log.save(tmp_path)
    explorer = Explorer(lambda: find_logs(tmp_path))
    explorer.totals = Totals(max_counted=20)
    explorer.read_all()
    record = explorer.tables_record()
    assert record["count"] <= 40
    assert record["tables"][0]["table"] == "shop.t99"
    assert record["others"]["rows"] + sum(each["rows"] for each in record["tables"]) == 5050


def test_a_log_that_is_deleted_meanwhile_is_a_problem_of_that_log(tmp_path: Path) -> None:
    log = many_transactions(5)
    log.rotate()
    first, second = log.save(tmp_path)
    explorer = Explorer(lambda: find_logs([first, second]))
    first.unlink()
    explorer.read_all()
    (problem,) = explorer.overview()["logs"][0]["problems"]
    assert "no such file" in problem["text"].lower()
    assert explorer.overview()["logs"][1]["problems"] == []
    with pytest.raises(BinlogError):
        event_detail(explorer, 0, 4)
