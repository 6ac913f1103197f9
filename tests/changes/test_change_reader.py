"""What a changed row says, and which events make one."""

from __future__ import annotations

import json
import pickle
from decimal import Decimal
from pathlib import Path

import pytest

import binspark
from binspark.changes import change_json
from binspark.cli.demo import SHOP
from binspark.errors import Malformed, OptionError
from binspark.event.rows import Rows, RowsFlag
from binspark.frames import EventCode as E
from binspark.testing.builder import (
    MARIADB_11_8,
    MARIADB_12_3,
    MYSQL_5_6,
    MYSQL_9_7,
    BinlogBuilder,
    EventSpec,
    delete,
    insert,
    integer,
    table,
    varchar,
)
from tests.corpus.cases import case_logs
from tests.support.changes.change_logs import CUSTOMERS, ORDERS
from tests.support.changes.change_tables import by_batches, by_rows

DUMMY_TABLE = 0x00FFFFFF


def saved(log: BinlogBuilder, folder: Path) -> list[Path]:
    return log.save(folder)


def test_an_insert_has_no_before_and_a_delete_no_after(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(ORDERS, (1, "a")), delete(ORDERS, (1, "a")))
    inserted, deleted = binspark.rows(saved(log, tmp_path))
    assert (inserted.op, inserted.before, inserted.after) == ("insert", None, {"id": 1, "note": "a"})
    assert (deleted.op, deleted.before, deleted.after) == ("delete", {"id": 1, "note": "a"}, None)


def test_the_key_of_an_update_is_the_old_one() -> None:
    updates = [
        (change.key, change.before or {}, change.after or {})
        for change in binspark.rows(case_logs("mysql/keys"))
        if change.op == "update" and change.key
    ]
    assert len(updates) > 0
    assert all(key == {name: before[name] for name in key} for key, before, _ in updates)
    assert any(key != {name: after[name] for name in key} for key, _, after in updates if after)


