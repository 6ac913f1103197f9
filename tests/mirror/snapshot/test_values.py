"""Rows of a query are those of the log, bit for bit."""

from __future__ import annotations

import pyarrow as pa
import pytest

from binspark.columns.options import ColumnOptions, TimeFormat, ZeroDates
from binspark.errors import Malformed
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS, MirroredTable
from binspark.mirror.snapshot.borders import plan_chunks
from binspark.mirror.snapshot.chunk import COMPLETE
from binspark.mirror.snapshot.read import read_chunk
from binspark.server.connection import connect
from binspark.testing.servers import Family, MariaDB, Server
from binspark.values.options import Undecodable
from tests.support.mirror.every_type import every_type
from tests.support.mirror.tables import inserted_rows, reached, table_of
from tests.support.servers import every_family


def read_all(server: Server, table: MirroredTable) -> pa.Table:
    batches = read_chunk(reached(server), table, COMPLETE)
    return pa.Table.from_batches(list(batches), schema=table.schema)


def assert_same(found: pa.Table, expected: pa.Table) -> None:
    """Compare by text, too: it tells -0.0 from 0.0."""
    assert found.schema == expected.schema
    for name in expected.column_names:
        ours, theirs = found[name].to_pylist(), expected[name].to_pylist()
        assert (name, ours) == (name, theirs)
        assert (name, list(map(repr, ours))) == (name, list(map(repr, theirs)))


@every_family
@pytest.mark.parametrize(
    "options",
    [
        pytest.param(MIRROR_OPTIONS, id="mirror"),
        pytest.param(ColumnOptions(zero_dates=ZeroDates.STRING, time=TimeFormat.MICROSECONDS), id="zero dates as text"),
        pytest.param(ColumnOptions(undecodable=Undecodable.REPLACE), id="by the reference"),
    ],
)
def test_random_rows_of_every_type_are_those_of_the_log(shared: Server, database: str, options: ColumnOptions) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database};\n{every_type(shared.family, 120, seed=7)}",
        "--default-character-set=utf8mb4",
    )
    table = table_of(shared, f"{database}.every_type", options)
    found, expected = read_all(shared, table).sort_by("id"), inserted_rows(shared, table).sort_by("id")
    assert found.num_rows == 120
    assert_same(found, expected)


@every_family
def test_types_are_those_of_the_target(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE t (id TINYINT PRIMARY KEY, s SMALLINT UNSIGNED);"
        "INSERT INTO t VALUES (-1, 65535), (5, NULL)"
    )
    table = table_of(shared, f"{database}.t")
    wide = MirroredTable(
        table.source, pa.schema([pa.field("id", pa.int32()), pa.field("s", pa.int64())]), table.key, table.options
    )
    assert read_all(shared, wide).to_pylist() == [{"id": -1, "s": 65535}, {"id": 5, "s": None}]


@every_family
def test_generated_and_invisible_columns_are_those_of_the_log(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database};"
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, v INT AS (a + 1) VIRTUAL, s INT AS (a * 2) STORED, "
        "h INT INVISIBLE DEFAULT 7); INSERT INTO t (id, a) VALUES (1, 10), (2, NULL)"
    )
    table = table_of(shared, f"{database}.t")
    assert_same(read_all(shared, table), inserted_rows(shared, table))


@every_family
def test_rows_longer_than_a_packet_arrive_complete(shared: Server, database: str) -> None:
    with shared.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SET GLOBAL max_allowed_packet = 67108864")
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE t (id INT PRIMARY KEY, b LONGBLOB, c INT);"
        "INSERT INTO t VALUES (1, REPEAT('x', 10), 1), (2, REPEAT('y', 16777215), 2), (3, REPEAT('z', 20000000), 3),"
        "(4, REPEAT('w', 16777196), 4), (5, 'end', 5)",
        "--max-allowed-packet=67108864",
    )
    found = read_all(shared, table_of(shared, f"{database}.t")).to_pylist()
    assert [(row["id"], len(row["b"]), row["b"][:1], row["c"]) for row in found] == [
        (1, 10, b"x", 1),
        (2, 16777215, b"y", 2),
        (3, 20000000, b"z", 3),
        (4, 16777196, b"w", 4),
        (5, 3, b"e", 5),
    ]


@every_family
def test_an_empty_table_has_no_rows(shared: Server, database: str) -> None:
    shared.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.t (id INT PRIMARY KEY, a TEXT)")
    assert read_all(shared, table_of(shared, f"{database}.t")).num_rows == 0


@every_family
def test_columns_that_servers_hide_are_not_mirrored(shared: Server, database: str) -> None:
    is_mariadb = shared.family.name == "mariadb"
    key = "a TEXT, UNIQUE (a)" if is_mariadb else "a INT, KEY expression ((a + 1))"
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE t (id INT PRIMARY KEY, {key});"
        "INSERT INTO t VALUES (1, 2), (3, 4)"
    )
    table = table_of(shared, f"{database}.t")
    assert table.schema.names == ["id", "a"]
    assert_same(read_all(shared, table), inserted_rows(shared, table).select(["id", "a"]))


@pytest.mark.mariadb
@pytest.mark.parametrize("family", [MariaDB])
def test_a_table_that_keeps_its_old_rows_is_read_with_them(shared: Server, database: str, family: Family) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database};"
        "CREATE TABLE t (id INT PRIMARY KEY, a INT) WITH SYSTEM VERSIONING;"
        "INSERT INTO t VALUES (1, 1), (2, 2); UPDATE t SET a = 3 WHERE id = 1; DELETE FROM t WHERE id = 2"
    )
    table = table_of(shared, f"{database}.t")
    assert table.key == ("id", "row_end")
    found = read_all(shared, table).to_pylist()
    assert sorted((row["id"], row["a"], row["row_end"].year == 2038) for row in found) == [
        (1, 1, False),
        (1, 3, True),
        (2, 2, False),
    ]
    with connect(reached(shared)) as connection:
        chunks = list(plan_chunks(connection, table, 1))
    parts = [list(read_chunk(reached(shared), table, chunk)) for chunk in chunks]
    assert [sum(batch.num_rows for batch in part) for part in parts] == [1, 1, 1]


@every_family
def test_a_date_that_is_not_in_the_calendar_is_an_error_if_that_is_chosen(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database}; SET sql_mode = ''; CREATE TABLE t (id INT PRIMARY KEY, d DATE);"
        "INSERT INTO t VALUES (1, '0000-00-00')"
    )
    table = table_of(shared, f"{database}.t", ColumnOptions(zero_dates=ZeroDates.ERROR))
    with pytest.raises(Malformed, match=f"^rows of {database}.t: .*0000-00-00 is not a date in the calendar"):
        read_all(shared, table)
