"""Which events and transactions options select."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from binspark.changes.event_filter import EventFilter, wants_transaction
from binspark.changes.selection_options import make_selection
from binspark.changes.statements import statement_tables
from binspark.event import Event
from binspark.files import read_events
from binspark.testing.builder import MARIADB_11_8, BinlogBuilder, ServerKind, delete, insert, integer, table, update
from binspark.transactions.assembler import transactions

NOON = 1_794_744_000
ORDERS = table("shop.orders", integer("id"))
ITEMS = table("shop.items", integer("id"))


def log_of(folder: Path, server: ServerKind | None = None, *, compress: bool = False) -> Path:
    """Write five transactions, a minute apart, of the threads 1 to 5."""
    log = BinlogBuilder() if server is None else BinlogBuilder(server)
    contents: list[tuple[Any, ...]] = [
        (insert(ORDERS, (1,)),),
        (insert(ITEMS, (1,)), update(ORDERS, ((1,), (2,)))),
        (delete(ITEMS, (1,)),),
        ("INSERT INTO shop.orders VALUES (7)",),
    ]
    for number, changes in enumerate(contents):
        log.timestamp, log.server_id, log.thread_id = NOON + 60 * number, 1 + number, 1 + number
        gtid = f"0-{1 + number}-{1 + number}" if server is MARIADB_11_8 else None
        log.transaction(*changes, gtid=gtid, compress=True if compress else None)
    log.timestamp, log.server_id, log.thread_id = NOON + 240, 5, 5
    gtid = "0-5-5" if server is MARIADB_11_8 else None
    log.ddl("ALTER TABLE orders ADD COLUMN note INT", schema="shop", gtid=gtid)
    log.stop()
    [path] = log.save(folder)
    return path


def selected(path: Path, **options: Any) -> list[Event]:
    return list(EventFilter(make_selection(options)).select(read_events(path)))


def of_transactions(path: Path, **options: Any) -> set[int]:
    """Return which of the transactions have selected events, numbered from 1."""
    found = (event.header.timestamp for event in selected(path, **options))
    return {(timestamp - NOON) // 60 + 1 for timestamp in found if timestamp >= NOON}


def numbers(path: Path, **options: Any) -> list[int]:
    """Return which transactions are selected, numbered from 1."""
    selection = make_selection(options)
    found = transactions(read_events(path))
    return [number for number, one in enumerate(found, 1) if wants_transaction(selection, one)]


@pytest.mark.parametrize("compress", [False, True], ids=["plain", "compressed"])
def test_without_options_everything_is_selected(tmp_path: Path, compress: bool) -> None:
    path = log_of(tmp_path, compress=compress)
    assert selected(path) == list(read_events(path))
    assert numbers(path) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("compress", [False, True], ids=["plain", "compressed"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"tables": "shop.orders"}, [1, 2, 4, 5]),
        ({"tables": "shop.items"}, [2, 3]),
        ({"tables": "shop.items", "operations": "delete"}, [3]),
        ({"operations": "update"}, [2]),
        ({"server_id": 3}, [3]),
        ({"thread_id": 4}, [4]),
        ({"start_datetime": NOON + 120}, [3, 4, 5]),
        ({"stop_datetime": NOON + 120}, [1, 2]),
        ({"committed_from": NOON + 180}, [4, 5]),
        ({"committed_before": NOON + 60}, [1]),
    ],
    ids=str,
)
def test_a_transaction_is_selected(
    tmp_path: Path, options: dict[str, Any], expected: list[int], compress: bool
) -> None:
    path = log_of(tmp_path, compress=compress)
    assert numbers(path, **options) == expected
    assert of_transactions(path, **options) - {5} == set(expected) - {5}


def test_events_of_a_table_are_its_maps_rows_and_statements(tmp_path: Path) -> None:
    found = selected(log_of(tmp_path), tables="shop.orders")
    types = [event.type for event in found]
    assert types == ["TABLE_MAP", "WRITE_ROWS", "TABLE_MAP", "UPDATE_ROWS", "QUERY", "QUERY"]


def test_operations_select_rows_events(tmp_path: Path) -> None:
    path = log_of(tmp_path)
    assert [event.type for event in selected(path, operations="delete")] == ["DELETE_ROWS"]


@pytest.mark.parametrize("compress", [False, True], ids=["plain", "compressed"])
def test_a_thread_selects_transactions_from_their_gtid_to_their_end(tmp_path: Path, compress: bool) -> None:
    path = log_of(tmp_path, compress=compress)
    one = next(each for each in transactions(read_events(path)) if each.thread_id == 2)
    expected = [event for event in read_events(path) if one.start <= event.offset < one.end]
    assert selected(path, thread_id=2) == expected
    assert expected[0].type == "GTID"


@pytest.mark.parametrize(
    ("gtids", "expected"), [("0-2-2", [2]), ("0-2-2..0-4-4", [2, 3, 4]), ("..0-2-2", [1, 2]), ("0-4-4..", [4, 5])]
)
def test_gtids_of_mariadb_select_single_transactions_and_ranges(
    tmp_path: Path, gtids: str, expected: list[int]
) -> None:
    path = log_of(tmp_path, MARIADB_11_8)
    assert numbers(path, include_gtids=gtids) == expected
    assert of_transactions(path, include_gtids=gtids) == set(expected)
    others = [number for number in range(1, 6) if number not in expected]
    assert numbers(path, exclude_gtids=gtids) == others


def test_gtids_of_mysql_select_all_events_of_their_transactions(tmp_path: Path) -> None:
    path = log_of(tmp_path)
    third = list(transactions(read_events(path)))[2]
    expected = [event for event in read_events(path) if third.start <= event.offset < third.end]
    assert selected(path, include_gtids=third.gtid) == expected
    left = [event for event in read_events(path) if event not in expected]
    assert selected(path, exclude_gtids=third.gtid) == left


@pytest.mark.parametrize(
    ("statement", "tables"),
    [
        (b"INSERT INTO orders VALUES (1)", {"shop.orders"}),
        (b"insert ignore into `other shop`.`orders` select 1 from items", {"other shop.orders", "shop.items"}),
        (b"UPDATE orders SET a = 1", {"shop.orders"}),
        (b"DELETE FROM shop2.orders", {"shop2.orders"}),
        (b"REPLACE INTO orders VALUES (1)", {"shop.orders"}),
        (b"TRUNCATE orders", {"shop.orders"}),
        (b"truncate table `orders`", {"shop.orders"}),
        (b"DROP TABLE IF EXISTS a, `b`.c", {"shop.a", "b.c"}),
        (b"ALTER TABLE a RENAME TO b", {"shop.a", "shop.b"}),
        (b"CREATE TABLE IF NOT EXISTS a LIKE b", {"shop.a", "shop.b"}),
        (b"CREATE INDEX i ON orders (id)", {"shop.orders"}),
        (b"BEGIN", set()),
    ],
)
def test_a_statement_names_tables(statement: bytes, tables: set[str]) -> None:
    assert statement_tables(statement, "shop") == tables
