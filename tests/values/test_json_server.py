"""What a real MySQL server logs of JSON, against what it prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

import pytest

from binspark.testing.servers import Server
from binspark.values.json.binary import json_text
from binspark.values.json.diff import decode_json_diffs
from tests.support.values.json_log import (
    ID_AND_DOCUMENT,
    Diffs,
    JsonTable,
    diffs,
    document,
    logged_rows,
    row_id,
    text_after,
)
from tests.support.values.json_sql import random_change, random_document, random_double, sql_string

pytestmark = pytest.mark.mysql


@pytest.fixture
def table(mysql: Server) -> Iterator[JsonTable]:
    table = JsonTable(mysql, "json_values")
    yield table
    table.connection.close()


def printed(documents: dict[int, bytes]) -> dict[int, str]:
    return {number: json_text(binary) for number, binary in documents.items()}


def test_random_documents_print_as_the_server_prints_them(table: JsonTable) -> None:
    random = Random(20240131)
    documents = table.insert(f"JSON_ARRAY({random_document(random)})" for _ in range(1500))
    assert len(documents) == 1500
    assert printed(documents) == table.texts()


def test_scalar_documents_print_as_the_server_prints_them(table: JsonTable) -> None:
    random = Random(7)
    documents = table.insert(
        f"JSON_EXTRACT(JSON_ARRAY({random_document(random, depth=1)}), '$[0]')" for _ in range(500)
    )
    assert printed(documents) == table.texts()


def test_random_doubles_print_as_the_server_prints_them(table: JsonTable) -> None:
    random = Random(17)
    doubles = (", ".join(repr(random_double(random)) for _ in range(100)) for _ in range(100))
    documents = table.insert(f"JSON_ARRAY({numbers})" for numbers in doubles)
    assert printed(documents) == table.texts()


def test_every_kind_of_column_prints_as_the_server_prints_it(table: JsonTable) -> None:
    table.run(
        "CREATE TABLE kinds (b BIT(9), y YEAR, e ENUM('a', 'é'), s SET('x', 'y'), ts TIMESTAMP(3), d DATE, t TIME(2),"
        " bl BLOB, tb TINYBLOB, mb MEDIUMBLOB, lb LONGBLOB, tx TEXT, vb VARBINARY(10), bi BINARY(4), g GEOMETRY,"
        " f FLOAT, n DECIMAL(65, 30), c CHAR(3) CHARACTER SET latin1)"
    )
    table.run(
        "INSERT INTO kinds VALUES (b'101', 2024, 'é', 'x,y', '2024-01-02 03:04:05.678', '2024-02-29', '-01:02:03.45',"
        " 'blob', 'tiny', 'medium', 'long', 'text', 'vb', 'bi', POINT(1, 2), 1.1, -1.5, 'é')"
    )
    log = table.new_log()
    columns = "b, y, e, s, ts, d, t, bl, tb, mb, lb, tx, vb, bi, g, f, n, c"
    table.run(f"INSERT INTO t SELECT 1, JSON_ARRAY({columns}) FROM kinds")
    [(_, row)] = logged_rows(log, ID_AND_DOCUMENT)
    assert json_text(document(row)) == table.texts()[1]


def test_documents_past_64_kib_print_as_the_server_prints_them(table: JsonTable) -> None:
    documents = table.insert(
        (
            "JSON_ARRAY(REPEAT('x', 70000), -70000, 1.5, JSON_ARRAY(1, 70000), JSON_OBJECT('k', 'v'))",
            "JSON_OBJECT('a', REPEAT('x', 70000), 'b', 2147483647, 'ccc', JSON_ARRAY(), 'dd', 3000000000)",
            "CONCAT('[', REPEAT('123456,', 20000), '{}]')",
            "CONCAT('[', REPEAT('[[],{\"a\":[true]}],', 5000), 'null]')",
            f"JSON_OBJECT({sql_string('é' * 30000)}, JSON_OBJECT('x', REPEAT('y', 65536)))",
            "JSON_ARRAY(UNHEX(REPEAT('00', 100000)))",
        )
    )
    assert [binary[0] for binary in documents.values()] == [3, 1, 3, 3, 1, 3]
    assert printed(documents) == table.texts()


def test_the_deepest_document_that_a_server_stores_is_read(table: JsonTable) -> None:
    documents = table.insert(
        ["CONCAT(REPEAT('[', 100), 'true', REPEAT(']', 100))", "CONCAT(REPEAT('{\"a\":', 100), 1, REPEAT('}', 100))"]
    )
    assert printed(documents) == table.texts()


def test_an_update_in_place_leaves_a_gap(table: JsonTable) -> None:
    documents = table.insert(["JSON_OBJECT('a', REPEAT('x', 3000), 'b', JSON_ARRAY(REPEAT('y', 300)), 'c', 1)"])
    table.run("SET binlog_row_value_options = PARTIAL_JSON")
    table.run("UPDATE t SET doc = JSON_REMOVE(JSON_SET(doc, '$.a', 'short'), '$.b')")
    log = table.new_log()
    table.run("UPDATE t SET doc = JSON_SET(doc, '$.c', 2)")
    [(before, after)] = logged_rows(log, ID_AND_DOCUMENT)
    assert len(document(before)) == len(documents[0])
    assert json_text(document(before)) == '{"a": "short", "c": 1}'
    assert text_after(before, after, 1) == table.texts()[0] == '{"a": "short", "c": 2}'


def test_a_null_that_was_forced_into_a_column_has_no_bytes(table: JsonTable) -> None:
    table.run("CREATE TABLE forced (id INT PRIMARY KEY, doc JSON NOT NULL)")
    log = table.new_log()
    table.run("INSERT IGNORE INTO forced SELECT 1, NULL")
    [(_, row)] = logged_rows(log, ID_AND_DOCUMENT)
    [(text,)] = table.run("SELECT CAST(doc AS CHAR) FROM forced")
    assert (row[1], json_text(document(row))) == (b"", text)


def test_partial_updates_give_what_the_server_prints(table: JsonTable) -> None:
    """Many changes of the same rows: each statement sees documents that were changed in place before."""
    random = Random(99)
    table.run("SET binlog_row_value_options = PARTIAL_JSON")
    filler = "'filler', REPEAT('x', 3000)"
    table.insert(f"JSON_OBJECT({filler}, 'a', {random_document(random, 4)}, 'b', JSON_ARRAY())" for _ in range(20))
    log, expected = table.new_log(), []
    for step in range(400):
        number = step % 20
        [(before,)] = table.run(f"SELECT CAST(doc AS CHAR CHARACTER SET utf8mb4) FROM t WHERE id = {number}")
        table.run(f"UPDATE t SET doc = {random_change(random, json.loads(before))} WHERE id = {number}")
        [(after,)] = table.run(f"SELECT CAST(doc AS CHAR CHARACTER SET utf8mb4) FROM t WHERE id = {number}")
        expected += [(number, before, after)] * (before != after)
    updates = list(logged_rows(log, ID_AND_DOCUMENT))
    assert [(row_id(b), json_text(document(b)), text_after(b, a, 1)) for b, a in updates] == expected
    assert sum(isinstance(after[1], Diffs) for _, after in updates) > 200


def test_minimal_images_contain_only_the_diffs(table: JsonTable) -> None:
    random = Random(3)
    documents = table.insert(
        f"JSON_OBJECT('filler', REPEAT('x', 3000), 'a', {random_document(random, 3)}, 'b', JSON_ARRAY(1, 2))"
        for _ in range(150)
    )
    before = table.texts()
    table.run("SET binlog_row_value_options = PARTIAL_JSON, binlog_row_image = MINIMAL")
    log = table.new_log()
    for number, text in before.items():
        table.run(f"UPDATE t SET doc = {random_change(random, json.loads(text))} WHERE id = {number}")
    updates = list(logged_rows(log, ID_AND_DOCUMENT))
    results = {row_id(key): text_after({1: documents[row_id(key)]}, after, 1) for key, after in updates}
    assert before | results == table.texts()
    assert all((set(key), set(after)) == ({0}, {1}) for key, after in updates)
    assert sum(isinstance(after[1], Diffs) for _, after in updates) > 75


def test_the_server_logs_paths_as_they_were_written(table: JsonTable) -> None:
    """Cells keep `last`; scalars that are wrapped into an array are replaced; names are quoted when they must be."""
    table.insert(["JSON_OBJECT('filler', REPEAT('x', 3000), 'a', 1, 'b', JSON_ARRAY(1, 2, 3))"])
    table.run("SET binlog_row_value_options = PARTIAL_JSON")
    log = table.new_log()
    table.run(
        "UPDATE t SET doc = JSON_SET(doc, '$.b[last]', 0, '$.b[last-9]', 0, '$.b[9]', 0, '$.a[1]', 0, '$.\"x y\"', 0,"
        " '$.\"plain\"', 0, '$.\"\"', 0)"
    )
    [(before, after)] = logged_rows(log, ID_AND_DOCUMENT)
    assert [(diff.operation.name, diff.path) for diff in decode_json_diffs(diffs(after))] == [
        ("REPLACE", "$.b[last]"),
        ("INSERT", "$.b[last-9]"),
        ("INSERT", "$.b[9]"),
        ("REPLACE", "$.a"),
        ("INSERT", '$."x y"'),
        ("INSERT", "$.plain"),
        ("INSERT", '$.""'),
    ]
    assert text_after(before, after, 1) == table.texts()[0]
