"""Where a copy begins: the definitions of its tables, and no others, at one position."""

from __future__ import annotations

from pathlib import Path

import pytest

from binspark.schema.server import from_server
from binspark.schema.table import TableName
from binspark.server.connection import connect
from binspark.testing.servers import MySQL, Server
from tests.support.mirror.live_mirrors import rows_of, run_mirror
from tests.support.mirror.tables import reached
from tests.support.servers import StartServer, every_family


@every_family
def test_the_tables_of_some_schemas_are_read(shared: Server, database: str) -> None:
    shared.query(f"CREATE DATABASE {database}")
    shared.query(f"CREATE TABLE {database}.items (id INT PRIMARY KEY)")
    with connect(reached(shared)) as connection:
        some, all_tables = from_server(connection.rows, {database}), from_server(connection.rows)
        assert not from_server(connection.rows, set()).tables
    name = TableName(database, "items")
    assert dict(some.tables) == {name: all_tables.tables[name]}
    assert some.databases == all_tables.databases


@pytest.mark.mysql
def test_a_copy_reads_the_definitions_of_its_schema_once(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server(MySQL)
    server.query("CREATE DATABASE shop")
    server.query("CREATE TABLE shop.items (id INT PRIMARY KEY)")
    server.query("INSERT INTO shop.items VALUES (1)")
    server.query("SET GLOBAL log_output = 'TABLE'")
    server.query("SET GLOBAL general_log = 'ON'")
    run_mirror(server, tmp_path, "shop.*")
    queries = "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE command_type = 'Query'"
    found = [text for (text,) in server.query(queries) if "information_schema.columns" in text]
    assert sum("table_schema IN (CONVERT(X" in text for text in found) == 2  # which tables there are; how they are
    assert not [text for text in found if "NOT IN" in text]
    assert rows_of(tmp_path, "shop.items").num_rows == 1
