"""Columns of functional and multi-valued indexes, which no definition has: current servers do not log them, 8.0 did."""

from __future__ import annotations

from pathlib import Path

import pytest

import binspark
from binspark.event import Rows, TableMap
from binspark.event.column_types import ColumnType as T
from binspark.event.rows import RowOperation
from binspark.frames import EventCode as E
from binspark.testing.builder import MYSQL_8_0, BinlogBuilder
from binspark.testing.servers import Server

DEFINITION = "CREATE TABLE t (id INT PRIMARY KEY, j JSON, KEY ((CAST(j->'$.a' AS UNSIGNED ARRAY))))"
NUMBERS = bytes.fromhex("0b0000000202000a00050100050200")  # [1, 2]


def logged(folder: Path, element: int, metadata: int) -> list[Path]:
    """Write a log with a row of a table that has a multi-valued index."""
    log = BinlogBuilder(MYSQL_8_0)
    log.ddl(DEFINITION, "shop")
    log.gtid(None)
    log.query("BEGIN", "shop")
    types, type_metadata = (T.LONG, T.JSON, T.TYPED_ARRAY), (0, 4, metadata << 8 | element)
    log.event(E.TABLE_MAP, TableMap(90, 1, "shop", "t", types, type_metadata, b"\x06", ()))
    rows = b"\x02" + (7).to_bytes(4, "little") + NUMBERS + b"\x06" + (8).to_bytes(4, "little")
    log.event(E.WRITE_ROWS, Rows(RowOperation.INSERT, 90, 1, (), 3, b"\x07", None, rows))
    log.xid(1)
    return log.save(folder)


@pytest.mark.parametrize(
    ("element", "metadata"), [(T.LONGLONG, 0), (T.VARCHAR, 40), (T.NEWDECIMAL, 0x0205), (T.DATETIME2, 6)]
)
def test_values_of_a_multi_valued_index_are_documents(element: int, metadata: int, tmp_path: Path) -> None:
    path = logged(tmp_path, element, metadata)
    first, second = (change.after for change in binspark.rows(path))
    assert first == {"id": 7, "j": None, "@3": "[1, 2]"}
    assert second == {"id": 8, "j": None, "@3": None}
    (batch,) = binspark.batches(path, table="shop.t")
    assert batch.column("@3").to_pylist() == ["[1, 2]", None]
    assert batch.column("id").to_pylist() == [7, 8]


def test_current_servers_log_no_column_of_an_index(mysql: Server) -> None:
    database = "index_columns"
    mysql.run_sql(
        f"CREATE DATABASE {database}; USE {database};"
        "CREATE TABLE t (id INT PRIMARY KEY, j JSON, name VARCHAR(9), KEY ((CAST(j->'$.a' AS UNSIGNED ARRAY))),"
        " KEY texts ((CAST(j->'$.b' AS CHAR(9) ARRAY))), KEY upper_name ((UPPER(name))));"
        """INSERT INTO t VALUES (1, '{"a": [1, 2], "b": ["x"]}', 'n'), (2, NULL, NULL);"""
        "UPDATE t SET name = 'm' WHERE id = 1; ALTER TABLE t ADD COLUMN x INT; DELETE FROM t"
    )
    changes = list(binspark.rows(mysql.log_files(), tables=[f"{database}.t"]))
    assert [(change.op, list(change.after or change.before or {})) for change in changes] == [
        *[("insert", ["id", "j", "name"])] * 2,
        ("update", ["id", "j", "name"]),
        *[("delete", ["id", "j", "name", "x"])] * 2,
    ]
