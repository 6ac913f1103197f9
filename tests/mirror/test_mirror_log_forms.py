"""The forms that a session or a server gives to the rows in its log: the mirror is the same, whichever comes next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from binspark.errors import Malformed, Purged, SchemaError
from binspark.mirror.schema.mirrored_table import HISTORY
from binspark.mirror.targets.parse import Format
from binspark.testing.servers import Family, MariaDB, MySQL
from binspark.testing.servers import Server as RunningServer
from binspark.values import rows
from tests.support.mirror.live_mirrors import assert_equal, rows_of, run_mirror
from tests.support.servers import StartServer, each_family

pytestmark = pytest.mark.timeout(180)

FORMS = {
    "mysql": (
        "binlog_row_image = MINIMAL",
        "binlog_transaction_compression = ON",
        "binlog_row_image = NOBLOB, binlog_rows_query_log_events = ON",
        "binlog_row_value_options = PARTIAL_JSON",
        "binlog_row_image = FULL",
        "binlog_transaction_compression = OFF, binlog_row_value_options = ''",
    ),
    "mariadb": (
        "binlog_row_image = MINIMAL",
        "GLOBAL log_bin_compress = ON, GLOBAL log_bin_compress_min_len = 10",
        "binlog_row_image = NOBLOB",
        "binlog_row_image = FULL, binlog_annotate_row_events = OFF",
        "GLOBAL log_bin_compress = OFF",
    ),
}
"""Settings of sessions, or of the server, that are made one after the other."""

CHANGES = (
    "INSERT INTO forms VALUES ({n}, {n}, REPEAT('long ', 90), '{{\"a\": {n}, \"b\": [1, 2]}}');"
    "UPDATE forms SET document = JSON_SET(document, '$.a', {n}, '$.c{n}', 'added') WHERE id <= 2;"
    "UPDATE forms SET number = number + 1 WHERE id = 1; UPDATE forms SET id = 100 + {n} WHERE id = {n};"
    "DELETE FROM forms WHERE id = 200 + {n};"
)


@each_family
def test_rows_are_the_same_in_whatever_form_they_are_logged(shared: RunningServer, database: str, lake: Path) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database};"
        "CREATE TABLE forms (id INT PRIMARY KEY, number INT, text TEXT, document JSON);"
        + "".join(
            f"INSERT INTO forms VALUES ({number}, 0, 'first', '{{\"a\": 0, \"b\": {{}}}}');"
            for number in (1, 2, *range(200, 209))
        )
    )
    run_mirror(shared, lake, f"{database}.*")
    steps = (f"SET {settings}; {CHANGES.format(n=n)}" for n, settings in enumerate(FORMS[shared.family.name], 3))
    shared.run_sql(f"USE {database}; {''.join(steps)}")
    run_mirror(shared, lake, f"{database}.*")
    assert_equal(shared, lake, f"{database}.forms")


DOCUMENT_CHANGES = (
    "UPDATE documents SET d = JSON_SET(d, '$.a', 7) WHERE id = 1",
    "UPDATE documents SET d = JSON_REMOVE(d, '$.b[0]'), e = JSON_ARRAY_INSERT(e, '$[1]', 'é') WHERE id = 2",
    "UPDATE documents SET d = JSON_SET(d, '$.a', 8), id = 30 WHERE id = 3",
    "UPDATE documents SET d = JSON_SET(d, '$.a', 9), n = 5 WHERE id = 4",
    "UPDATE documents SET id = 40 WHERE id = 4",
    "UPDATE documents SET d = JSON_SET(d, '$.a', 10) WHERE id = 5",
    "DELETE FROM documents WHERE id = 5",
    "UPDATE documents SET d = JSON_SET(d, '$.a', 11) WHERE id = 6",
    "REPLACE INTO documents VALUES (6, 6, '{}', '[6]')",
    "UPDATE documents SET d = JSON_SET(d, '$.a', 12) WHERE id = 7",
    "UPDATE documents SET d = NULL WHERE id = 7",
    "UPDATE others SET n = n + 1",
)
"""Changes of parts of documents, and what may come after them: another key, a deletion, another row, NULL."""


def create_documents(server: RunningServer, database: str) -> None:
    server.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE others (id INT PRIMARY KEY, n INT);"
        "CREATE TABLE documents (id INT PRIMARY KEY, n INT, d JSON, e JSON); INSERT INTO others VALUES (1, 1);"
    )
    document = "JSON_OBJECT('filler', REPEAT('x', 3000), 'a', 1, 'b', JSON_ARRAY(1, 2, REPEAT('y', 300)))"
    rows = ", ".join(f"({number}, 0, {document}, JSON_ARRAY(REPEAT('z', 2000), 2))" for number in range(1, 9))
    server.query(f"INSERT INTO {database}.documents VALUES {rows}")


def change_documents(server: RunningServer, database: str, image: str) -> None:
    settings = f"SET binlog_row_value_options = PARTIAL_JSON, binlog_row_image = {image}"
    server.run_sql(f"USE {database}; {settings}; {'; '.join(DOCUMENT_CHANGES)}")


@pytest.mark.mysql
@pytest.mark.parametrize("image", ["MINIMAL", "NOBLOB"])
def test_parts_of_documents_that_the_log_does_not_contain_are_read_from_the_server(
    mysql: RunningServer, database: str, lake: Path, kind: Format, image: str
) -> None:
    create_documents(mysql, database)
    run_mirror(mysql, lake, f"{database}.*", kind)
    change_documents(mysql, database, image)
    run_mirror(mysql, lake, f"{database}.*", kind)
    assert_equal(mysql, lake, f"{database}.documents", f"{database}.others", kind=kind)
    mysql.query(f"UPDATE {database}.documents SET n = n + 1")
    run_mirror(mysql, lake, f"{database}.*", kind)
    assert_equal(mysql, lake, f"{database}.documents", kind=kind)


@pytest.mark.mysql
def test_a_table_with_a_part_of_a_document_is_copied_again_if_it_has_other_columns_since(
    mysql: RunningServer, database: str, lake: Path
) -> None:
    create_documents(mysql, database)
    run_mirror(mysql, lake, f"{database}.*")
    change_documents(mysql, database, "MINIMAL")
    mysql.query(f"ALTER TABLE {database}.documents DROP n")
    run_mirror(mysql, lake, f"{database}.*")
    assert_equal(mysql, lake, f"{database}.documents", f"{database}.others")


@pytest.mark.mysql
def test_the_history_has_the_changes_of_a_document_that_the_log_does_not_contain(
    mysql: RunningServer, database: str, lake: Path
) -> None:
    create_documents(mysql, database)
    run_mirror(mysql, lake, f"{database}.*", history=True)
    change_documents(mysql, database, "MINIMAL")
    run_mirror(mysql, lake, f"{database}.*", history=True)
    assert_equal(mysql, lake, f"{database}.documents")
    first = rows_of(lake, str(HISTORY)).sort_by("_seq").to_pylist()[0]
    changed = {"op": "replace", "path": "$.a", "value": 7}
    assert json.loads(first["_after"])["d"] == {"json_diffs": [changed]}


@pytest.mark.mysql
def test_versions_of_rows_need_whole_documents_and_the_message_says_how_to_get_past_that(
    mysql: RunningServer, database: str, lake: Path
) -> None:
    create_documents(mysql, database)
    documents = f"{database}.documents"
    run_mirror(mysql, lake, f"{database}.*", scd2=True)
    change_documents(mysql, database, "MINIMAL")
    with pytest.raises(SchemaError, match=rf"binlog_row_image=FULL .* --resnapshot {documents}"):
        run_mirror(mysql, lake, f"{database}.*", scd2=True)
    run_mirror(mysql, lake, f"{database}.*", scd2=True, resnapshot=(documents, f"{database}.others"))
    assert_equal(mysql, lake, documents, f"{database}.others")


@pytest.mark.mysql
def test_a_row_that_cannot_be_read_is_passed_by_as_the_message_says(
    mysql: RunningServer, database: str, lake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_document: bytes, _diffs: bytes) -> str:
        raise Malformed("cannot replace '$.a' in this JSON document")

    create_documents(mysql, database)
    run_mirror(mysql, lake, f"{database}.*")
    change_documents(mysql, database, "FULL")
    monkeypatch.setattr(rows, "apply_json_diffs", refuse)
    with pytest.raises(Malformed, match=r"cannot replace .* --resnapshot DATABASE\.TABLE"):
        run_mirror(mysql, lake, f"{database}.*")
    run_mirror(mysql, lake, f"{database}.*", resnapshot=(f"{database}.documents",))
    assert_equal(mysql, lake, f"{database}.documents", f"{database}.others")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "reset"),
    [
        pytest.param(MySQL, "RESET BINARY LOGS AND GTIDS", marks=pytest.mark.mysql, id="mysql"),
        pytest.param(MariaDB, "RESET MASTER", marks=pytest.mark.mariadb, id="mariadb"),
    ],
)
def test_logs_that_were_reset_are_an_error_that_says_what_to_do(
    start_server: StartServer, family: Family, reset: str, lake: Path
) -> None:
    server = start_server(family)
    server.run_sql(
        "CREATE DATABASE shop; USE shop; CREATE TABLE orders (id INT PRIMARY KEY); INSERT INTO orders VALUES (1)"
    )
    run_mirror(server, lake, "shop.*")
    server.query(reset)
    server.query("INSERT INTO shop.orders VALUES (2)")
    with pytest.raises(Purged, match=r"--resnapshot shop\.orders"):
        run_mirror(server, lake, "shop.*")
    run_mirror(server, lake, "shop.*", resnapshot=("shop.orders",))
    assert_equal(server, lake, "shop.orders")
