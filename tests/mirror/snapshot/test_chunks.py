"""Chunks have every row of a table once, whatever its key is."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from binspark.columns.options import ColumnOptions, ZeroDates
from binspark.errors import SchemaError
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.mirror.snapshot.borders import estimated_rows, index_hint, plan_chunks
from binspark.mirror.snapshot.chunk import COMPLETE, Chunk
from binspark.mirror.snapshot.read import chunk_at_position, read_chunk, read_keys
from binspark.mirror.snapshot.select import SESSION
from binspark.mirror.snapshot.statement import TableChanged
from binspark.server.connection import connect
from binspark.testing.servers import Family, MySQL, Server
from tests.support.mirror.every_type import columns_of
from tests.support.mirror.tables import reached, table_of, tables_of
from tests.support.servers import every_family

KEY_TYPES = (
    *("ti", "bu", "bi", "f", "dd", "d1", "d4", "da", "dt6", "ts2", "t6", "y", "b9", "b64", "e", "st64"),
    *("c", "v1", "v8", "v16", "vg", "bn", "vb", "iz"),
)
MARIADB_KEY_TYPES = ("u", "n6")


def chunks_of(server: Server, table: MirroredTable, rows: int, done: tuple[Chunk, ...] = ()) -> list[Chunk]:
    with connect(reached(server)) as connection:
        return list(plan_chunks(connection, table, rows, done))


def rows_of(server: Server, table: MirroredTable, chunk: Chunk) -> list[str]:
    return [repr(row) for batch in read_chunk(reached(server), table, chunk) for row in batch.to_pylist()]


@every_family
def test_chunks_of_any_key_have_each_row_once(shared: Server, database: str) -> None:
    chance, columns = random.Random(3), columns_of(shared.family)
    names = KEY_TYPES + (MARIADB_KEY_TYPES if shared.family.name == "mariadb" else ())
    lines = [f"CREATE DATABASE {database}; USE {database}; SET sql_mode = '', time_zone = '+00:00';"]
    for name in names:
        kind, write = columns[name][0].removesuffix(" NULL"), columns[name][1]
        lines.append(f"CREATE TABLE by_{name} (k {kind} NOT NULL, n INT, PRIMARY KEY (k)) DEFAULT CHARSET utf8mb4;")
        lines += [f"INSERT IGNORE INTO by_{name} VALUES ({write(chance)}, {number});" for number in range(14)]
    shared.run_sql("\n".join(lines), "--default-character-set=utf8mb4")
    tables = tables_of(shared)
    for name in names:
        table = tables[f"{database}.by_{name}"]
        complete = rows_of(shared, table, COMPLETE)
        chunks = chunks_of(shared, table, 3)
        parts = [rows_of(shared, table, Chunk.from_json(chunk.to_json())) for chunk in chunks]
        assert (name, sorted(row for part in parts for row in part)) == (name, sorted(complete))
        assert {len(part) for part in parts[:-1]} <= {3}, name
        assert 1 <= len(parts[-1]) <= 3, name
        read_again(shared, table)


def read_again(server: Server, table: MirroredTable) -> None:
    """Read all rows by their keys. A date that is not in the calendar is NULL in the mirror, and identifies no row."""
    config = reached(server)
    rows = pa.Table.from_batches(read_chunk(config, table, COMPLETE), schema=table.schema)
    known = rows.filter(rows["k"].is_valid())
    again = pa.Table.from_batches(read_keys(config, table, known.select(["k"])), schema=table.schema)
    assert sorted(map(repr, again.to_pylist())) == sorted(map(repr, known.to_pylist())), table.name


@every_family
def test_dates_that_are_not_in_the_calendar_are_keys_if_they_are_mirrored_as_text(
    shared: Server, database: str
) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database}; SET sql_mode = '';"
        "CREATE TABLE t (k DATE PRIMARY KEY, n INT); CREATE TABLE u (k DATETIME(3) PRIMARY KEY, n INT);"
        "INSERT INTO t VALUES ('0000-00-00', 1), ('2024-00-15', 2), ('2024-01-15', 3);"
        "INSERT INTO u SELECT k, n FROM t"
    )
    for name in ("t", "u"):
        table = table_of(shared, f"{database}.{name}", ColumnOptions(zero_dates=ZeroDates.STRING))
        assert [len(rows_of(shared, table, chunk)) for chunk in chunks_of(shared, table, 1)] == [1, 1, 1]
        read_again(shared, table)


@every_family
def test_composite_keys_are_divided_by_all_their_columns(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database};"
        "CREATE TABLE t (a INT, b VARCHAR(20), c DECIMAL(5,2), PRIMARY KEY (b, a, c));"
        + "".join(
            f"INSERT INTO t VALUES ({number % 7}, '{'same' if number < 70 else number % 3}', {number / 4});"
            for number in range(100)
        )
    )
    table = table_of(shared, f"{database}.t")
    chunks = chunks_of(shared, table, 9)
    parts = [rows_of(shared, table, chunk) for chunk in chunks]
    assert [len(part) for part in parts] == [9] * 11 + [1]
    assert sorted(row for part in parts for row in part) == sorted(rows_of(shared, table, COMPLETE))
    with connect(reached(shared)) as connection:
        assert index_hint(connection, table) == " FORCE INDEX (`PRIMARY`)"
    keys = pa.table({"b": ["same", "same", "1"], "a": [0, 1, 9], "c": [0, 0.25, 1]}).cast(
        pa.schema([table.schema.field(name) for name in table.key])
    )
    assert sum(batch.num_rows for batch in read_keys(reached(shared), table, keys)) == 2


@every_family
def test_a_resumed_plan_has_only_the_chunks_that_are_left(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {database}.t (id INT PRIMARY KEY);"
        f"INSERT INTO {database}.t VALUES {', '.join(f'({number})' for number in range(50))}"
    )
    table = table_of(shared, f"{database}.t")
    chunks = chunks_of(shared, table, 10)
    assert len(chunks) == 5
    assert chunks_of(shared, table, 10, (chunks[0], chunks[2])) == [chunks[1], *chunks[3:]]
    assert chunks_of(shared, table, 10, tuple(chunks)) == []
    with connect(reached(shared)) as connection:
        connection.rows(f"ANALYZE TABLE {database}.t")
        assert estimated_rows(connection, table) == 50


@every_family
def test_small_empty_and_keyless_tables_are_one_chunk(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE small (id INT PRIMARY KEY);"
        "CREATE TABLE e LIKE small; CREATE TABLE without_key (a INT);"
        "INSERT INTO without_key VALUES (1), (1); INSERT INTO small VALUES (1), (2)"
    )
    for name in ("small", "e", "without_key"):
        assert chunks_of(shared, table_of(shared, f"{database}.{name}"), 2) == [COMPLETE]
    assert chunks_of(shared, table_of(shared, f"{database}.without_key"), 1, (COMPLETE,)) == []


@every_family
def test_a_key_of_3_kilobytes_is_a_border(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database};"
        "CREATE TABLE t (k VARCHAR(768) CHARACTER SET utf8mb4 PRIMARY KEY) ROW_FORMAT = DYNAMIC;"
        "INSERT INTO t VALUES (REPEAT('😀', 768)), (CONCAT(REPEAT('😀', 767), 'x')), (REPEAT('a', 768))",
        "--default-character-set=utf8mb4",
    )
    table = table_of(shared, f"{database}.t")
    chunks = chunks_of(shared, table, 1)
    assert [len(rows_of(shared, table, chunk)) for chunk in chunks] == [1, 1, 1]


@every_family
@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE t MODIFY a BIGINT",
        "ALTER TABLE t DROP COLUMN a",
        "DROP TABLE t",
        "ALTER TABLE t RENAME COLUMN a TO b",
    ],
)
def test_a_table_that_was_altered_meanwhile_is_noticed(shared: Server, database: str, statement: str) -> None:
    shared.run_sql(f"CREATE DATABASE {database}; USE {database}; CREATE TABLE t (id INT PRIMARY KEY, a INT)")
    table = table_of(shared, f"{database}.t")
    shared.run_sql(f"USE {database}; {statement}")
    with pytest.raises(TableChanged, match="changed"):
        rows_of(shared, table, COMPLETE)


@pytest.mark.mysql
@pytest.mark.parametrize("family", [MySQL])
def test_a_table_that_is_altered_after_a_consistent_read_has_begun_is_noticed(
    shared: Server, database: str, family: Family
) -> None:
    shared.run_sql(f"CREATE DATABASE {database}; CREATE TABLE {database}.t (id INT PRIMARY KEY, a INT)")
    table = table_of(shared, f"{database}.t")
    with (
        connect(reached(shared)) as connection,
        chunk_at_position(connection, table, COMPLETE) as (_, batches),
    ):
        shared.run_sql(f"ALTER TABLE {database}.t ADD KEY (a), ALGORITHM = INPLACE")
        with pytest.raises(TableChanged, match="Table definition has changed"):
            list(batches)


@every_family
def test_limits_of_the_server_do_not_end_a_query(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; CREATE TABLE {database}.t (id INT PRIMARY KEY);"
        f"INSERT INTO {database}.t VALUES (1), (2), (3)"
    )
    limit = "max_statement_time" if shared.family.name == "mariadb" else "max_execution_time"
    table = table_of(shared, f"{database}.t")
    shared.run_sql(f"SET GLOBAL {limit} = 1; SET GLOBAL sql_select_limit = 1; SET GLOBAL net_write_timeout = 1")
    try:
        with connect(reached(shared)) as connection:
            connection.rows(SESSION)
            names = (limit, "sql_select_limit", "net_write_timeout")
            found = connection.rows("SHOW SESSION VARIABLES WHERE Variable_name IN %s", (names,))
            assert sorted(float(value) for _, value in found) == [0.0, 3600.0, float((1 << 64) - 1)]
        assert len(rows_of(shared, table, COMPLETE)) == 3
    finally:
        shared.run_sql(
            f"SET GLOBAL {limit} = 0; SET GLOBAL sql_select_limit = DEFAULT; SET GLOBAL net_write_timeout = DEFAULT"
        )


@every_family
def test_the_columns_of_a_key_that_is_gone_are_noticed_between_chunks(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE t (id INT PRIMARY KEY);INSERT INTO t VALUES (1), (2)"
    )
    table = table_of(shared, f"{database}.t")
    with connect(reached(shared)) as connection:
        chunks = plan_chunks(connection, table, 1)
        next(chunks)
        shared.run_sql(f"DROP TABLE {database}.t")
        with pytest.raises(TableChanged, match="changed"):
            next(chunks)


def test_what_is_no_chunk_is_refused() -> None:
    for text in ("{}", "[1]", "[[1], null]", "x"):
        with pytest.raises(SchemaError, match="not a chunk of a snapshot"):
            Chunk.from_json(text)
