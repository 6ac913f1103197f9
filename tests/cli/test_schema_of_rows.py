"""Names of columns that `binspark rows` prints where the log, its DDL and a schema file disagree."""

from __future__ import annotations

from pathlib import Path

import pytest

import binspark
from binspark.cli.main import exit_code
from binspark.event.column_types import ColumnType
from binspark.testing.builder import BinlogBuilder, insert, integer, table, varchar


def test_rows_with_a_hidden_column_are_read_with_one_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = BinlogBuilder()
    log.full_metadata = False
    hidden = table("shop.t", integer("id"), varchar("name", 40), varchar("hidden", 40))
    log.ddl("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(10), KEY ((UPPER(name))))", schema="shop")
    for number in (1, 2):
        log.transaction(insert(hidden, (number, "a", "A")))
    path = log.save(tmp_path)[0]
    assert exit_code(["rows", str(path), "--format", "jsonl"]) == 0
    printed = capsys.readouterr()
    assert '"after": {"id": 2, "name": "a", "@3": "A"}' in printed.out
    assert printed.err.count("shop.t has a column that is not in its definition, for a functional index") == 1
    (batch,) = binspark.batches(path, table="shop.t")
    assert batch.column("@3").to_pylist() == ["A", "A"]


def test_a_schema_file_names_columns_that_ddl_in_the_log_names_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = BinlogBuilder()
    log.full_metadata = False
    log.ddl("CREATE TABLE t (id INT, a BIGINT)", schema="shop")
    log.transaction(insert(table("shop.t", integer("id"), integer("a", ColumnType.LONGLONG)), (1, 2)))
    path = log.save(tmp_path)[0]
    schema = tmp_path / "schema.sql"
    schema.write_text("USE shop; CREATE TABLE t (id INT, total BIGINT);")
    assert exit_code(["rows", str(path), "--format", "jsonl", "--schema-file", str(schema)]) == 0
    assert '"after": {"id": 1, "total": 2}' in capsys.readouterr().out
