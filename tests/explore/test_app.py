"""The questions that the page asks: who may ask, and that the answers are those of the commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import binspark
from binspark.cli.demo import SHOP
from binspark.render.explain.json import explanation_record
from binspark.testing.builder import BinlogBuilder, delete, insert, integer, table, update, varchar
from tests.support.explore.served import Served, serving

ITEMS = table("shop.items", integer("id"), varchar("name", 100), key=("id",))


@pytest.fixture(scope="module")
def shop() -> Iterator[Served]:
    """The logs of the demo."""
    with serving(SHOP / "mysql") as served:
        yield served


@pytest.fixture
def items(tmp_path: Path) -> Iterator[Served]:
    """A small log: three rows are written, changed and deleted, in a compressed transaction too."""
    log = BinlogBuilder()
    log.ddl("CREATE TABLE items (id INT PRIMARY KEY, name VARCHAR(100))", "shop")
    log.transaction(insert(ITEMS, (1, "apple"), (2, "pear")))
    log.transaction(update(ITEMS, ((1, "apple"), (1, "Quince"))), compress=True)
    log.transaction(delete(ITEMS, (2, "pear")))
    log.save(tmp_path)
    with serving(tmp_path) as served:
        yield served


def test_only_who_has_the_token_may_ask(shop: Served) -> None:
    for given in ("", "Bearer ", "Bearer wrong", shop.address[-5:]):
        answer = shop.request("/api/logs", authorization=given)
        assert answer.status == 401
        assert b"the token is missing or wrong" in answer.body


def test_a_foreign_name_of_this_machine_is_refused(shop: Served) -> None:
    for host in ("evil.example:8000", "127.0.0.1.evil.example:8000", "8000"):
        for path in ("/", "/api/logs", "/static/main.js"):
            assert shop.request(path, host=host).status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(shop: Served, method: str) -> None:
    assert shop.request("/api/logs", method).status == 405


@pytest.mark.parametrize("path", ["/", "/static/main.js", "/static/style.css", "/api/logs", "/static/none"])
def test_every_answer_confines_the_page(shop: Served, path: str) -> None:
    headers = shop.request(path).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py"])
def test_only_files_of_the_page_are_served(shop: Served, path: str) -> None:
    assert shop.request(path).status in (404, 405)


def test_events_are_those_of_the_command(shop: Served) -> None:
    expected = [(event.offset, event.inner, event.type) for event in binspark.events(SHOP / "mysql")]
    found = [(each["pos"], each["inner"], each["type"]) for each in shop.events() if each["type"] != "MAGIC"]
    assert found == expected


def test_an_event_has_the_fields_of_explain_and_its_bytes(items: Served) -> None:
    for event in items.events():
        found = items.ask("event", log=0, pos=event["pos"], inner=event["inner"])
        data = bytes.fromhex(found["bytes"])
        assert len(data) == found["size"] == event["size"]
        assert sum(field["length"] for field in found["fields"]) == len(data)
        if event["inner"] is None and event["type"] != "MAGIC":
            (explanation,) = binspark.explain(items.path / "binlog.000001", at=event["pos"])
            expected = explanation_record(explanation)
            for field in expected["fields"]:
                field["hex"] = ""
            assert found["fields"] == json.loads(json.dumps(expected["fields"]))


def test_a_row_is_explained_down_to_its_values(items: Served) -> None:
    rows = [event for event in items.events() if event["type"] == "UPDATE_ROWS"]
    found = items.ask("event", log=0, pos=rows[0]["pos"], inner=rows[0]["inner"])
    values = {field["field"]: field["value"] for field in found["fields"] if field["section"] == "rows"}
    assert values["row[0].before.id"] == "1"
    assert values["row[0].after.name.value"] == '"Quince"'


@pytest.mark.parametrize(
    ("kind", "text", "count"),
    [
        ("table", "shop.items", 3),
        ("table", "items", 3),
        ("table", "shop.*", 3),
        ("table", "other.*", 0),
        ("type", "WRITE_ROWS", 1),
        ("type", "*_rows", 3),
        ("text", "quince", 1),
        ("text", "CREATE TABLE", 1),
        ("text", "melon", 0),
    ],
)
def test_searches_find_also_what_is_compressed(items: Served, kind: str, text: str, count: int) -> None:
    found = items.ask("search", kind=kind, text=text)
    assert len(found["hits"]) == count
    assert found["next"] is None
    for hit in found["hits"]:
        items.ask("event", log=hit["log"], pos=hit["pos"], inner=hit["inner"])


def test_a_long_search_continues_where_it_ended(tmp_path: Path) -> None:
    log = BinlogBuilder()
    for number in range(350):
        log.transaction(insert(ITEMS, (number, "x" * 90)))
        if number == 200:
            log.rotate()
    log.save(tmp_path)
    with serving(tmp_path) as page:
        first = page.ask("search", kind="type", text="XID")
        found = page.all_hits("search", kind="type", text="XID")
    assert first["next"] is not None
    positions = [(hit["log"], hit["pos"]) for hit in found]
    assert len(set(positions)) == 350
    assert positions == sorted(positions)


def test_the_history_of_a_row_is_that_of_rows_where(shop: Served) -> None:
    expected = [
        (change.pos, change.row, change.op.value)
        for change in binspark.rows(SHOP / "mysql", tables=["shop.products"], where="id = 1")
    ]
    found = shop.all_hits("rows", table="shop.products", where="id = 1")
    assert [(each["pos"], each["row"], each["op"]) for each in found] == expected
    assert found[0]["after"]["id"] == 1


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("units", {"first": "x"}, "must be a number"),
        ("units", {"first": "9" * 30}, "must be a number"),
        ("event", {"log": 7, "pos": 4}, "there is no log number 7"),
        ("event", {"log": 0}, "must be a number"),
        ("search", {"kind": "colour", "text": "x"}, "must be one of"),
        ("search", {"kind": "text"}, "is empty"),
        ("search", {"kind": "type", "text": "NONE"}, "is not a type of event"),
        ("rows", {"table": "shop.products", "where": "id ="}, "condition"),
        ("rows", {}, "which table"),
        ("jump", {"to": "nowhere"}, "expected a position"),
    ],
)
def test_a_wrong_question_is_answered_with_what_is_wrong(
    shop: Served, name: str, parameters: dict[str, Any], message: str
) -> None:
    status, error = shop.refusal(name, **parameters)
    assert status == 400
    assert message in error


def test_a_large_event_is_sent_in_parts(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.transaction(insert(ITEMS, *((number, "y" * 80) for number in range(3000))))
    log.save(tmp_path)
    with serving(tmp_path) as page:
        rows = next(event for event in page.events() if event["type"] == "WRITE_ROWS")
        found = page.ask("event", log=0, pos=rows["pos"])
        more = page.ask("event", log=0, pos=rows["pos"], bytes=32768)
    assert found["size"] == rows["size"] > 200_000
    assert len(found["bytes"]) == 2 * 8192
    assert found["more_fields"] > 0
    assert len(more["bytes"]) == 2 * 32768