def test_a_composite_key_is_in_the_order_of_the_key(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.full_metadata = False
    log.ddl("CREATE TABLE t (a INT, b INT, PRIMARY KEY (b, a))", schema="shop")
    log.transaction(insert(table("shop.t", integer("a"), integer("b")), (1, 2)))
    (change,) = binspark.rows(saved(log, tmp_path))
    assert list((change.key or {}).items()) == [("b", 2), ("a", 1)]
    assert '"key": {"b": 2, "a": 1}' in change_json(change)


def test_a_table_without_a_known_key_has_none(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(ORDERS, (1, "a")))
    (change,) = binspark.rows(saved(log, tmp_path))
    assert change.key is None
    assert json.loads(change_json(change))["key"] is None


def test_a_dump_has_the_names_and_keys_that_the_log_lacks(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.full_metadata = False
    log.transaction(insert(table("shop.t", integer("id"), integer("n")), (1, 2)))
    dump = tmp_path / "shop.sql"
    dump.write_text(
        "-- Host: localhost    Database: shop\n\nCREATE TABLE t (code INT PRIMARY KEY, amount INT UNSIGNED);\n"
    )
    logs = saved(log, tmp_path)
    assert [change.after for change in binspark.rows(logs)] == [{"@1": 1, "@2": 2}]
    (change,) = binspark.rows(logs, schema_file=dump)
    assert (change.after, change.key) == ({"code": 1, "amount": 2}, {"code": 1})


def test_columns_that_are_absent_from_an_image_are_absent() -> None:
    updates = [change for change in binspark.rows(case_logs("mysql/image-minimal")) if change.op == "update"]
    assert any(change.after is not None and len(change.after) < len(change.table_schema.columns) for change in updates)
    assert all(change.key for change in updates)


def test_a_gtid_ends_with_its_file_unless_the_log_is_a_relay_log(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_5_6)
    log.transaction(insert(ORDERS, (1, "a")))
    log.start_file()
    log.write(log.change_specs((insert(ORDERS, (2, "b")),), log.default_rows_codes()))
    logs = saved(log, tmp_path)
    assert [change.gtid for change in binspark.rows(logs)] == [f"{log.server_uuid}:1", None]
    assert by_rows(logs) == by_batches(logs)


def test_a_transaction_of_a_relay_log_continues_in_the_next_file(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7, relay=True)
    log.transaction(insert(ORDERS, (1, "a")))
    log.start_file()
    log.write(log.change_specs((insert(ORDERS, (2, "b")),), log.default_rows_codes()))
    logs = saved(log, tmp_path)
    assert [change.gtid for change in binspark.rows(logs)] == [f"{log.server_uuid}:1"] * 2
    assert by_rows(logs) == by_batches(logs)


def test_rows_without_any_gtid_are_in_no_set(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.write(log.change_specs((insert(ORDERS, (2, "b")),), log.default_rows_codes()))
    logs = saved(log, tmp_path)
    everything = f"{log.server_uuid}:1-1000"
    assert len(list(binspark.rows(logs, exclude_gtids=everything))) == 1
    assert list(binspark.rows(logs, include_gtids=everything)) == []
    assert by_rows(logs, include_gtids=everything) == by_batches(logs, include_gtids=everything)


def test_mariadb_names_the_server_in_the_gtid(tmp_path: Path) -> None:
    log = BinlogBuilder(MARIADB_11_8)
    log.transaction(insert(ORDERS, (1, "a")), gtid="3-7-42")
    (change,) = binspark.rows(saved(log, tmp_path))
    assert (change.gtid, change.server_id) == ("3-7-42", 7)


def fragmented(change_part: EventSpec, log: BinlogBuilder, size: int) -> None:
    log.partial_row_data(log.inner_bytes([change_part]), size)


def test_the_fragments_of_a_rows_event_are_put_together(tmp_path: Path) -> None:
    log = BinlogBuilder(MARIADB_12_3)
    log.mariadb_gtid("0-1-1")
    table_map, rows = log.change_specs(
        (insert(ORDERS, *((number, "x" * 30) for number in range(20))),), log.default_rows_codes()
    )
    log.write([table_map])
    fragmented(rows, log, 100)
    logs = saved(log, tmp_path)
    changes = list(binspark.rows(logs))
    assert [change.after and change.after["id"] for change in changes] == list(range(20))
    assert [change.row for change in changes] == list(range(20))
    assert by_rows(logs) == by_batches(logs)


def test_fragments_of_more_than_one_event_are_refused(tmp_path: Path) -> None:
    log = BinlogBuilder(MARIADB_12_3)
    table_map, rows = log.change_specs((insert(ORDERS, (1, "a")),), log.default_rows_codes())
    log.write([table_map])
    log.partial_row_data(log.inner_bytes([rows]) + b"more", 30)
    with pytest.raises(Malformed, match="fragments"):
        list(binspark.rows(saved(log, tmp_path)))


def test_an_event_without_rows_needs_no_table(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.write(log.change_specs((insert(ORDERS, (1, "a")),), log.default_rows_codes()))
    log.event(E.WRITE_ROWS, Rows(insert(ORDERS).operation, DUMMY_TABLE, RowsFlag.STMT_END, (), 0, b"", None, b""))
    logs = saved(log, tmp_path)
    assert len(list(binspark.rows(logs))) == 1
    assert by_rows(logs) == by_batches(logs)


def test_rows_of_a_table_that_was_never_mapped_are_refused(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.rows(insert(ORDERS, (1, "a")), 99)
    logs = saved(log, tmp_path)
    with pytest.raises(Malformed, match=r"rows event for unknown table id 99 \(no TABLE_MAP before it\)"):
        list(binspark.rows(logs))
    assert by_rows(logs) == by_batches(logs)


def test_a_table_id_means_the_table_that_it_was_last_given(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(ORDERS, (1, "a")))
    log.transaction(insert(CUSTOMERS, (2, "b")))
    assert [change.table for change in binspark.rows(saved(log, tmp_path))] == ["orders", "customers"]


def test_rows_that_contradict_the_dump_are_read_as_the_log_describes_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(CUSTOMERS, (2, "b")))
    log.transaction(insert(ORDERS, (1, "a")))
    dump = tmp_path / "shop.sql"
    dump.write_text("CREATE DATABASE shop; USE shop; CREATE TABLE orders (id INT PRIMARY KEY);")
    logs = saved(log, tmp_path)
    outcome = by_rows(logs, schema_file=dump)
    assert outcome == by_batches(logs, schema_file=dump)
    assert outcome.error is None
    assert [table.name for table in outcome.tables] == ["crm.customers", "shop.orders"]
    assert "shop.orders: 2 columns in the log, 1 in the definition" in caplog.text


def test_damage_after_the_stop_position_is_not_seen(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(ORDERS, (1, "a")))
    stop = log.offset
    log.transaction(insert(ORDERS, (2, "b")))
    cut = tmp_path / "binlog.000001"
    cut.write_bytes(log.content[: stop + 30])
    assert len(list(binspark.rows(cut, stop_position=stop))) == 1
    assert by_rows([cut], stop_position=stop) == by_batches([cut], stop_position=stop)


def test_a_change_can_be_pickled_and_compared() -> None:
    change = next(binspark.rows(SHOP / "mysql"))
    assert pickle.loads(pickle.dumps(change)) == change


def test_the_orders_that_were_deleted_are_in_the_log() -> None:
    deleted = list(binspark.rows(SHOP / "mysql", tables=["shop.orders"], operations=["delete"]))
    assert [change.key for change in deleted] == [{"id": number} for number in range(1, 151)]
    assert {change.pos for change in deleted} == {change.pos for change in deleted[:1]}
    first = deleted[0].before or {}
    assert (first["customer_id"], first["status"], first["total"]) == (3, "paid", Decimal("169.80"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tables": ["orders"]}, r"^tables must be schema\.table, or a pattern such as 'shop\.\*', got 'orders'$"),
        ({"table": ["shop.orders"]}, r"^there is no option table; did you mean tables\?$"),
        ({"operations": ["remove"]}, "^operations must be insert, update, delete or truncate, got 'remove'$"),
        (
            {"start_datetime": "yesterday"},
            "^start_datetime must be a time such as 2026-11-15 09:30:00, got 'yesterday'",
        ),
        ({"include_gtids": "0-1-5-7"}, "^include_gtids must be a GTID set of MySQL, or GTIDs of MariaDB such as"),
        ({"undecodable": "ignore"}, "^undecodable must be error, replace or binary, got 'ignore'$"),
        ({"stop_position": 0}, "^stop_position must be 1 or more, got 0$"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        binspark.rows(SHOP / "mysql", **options)  # type: ignore[arg-type]


def test_times_may_be_written_in_several_ways(tmp_path: Path) -> None:
    times = (1_750_000_000, "2025-06-15 15:06:40", "2025-06-15T17:06:40+02:00", "2025-06-15 15:06:39.5")
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(ORDERS, (1, "a")))
    log.timestamp -= 1
    log.transaction(insert(ORDERS, (2, "b")))
    logs = saved(log, tmp_path)
    kept = [[change.key_image or change.after for change in binspark.rows(logs, start_datetime=time)] for time in times]
    assert kept == [[{"id": 1, "note": "a"}]] * 4


def test_varchar_is_text_in_json(tmp_path: Path) -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(table("shop.t", varchar("quote", 40)), ('say "é"',)))
    (change,) = binspark.rows(saved(log, tmp_path))
    assert json.loads(change_json(change)) == {
        "file": "binlog.000001",
        "pos": change.pos,
        "row": 0,
        "gtid": f"{log.server_uuid}:1",
        "timestamp": 1_750_000_000,
        "server_id": 1,
        "thread_id": 8,
        "schema": "shop",
        "table": "t",
        "op": "insert",
        "before": None,
        "after": {"quote": 'say "é"'},
        "key": None,
        "statement": None,
    }
