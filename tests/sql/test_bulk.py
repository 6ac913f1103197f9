"""Rows in bulk are the same statements as rows one at a time."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from binspark.errors import BinlogError
from binspark.testing.servers import Family, Server
from tests.corpus.cases import corpus_logs, log_id
from tests.support.mirror.every_type import every_type
from tests.support.servers import database, every_family, shared
from tests.support.sql.round_trips import checked_script, comparable, logs_of, run_script, script_of, tables_of

__all__ = ["database", "shared"]

_VARIANTS: list[dict[str, Any]] = [
    {},
    {"undo": True, "skip_statements": True},
    {"undo": True, "skip_statements": True, "operations": "update,delete"},
    {"no_comments": True, "keep_gtids": True},
]


def script_or_error(logs: list[Path], *, in_bulk: bool, **options: Any) -> bytes:
    """Return a script, or the error that ends it."""
    try:
        return comparable(script_of(logs, in_bulk=in_bulk, **options))
    except BinlogError as error:
        return str(error).encode()


@pytest.mark.parametrize("log", corpus_logs(), ids=log_id)
def test_bulk_and_reference_write_the_same_script(log: Path) -> None:
    for options in _VARIANTS[:2]:
        in_bulk, by_row = (script_or_error([log], in_bulk=bulk, **options) for bulk in (True, False))
        assert in_bulk == by_row


@every_family
@pytest.mark.parametrize("key", ["id INT PRIMARY KEY", "id INT"], ids=["key", "no key"])
def test_values_of_every_type_are_the_same_in_bulk(shared: Server, database: str, family: Family, key: str) -> None:
    shared.query(f"CREATE DATABASE {database}")
    with logs_of(shared) as logs:
        creation = every_type(family, rows=60, seed=11).replace("id INT PRIMARY KEY", key)
        shared.run_sql(creation, f"--database={database}")
        before = tables_of(shared, database)
    with logs_of(shared) as changes:
        shared.run_sql(
            "UPDATE every_type SET dd = -dd, y = 0, c = NULL, d2 = -d2, tx = 'ł' WHERE id % 2 = 0;"
            "UPDATE every_type SET f = -0.0e0, id = id + 1000 WHERE id % 5 = 0;"
            "DELETE FROM every_type WHERE id % 3 = 0;",
            f"--database={database}",
            "--init-command=SET sql_mode = ''",
        )
    for log in (logs, changes):
        for options in _VARIANTS:
            in_bulk, by_row = (
                script_or_error(log, in_bulk=bulk, tables=f"{database}.*", **options) for bulk in (True, False)
            )
            assert in_bulk == by_row
    run_script(shared, script_of(changes, in_bulk=True, undo=True, tables=f"{database}.*"))
    assert tables_of(shared, database) == before


def test_filters_select_the_same_rows_in_bulk() -> None:
    from binspark.cli.demo import SHOP

    gtids = "4efb89a3-e0d3-11f1-9fc1-02fc00000001:60-159"
    for options in (
        {"tables": "shop.orders"},
        {"exclude_tables": "shop.orders", "operations": "insert,update"},
        {"include_gtids": gtids, "undo": True, "skip_statements": True},
        {"thread_id": 10, "start_position": "binlog.000002:4", "skip_statements": True},
        {"no_comments": True, "keep_gtids": True},
    ):
        logs = sorted(Path(SHOP, "mysql").glob("binlog.0*"))
        in_bulk, by_row = (comparable(script_of(logs, in_bulk=bulk, **options)) for bulk in (True, False))
        assert in_bulk == by_row
        assert in_bulk.count(b"BEGIN")


_DOCUMENTS = (
    "JSON_OBJECT('price', 12.50, 'negative', -0.05, 'wide', 1234567890123456789012345.5, 'n', NULL, 't', TRUE)",
    "JSON_OBJECT('it''s', CAST('2024-02-29' AS DATE), 'b', CAST('2024-02-29 01:02:03.5' AS DATETIME(6)), "
    "'c', CAST('-101:02:03' AS TIME))",
    "JSON_ARRAY(CAST(5 AS UNSIGNED), CAST(70000 AS UNSIGNED), CAST(9223372036854775808 AS UNSIGNED), -5, 1e300, "
    "JSON_OBJECT('deep', JSON_ARRAY(JSON_OBJECT(), JSON_ARRAY(), 1.5), "
    "'plain', JSON_ARRAY('it''s', 'a\\\\b', '漢字')))",
    "JSON_OBJECT('bytes', CAST(X'00FF27' AS BINARY), 'bits', b'101', 'text', 'line\\nend', REPEAT('k', 300), '\x7f')",
    "CAST(18446744073709551615 AS JSON)", "CAST(CAST(7 AS UNSIGNED) AS JSON)", "CAST(0.1 AS JSON)", "'null'", "'[]'",
    "CAST(CAST('2024-01-01' AS DATE) AS JSON)", "JSON_QUOTE('it''s \\\\ here')", "JSON_ARRAY(REPEAT('x', 70000), 1.5)",
)  # fmt: skip


def test_documents_with_values_that_text_has_not_are_the_same_in_bulk(mysql: Server, database: str) -> None:
    mysql.query(f"CREATE DATABASE {database}")
    for table, key in (("with_key", "PRIMARY KEY"), ("without_key", "")):
        mysql.query(f"CREATE TABLE {database}.{table} (id INT {key}, doc JSON)")
    values = ", ".join(f"({number}, {document})" for number, document in enumerate(_DOCUMENTS))
    with logs_of(mysql) as logs:
        for table in ("with_key", "without_key"):
            mysql.run_sql(
                f"INSERT INTO {table} VALUES {values};"
                f"UPDATE {table} SET doc = JSON_ARRAY(doc, id + 0.5, 'x') WHERE id % 2 = 0;",
                f"--database={database}",
            )
    after = tables_of(mysql, database)
    assert b"AS DECIMAL(" in checked_script(logs, tables=f"{database}.*")
    run_script(mysql, checked_script(logs, undo=True, tables=f"{database}.*"))
    assert all(len(rows) == 0 for rows in tables_of(mysql, database).values())
    run_script(mysql, script_of(logs, in_bulk=True, tables=f"{database}.*"))
    assert tables_of(mysql, database) == after


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
def test_transactions_of_many_kinds_are_the_same_in_bulk(mysql: Server, database: str, compressed: bool) -> None:
    mysql.query(f"CREATE DATABASE {database}")
    for table in ("a", "b"):
        mysql.query(f"CREATE TABLE {database}.{table} (id INT PRIMARY KEY, note VARCHAR(40), state ENUM('x', 'y'))")
    with logs_of(mysql) as logs:
        mysql.run_sql(
            f"SET binlog_transaction_compression = {int(compressed)}, sql_mode = '';"
            "INSERT INTO a VALUES (1, 'one', 'x'), (2, 'it''s', 'y'); INSERT INTO b VALUES (1, NULL, NULL);"
            "BEGIN; INSERT INTO a VALUES (3, 'a', 'x'); INSERT INTO b VALUES (2, 'b', 'y'); UPDATE a SET note = 'c'; "
            "DELETE FROM b WHERE id = 1; COMMIT;"
            "SET binlog_rows_query_log_events = 1; BEGIN; UPDATE a SET note = '1' WHERE id = 1;"
            "UPDATE b SET note = '2';"
            "DELETE FROM a WHERE id = 2; COMMIT; DELETE FROM b; SET binlog_rows_query_log_events = 0;"
            "SET foreign_key_checks = 0; BEGIN; INSERT INTO b VALUES (5, 'f', 'x'); SET unique_checks = 0;"
            "INSERT INTO b VALUES (6, 'u', 'y'); SET foreign_key_checks = 1; INSERT INTO b VALUES (7, 'u', 'y');"
            "COMMIT;"
            "SET unique_checks = 1; INSERT INTO a VALUES (8, 'invalid', 'z'); CREATE TABLE c (id INT); "
            "INSERT INTO a VALUES (9, 'last', 'x'); SET sql_mode = 'ANSI'; INSERT INTO c VALUES (1), (1);",
            f"--database={database}",
        )
    for options in ({}, {"no_comments": True}, {"undo": True, "skip_statements": True}, {"tables": f"{database}.b"}):
        script = checked_script(logs, **options)
        assert script.count(b"BEGIN;") == script.count(b"COMMIT;") + script.count(b"EXECUTE ending;") > 2


def test_the_memory_for_a_log_does_not_change_its_script(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = [log for log in corpus_logs(truncated=True) if log.stat().st_size < 8000]
    expected = [script_or_error([log], in_bulk=True, **options) for log in logs for options in _VARIANTS[:2]]
    monkeypatch.setattr(import_module("binspark.sql.bulk"), "_WINDOW", 700)
    assert [script_or_error([log], in_bulk=True, **options) for log in logs for options in _VARIANTS[:2]] == expected
