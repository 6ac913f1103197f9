"""Rows are found by key value: a value alone or a condition, in one table or in all, in both of their images."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from binspark.columns.where.condition import Image
from binspark.errors import OptionError
from binspark.explore.events import event_detail
from binspark.explore.explorer import Explorer
from binspark.explore.row_history import rows_by_key
from binspark.explore.row_match import parse_row_match
from binspark.explore.row_position import WantedRow, find_row
from binspark.explore.search import Cursor, Hit
from binspark.testing.builder import MARIADB_11_8, BinlogBuilder, delete, insert, integer, table, update, varchar
from tests.support.explore.logs import explored

ORDERS = table("shop.orders", integer("id"), varchar("state", 20), key=("id",))
LINES = table("shop.lines", integer("order_id"), integer("line"), varchar("title", 300), key=("order_id", "line"))
NAMES = table("shop.names", varchar("name", 40), integer("id"), key=("name",))
UNKNOWN = table("shop.unknown", integer("a"), integer("b"))
COMPRESSED = pytest.mark.parametrize("compress", [None, True])


def shop(folder: Path, *, compress: Literal[True] | None = None) -> Explorer:
    log = BinlogBuilder()
    log.transaction(
        insert(ORDERS, *((number, "new") for number in range(40, 45))),
        insert(LINES, *((42, number, "x" * 250) for number in range(60))),
        compress=compress,
    )
    log.transaction(update(ORDERS, ((41, "new"), (41, "42")), ((42, "new"), (77, "moved"))), compress=compress)
    log.transaction(insert(NAMES, ("42", 1), ("lamp", 42)), delete(ORDERS, (77, "moved")), compress=compress)
    log.save(folder)
    return explored(folder)


def found(explorer: Explorer, text: str) -> list[Hit]:
    answer = rows_by_key(explorer, text, Cursor(), 60)
    assert answer.next is None
    return answer.hits


def described(hits: list[Hit]) -> list[str]:
    return [f"{hit['op']} {hit['table']} {hit['image']} {hit['column']}" for hit in hits]


@COMPRESSED
def test_a_value_is_found_in_the_keys_of_all_tables(tmp_path: Path, *, compress: Literal[True] | None) -> None:
    hits = found(shop(tmp_path, compress=compress), "42")
    assert described(hits) == [
        "insert orders after id",
        *["insert lines after order_id"] * 60,
        "update orders before id",
        "insert names after name",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shop.orders 42", ["insert orders after id", "update orders before id"]),
        ("shop.orders id=42", ["insert orders after id", "update orders before id"]),
        ("*.orders ID = 77 AND state = 'moved'", ["update orders after ID", "delete orders after ID"]),
        ("id = 42", ["insert orders after id", "update orders before id", "insert names after id"]),
        ("state = 42", []),
        ("shop.names 'lamp'", ["insert names after name"]),
        ("lamp", ["insert names after name"]),
        ("shop.orders 0x4d", ["update orders after id", "delete orders before id"]),
        ("shop.lines order_id = 42 AND line = 59", ["insert lines after order_id"]),
        ("shop.lines 1e999999999", []),
    ],
)
def test_what_can_be_typed(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert described(found(shop(tmp_path), text)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; examples are 42, id = 42"),
        ("shop.orders", "has a table, shop.orders, and no value"),
        ("shop.orders id =", "expected a value, found the end"),
        ("shop.orders id = 'x'", "compares column 'id' of shop.orders"),
    ],
)
def test_what_cannot_be_searched_for_is_explained(tmp_path: Path, text: str, message: str) -> None:
    explorer = shop(tmp_path)
    with pytest.raises(OptionError, match=message):
        rows_by_key(explorer, text, Cursor(), 60)


@pytest.mark.parametrize(
    ("text", "table_name", "literals"),
    [
        ("10.5", None, ("10.5",)),
        ("'a.b'", None, ("a.b",)),
        ("shop.files 'a = b'", "shop.files", ("a = b",)),
        ("me@home.example", None, ("me@home.example",)),
        ("shop.t 0xff00", "shop.t", (b"\xff\x00", "0xff00")),
    ],
)
def test_values_need_quotes_only_where_they_look_like_something_else(
    text: str, table_name: str | None, literals: tuple[object, ...]
) -> None:
    match = parse_row_match(text)
    assert (match.tables, match.condition, match.literals) == (table_name, None, literals)


def test_where_a_key_is_not_known_all_columns_are_searched(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.full_metadata = False
    log.transaction(insert(UNKNOWN, (1, 2), (2, 3)))
    log.save(tmp_path)
    assert [hit["column"] for hit in found(explored(tmp_path), "2")] == ["@2", "@1"]


@COMPRESSED
def test_a_row_leads_to_its_event_and_to_the_value_in_it(tmp_path: Path, *, compress: Literal[True] | None) -> None:
    explorer = shop(tmp_path, compress=compress)
    hits = found(explorer, "shop.lines line = 57") + found(explorer, "shop.orders id = 42")
    fields = []
    for hit in hits:
        wanted = WantedRow(hit["row"], hit["image"], hit["column"])
        at = find_row(explorer, hit["log"], hit["pos"], wanted)
        assert (at["inner"] is None) == (compress is None)
        detail = event_detail(explorer, at["log"], at["pos"], at["inner"], field=at["field"])
        field = detail["fields"][at["field"]]
        fields.append((detail["type"], field["field"], field["value"]))
    assert fields == [
        ("WRITE_ROWS", "row[57].after.line", "57"),
        ("WRITE_ROWS", "row[2].after.id", "42"),
        ("UPDATE_ROWS", "row[1].before.id", "42"),
    ]


def test_a_field_after_the_bytes_that_are_shown_first_is_included(tmp_path: Path) -> None:
    explorer = shop(tmp_path)
    (hit,) = found(explorer, "shop.lines line = 57")
    field = find_row(explorer, 0, hit["pos"], WantedRow(hit["row"], Image.AFTER, "line"))["field"]
    first = event_detail(explorer, 0, hit["pos"], None, 1000)
    assert len(first["fields"]) <= field
    assert len(event_detail(explorer, 0, hit["pos"], None, 1000, field)["fields"]) == field + 1


def test_a_search_that_takes_long_continues_where_it_was(tmp_path: Path) -> None:
    log = BinlogBuilder()
    for number in range(300):
        log.transaction(insert(ORDERS, (7, str(number))))
    log.save(tmp_path)
    explorer = explored(tmp_path)
    cursor: Cursor | None = Cursor()
    states: list[str] = []
    while cursor is not None:
        answer = rows_by_key(explorer, "7", cursor, 0)
        states += [hit["after"]["state"] for hit in answer.hits]
        cursor = answer.next
    assert states == [str(number) for number in range(300)]


def test_a_row_of_an_event_that_is_compressed_leads_to_its_value(tmp_path: Path) -> None:
    log = BinlogBuilder(MARIADB_11_8)
    log.transaction(insert(ORDERS, (41, "new"), (42, "new")), compress=True)
    log.save(tmp_path)
    explorer = explored(tmp_path)
    (hit,) = found(explorer, "42")
    at = find_row(explorer, 0, hit["pos"], WantedRow(hit["row"], hit["image"], hit["column"]))
    detail = event_detail(explorer, 0, hit["pos"])
    assert detail["type"] == "WRITE_ROWS_COMPRESSED_V1"
    assert detail["fields"][at["field"]]["field"] == "row[1].after.id"
