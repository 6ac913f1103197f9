"""What a cut log contains: GTIDs, lengths, clocks, table maps, ends of statements, what is left of transactions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark.changes.selection_options import make_selection
from binspark.cli.main import exit_code
from binspark.cut import CutOptions, CutSummary, cut_logs
from binspark.errors import OptionError, Unsupported
from binspark.event import Event, GtidEvent, GtidTagged, MariadbGtidEvent, PreviousGtids, Query, Rows, TableMap
from binspark.files import find_logs
from binspark.files.positions import part_between
from binspark.testing.builder import MARIADB_10_11, BinlogBuilder, insert, integer, table, update
from tests.cut.test_cut_corpus import problems
from tests.support.encryption import encrypting

ORDERS = table("shop.orders", integer("id"))
VISITS = table("shop.visits", integer("id"))
UUID = "b8ae2fd2-3005-11f0-8be8-0242ac150002"


def cut(
    builder: BinlogBuilder, folder: Path, *, drop_empty: bool = False, **options: Any
) -> tuple[list[Event], CutSummary]:
    """Cut the logs of a builder; the new log is valid."""
    (folder / "logs").mkdir()
    logs = builder.save(folder / "logs")
    selection = make_selection(dict(options))
    target = folder / "binlog.000009"
    summary = cut_logs(part_between(find_logs(logs), selection), target, CutOptions(selection, drop_empty))
    assert problems(target) == []
    assert target.stat().st_size == summary.bytes
    return list(binspark.events(target)), summary


def types(events: list[Event]) -> list[str]:
    return [event.type for event in events]


def three_transactions(server: Any = None) -> BinlogBuilder:
    builder = BinlogBuilder() if server is None else BinlogBuilder(server)
    builder.transaction(insert(ORDERS, (1,)), insert(VISITS, (1,)))
    builder.transaction(insert(VISITS, (2,)))
    builder.transaction(insert(ORDERS, (3,)))
    builder.stop()
    return builder


def test_without_a_selection_the_log_is_the_same(tmp_path: Path) -> None:
    builder = three_transactions()
    cut(builder, tmp_path)
    assert (tmp_path / "binlog.000009").read_bytes() == builder.content


def test_a_table_is_cut_out_with_its_table_map_and_the_statement_ends_with_what_is_left(tmp_path: Path) -> None:
    events, summary = cut(three_transactions(), tmp_path, tables="shop.orders")
    assert {event.body.table for event in events if isinstance(event.body, TableMap)} == {"orders"}
    assert all(event.body.ends_statement for event in events if isinstance(event.body, Rows))
    assert summary == CutSummary(transactions=3, emptied=1, removed=0, incomplete=0, bytes=summary.bytes)
    gtids = [event.body for event in events if isinstance(event.body, GtidEvent)]
    assert [body.gno for body in gtids] == [1, 2, 3]


def test_transactions_of_which_nothing_is_left_are_dropped_on_request(tmp_path: Path) -> None:
    events, summary = cut(three_transactions(), tmp_path, tables="shop.orders", drop_empty=True)
    assert [event.body.gno for event in events if isinstance(event.body, GtidEvent)] == [1, 3]
    assert (summary.transactions, summary.removed) == (2, 1)


def test_the_last_rows_event_that_is_left_ends_the_statement(tmp_path: Path) -> None:
    builder = BinlogBuilder()
    builder.gtid(f"{UUID}:1")
    builder.query("BEGIN")
    builder.table_map(ORDERS, 100)
    builder.table_map(VISITS, 101)
    for change, table_id in ((insert(ORDERS, (1,)), 100), (insert(ORDERS, (2,)), 100), (insert(VISITS, (1,)), 101)):
        builder.rows(change, table_id)
    builder.xid(5)
    builder.stop()
    # The builder marks each rows event as the last of its statement; a server marks only the last one.
    content = bytearray(builder.content)
    rows = [event for event in binspark.events(builder.save(tmp_path)[0]) if isinstance(event.body, Rows)]
    assert len(rows) == 3
    from binspark.frames.checksum import checksum_of

    for event in rows[:-1]:
        start, end = event.offset, event.end_offset
        content[event.offset + 19 + 6] &= 0xFE
        content[end - 4 : end] = checksum_of(bytes(content[start : end - 4]))
    source = tmp_path / "source.000001"
    source.write_bytes(content)
    selection = make_selection({"tables": "shop.orders"})
    cut_logs(find_logs(source), tmp_path / "cut.000001", CutOptions(selection))
    left = [event.body for event in binspark.events(tmp_path / "cut.000001") if isinstance(event.body, Rows)]
    assert [body.ends_statement for body in left] == [False, True]


def test_positions_lengths_and_clocks_are_those_of_the_new_log(tmp_path: Path) -> None:
    builder = BinlogBuilder()
    for number in range(1, 7):
        builder.transaction(insert(ORDERS, (number,)))
        if number == 3:
            builder.rotate()
    builder.stop()
    events, _ = cut(builder, tmp_path, exclude_gtids=f"{UUID}:2")
    gtids = [event.body for event in events if isinstance(event.body, GtidEvent)]
    assert [body.sequence_number for body in gtids] == [1, 2, 3, 4, 5]
    assert all((body.last_committed or 0) < (body.sequence_number or 0) for body in gtids)
    assert gtids[2].last_committed == 2  # the first transaction of the second file waits for all of the first
    assert [event.header.next_position for event in events] == [event.end_offset for event in events]


def test_what_is_removed_before_the_first_transaction_is_among_the_previous_gtids(tmp_path: Path) -> None:
    events, _ = cut(three_transactions(), tmp_path, include_gtids=f"{UUID}:3")
    (previous,) = [event.body for event in events if isinstance(event.body, PreviousGtids)]
    assert str(previous.gtid_set) == f"{UUID}:1-2"


def test_the_gtid_list_of_mariadb_has_what_is_removed_before(tmp_path: Path) -> None:
    events, _ = cut(three_transactions(MARIADB_10_11), tmp_path, include_gtids="0-1-3")
    (listed,) = [event.body for event in events if event.type == "GTID_LIST"]
    assert [str(gtid) for gtid in listed.gtids] == ["0-1-2"]


@pytest.mark.parametrize("server", [None, MARIADB_10_11], ids=["mysql", "mariadb"])
def test_a_statement_that_is_cut_out_leaves_an_empty_transaction(tmp_path: Path, server: Any) -> None:
    builder = BinlogBuilder() if server is None else BinlogBuilder(server)
    builder.ddl("CREATE TABLE visits (id INT)", "shop")
    builder.ddl("CREATE TABLE orders (id INT)", "shop")
    builder.transaction(insert(ORDERS, (1,)))
    builder.stop()
    events, summary = cut(builder, tmp_path, tables="shop.orders")
    texts = [event.body.query for event in events if isinstance(event.body, Query)]
    assert b"CREATE TABLE orders (id INT)" in texts
    assert b"CREATE TABLE visits (id INT)" not in texts
    assert summary.emptied == 1
    gtids = [event.body for event in events if isinstance(event.body, GtidEvent | MariadbGtidEvent)]
    assert len(gtids) == 3


def test_tagged_gtids_are_kept(tmp_path: Path) -> None:
    builder = BinlogBuilder()
    for number in (1, 2, 3):
        builder.transaction(insert(ORDERS, (number,)), gtid=f"{UUID}:tag:{number}")
    builder.stop()
    events, _ = cut(builder, tmp_path, exclude_gtids=f"{UUID}:tag:1")
    assert [event.body.sequence_number for event in events if isinstance(event.body, GtidTagged)] == [1, 2]


def test_a_compressed_transaction_is_copied_as_it_is_or_written_uncompressed(tmp_path: Path) -> None:
    builder = BinlogBuilder()
    builder.transaction(insert(ORDERS, (1,), (2,)), insert(VISITS, (1,)), compress=True)
    builder.stop()
    (tmp_path / "a").mkdir()
    events, _ = cut(builder, tmp_path / "a", include_gtids=f"{UUID}:1")
    assert "TRANSACTION_PAYLOAD" in types(events)
    (tmp_path / "b").mkdir()
    events, _ = cut(builder, tmp_path / "b", tables="shop.orders")
    assert "TRANSACTION_PAYLOAD" not in types(events)
    assert types(events).count("WRITE_ROWS") == 1


def test_rows_are_cut_out_of_updates(tmp_path: Path) -> None:
    builder = BinlogBuilder()
    builder.transaction(update(ORDERS, ((1,), (10,)), ((2,), (20,)), ((3,), (30,))))
    builder.stop()
    cut(builder, tmp_path, where="id >= 20")
    changes = list(binspark.rows(tmp_path / "binlog.000009"))
    assert [(change.before_image, change.after_image) for change in changes] == [((2,), (20,)), ((3,), (30,))]


def test_an_incomplete_transaction_is_not_written(tmp_path: Path) -> None:
    builder = three_transactions()
    log = tmp_path / "binlog.000001"
    *_, last = [event for event in binspark.events(builder.save(tmp_path)[0]) if event.type == "XID"]
    log.write_bytes(builder.content[: last.offset])
    selection = make_selection({})
    summary = cut_logs(find_logs(log), tmp_path / "binlog.000009", CutOptions(selection))
    assert (summary.transactions, summary.incomplete) == (2, 1)
    assert problems(tmp_path / "binlog.000009") == []


def test_a_log_that_exists_is_not_overwritten_and_damage_leaves_none(tmp_path: Path) -> None:
    builder = three_transactions()
    (log,) = builder.save(tmp_path)
    options = CutOptions(make_selection({}))
    with pytest.raises(OptionError, match="exists already"):
        cut_logs(find_logs(log), log, options)
    content = bytearray(builder.content)
    content[len(content) // 2] ^= 0xFF
    log.write_bytes(content)
    with pytest.raises(binspark.BinlogError):
        cut_logs(find_logs(log), tmp_path / "new", options)
    assert [path.name for path in tmp_path.iterdir()] == [log.name]


def test_logs_of_different_formats_are_refused(tmp_path: Path) -> None:
    (one,) = three_transactions().save(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (two,) = three_transactions(MARIADB_10_11).save(other)
    with pytest.raises(Unsupported, match="cut them separately"):
        cut_logs(find_logs([one, two]), tmp_path / "new", CutOptions(make_selection({})))


def test_the_command_cuts_an_encrypted_log(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log, new = tmp_path / "binlog.000001", tmp_path / "new.000001"
    log.write_bytes(encrypting.encrypt_mysql(encrypting.mysql_log(20)))
    keyring = encrypting.save_mysql_keyring(tmp_path)
    arguments = ["cut", str(log), "-o", str(new), "--keyring", str(keyring), "--where", "id < 3", "--drop-empty"]
    assert exit_code([*arguments, "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["transactions"], printed["removed"]) == (3, 17)
    assert [change.after["id"] for change in binspark.rows(new) if change.after] == [0, 1, 2]
    assert exit_code(arguments) == 2
    assert "exists already" in capsys.readouterr().err


def test_a_condition_knows_names_of_columns_from_a_dump(tmp_path: Path) -> None:
    builder = BinlogBuilder()
    builder.full_metadata = False
    builder.transaction(insert(ORDERS, (1,), (2,), (3,)))
    builder.stop()
    (log,) = builder.save(tmp_path)
    dump = tmp_path / "dump.sql"
    dump.write_text("CREATE DATABASE shop; USE shop; CREATE TABLE orders (id INT);")
    new = tmp_path / "new"
    assert exit_code(["cut", str(log), "-o", str(new), "--where", "id > 1", "--schema-file", str(dump)]) == 0
    assert [row.after_image for row in binspark.rows(new)] == [(2,), (3,)]


def test_a_condition_knows_tables_that_an_earlier_log_defines(tmp_path: Path) -> None:
    builder = BinlogBuilder()
    builder.full_metadata = False
    builder.ddl("CREATE TABLE orders (id INT)", "shop")
    builder.rotate()
    builder.transaction(insert(ORDERS, (1,), (2,)))
    builder.stop()
    cut(builder, tmp_path, where="id = 2")
    assert [row.after_image for row in binspark.rows(tmp_path / "binlog.000009")] == [(2,)]


def test_times_select_transactions_with_all_their_rows(tmp_path: Path) -> None:
    """A statement is older than the commit of its transaction; with a condition, too, the commit counts."""
    builder = BinlogBuilder()
    builder.timestamp = 2_000_000_000
    builder.gtid(f"{UUID}:1")
    builder.timestamp -= 100
    builder.query("BEGIN", "shop")
    builder.table_map(ORDERS, 100)
    builder.rows(insert(ORDERS, (1,), (2,)), 100)
    builder.xid(1)
    builder.stop()
    cut(builder, tmp_path, where="id = 2", start_datetime="2033-05-18T03:33:00Z")
    assert [row.after_image for row in binspark.rows(tmp_path / "binlog.000009")] == [(2,)]


def test_a_log_that_is_cut_off_is_cut_up_to_where_verify_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = BinlogBuilder()
    orders = table("shop.orders", integer("id"))
    builder.transaction(insert(orders, (1,)))
    end = len(builder.content)
    builder.transaction(insert(orders, (2,)))
    log = tmp_path / "binlog.000001"
    log.write_bytes(builder.content[:-40])
    new = tmp_path / "new.000001"
    assert exit_code(["cut", str(log), "-o", str(new)]) == 1
    assert "`binspark verify` shows how far the log is complete" in capsys.readouterr().err
    assert exit_code(["verify", str(log)]) == 1
    assert f"cut to {end} bytes" in capsys.readouterr().out
    assert exit_code(["cut", str(log), "--stop-position", str(end), "-o", str(new)]) == 0
    assert [change.after for change in binspark.rows(new)] == [{"id": 1}]
    (tmp_path / "text").write_text("no log")
    assert exit_code(["cut", str(tmp_path / "text"), "-o", str(tmp_path / "other")]) == 1
    assert "verify" not in capsys.readouterr().err
