"""Chunks are copied into leaves: all of them, whatever happens to connections."""

from __future__ import annotations

import pickle
import random
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from binspark.errors import ConnectionLost
from binspark.mirror.files.data_file import TableDirectory
from binspark.mirror.leaves.limits import LeafLimits
from binspark.mirror.schema.definitions import as_mirrored, read_stored, stored
from binspark.mirror.schema.mirrored_table import MIRROR_OPTIONS, MirroredTable
from binspark.mirror.snapshot.borders import plan_chunks
from binspark.mirror.snapshot.chunk import COMPLETE, Chunk
from binspark.mirror.snapshot.copy import ChunkCopier, CopiedChunk, require_unchanged
from binspark.mirror.snapshot.statement import TableChanged
from binspark.replication.find import end_of_log
from binspark.replication.position import BinlogPosition
from binspark.schema.server import from_server, table_from_server
from binspark.schema.table import TableName
from binspark.server.connection import connect
from binspark.server.retry import Retry
from binspark.testing.servers import Server
from tests.support.mirror.every_type import every_type
from tests.support.mirror.tables import reached, table_of
from tests.support.servers import config_of, every_family
from tests.support.tcp_proxy import proxied

ROWS = 20_000
AT_ONCE = Retry(limit=3, first_seconds=0.0)


@pytest.fixture
def table(shared: Server, database: str) -> MirroredTable:
    numbers = " UNION ALL ".join(f"SELECT {number} n" for number in range(10))
    tens = ", ".join(f"({numbers}) t{place}" for place in range(4))
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database}; CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(40));"
        f"INSERT INTO t SELECT 1000 * t0.n + 100 * t1.n + 10 * t2.n + t3.n, REPEAT('x', t0.n) FROM {tens};"
        "INSERT INTO t SELECT id + 10000, name FROM t"
    )
    return table_of(shared, f"{database}.t")


def start_of(server: Server) -> BinlogPosition:
    with connect(reached(server)) as connection:
        return end_of_log(connection)


def keys_in(folder: Path, copied: CopiedChunk) -> list[int]:
    found = [pq.read_table(folder / file.path) for file in copied.files]
    assert sum(part.num_rows for part in found) == copied.rows
    keys: list[int] = pa.concat_tables(found)["id"].to_pylist() if found else []
    return keys


@every_family
def test_all_chunks_together_are_the_table(shared: Server, table: MirroredTable, tmp_path: Path) -> None:
    copier = pickle.loads(pickle.dumps(ChunkCopier(reached(shared), start_of(shared), LeafLimits(leaf_bytes=20_000))))
    with connect(reached(shared)) as connection:
        chunks = list(plan_chunks(connection, table, 6_000))
    copies = [copier.copy(table, TableDirectory(str(tmp_path)), chunk) for chunk in chunks]
    assert [copied.rows for copied in pickle.loads(pickle.dumps(copies))] == [6_000, 6_000, 6_000, 2_000]
    assert [key for copied in copies for key in keys_in(tmp_path, copied)] == list(range(ROWS))


@every_family
def test_a_chunk_is_copied_again_if_the_connection_is_lost(
    shared: Server, table: MirroredTable, tmp_path: Path
) -> None:
    chance = random.Random(5)
    with proxied(shared.port) as proxy:
        config = config_of(proxy.port, ssl_mode="disabled")
        for attempt in range(6):
            proxy.budgets = [chance.randrange(100, 250_000), chance.randrange(100, 250_000)]
            copied = ChunkCopier(config, start_of(shared), retry=AT_ONCE).copy(
                table, TableDirectory(str(tmp_path / str(attempt))), COMPLETE
            )
            assert keys_in(tmp_path / str(attempt), copied) == list(range(ROWS))


@every_family
def test_a_server_that_stays_away_is_an_error(shared: Server, table: MirroredTable, tmp_path: Path) -> None:
    with proxied(shared.port) as proxy:
        proxy.refusing = True
        copier = ChunkCopier(config_of(proxy.port, ssl_mode="disabled"), start_of(shared), retry=AT_ONCE)
        with pytest.raises(ConnectionLost, match="giving up after 4 attempts"):
            copier.copy(table, TableDirectory(str(tmp_path)), COMPLETE)


@every_family
def test_a_table_that_was_altered_before_a_chunk_is_not_copied(
    shared: Server, table: MirroredTable, tmp_path: Path
) -> None:
    shared.run_sql(f"ALTER TABLE {table.name} MODIFY name VARCHAR(40) AFTER id, ADD extra INT")
    copier = ChunkCopier(reached(shared), start_of(shared))
    assert copier.copy(table, TableDirectory(str(tmp_path)), Chunk(None, ("10",))).rows == 11
    for change, column in (
        ("MODIFY name VARCHAR(40) CHARACTER SET utf16", "name"),
        ("MODIFY name VARCHAR(50)", "name"),
        ("MODIFY id BIGINT", "id"),
    ):
        shared.run_sql(f"ALTER TABLE {table.name} {change}")
        with pytest.raises(TableChanged, match=re.escape(f"column {column} of {table.name} was changed")):
            copier.copy(table, TableDirectory(str(tmp_path)), Chunk(("10",), None))
    shared.run_sql(f"ALTER TABLE {table.name} MODIFY id INT, DROP COLUMN name")
    with pytest.raises(TableChanged, match="Unknown column"):
        copier.copy(table, TableDirectory(str(tmp_path)), Chunk(("10",), None))


@every_family
def test_a_definition_that_was_stored_is_that_of_the_server(shared: Server, database: str) -> None:
    shared.run_sql(
        f"CREATE DATABASE {database}; USE {database};\n{every_type(shared.family, 0, seed=1)}",
        "--default-character-set=utf8mb4",
    )
    name = TableName(database, "every_type")
    with connect(reached(shared)) as connection:
        definition = table_from_server(connection.rows, name)
        assert definition == from_server(connection.rows).tables[name]
        assert definition is not None
        assert table_from_server(connection.rows, TableName(database, "it's \\ not there")) is None
        stored_name, again = read_stored(stored(name, definition))
        table = as_mirrored(stored_name, again, lambda kind: kind, MIRROR_OPTIONS)
        require_unchanged(connection, table)
        connection.rows(f"ALTER TABLE {database}.every_type MODIFY e ENUM('a','b','ü','new') CHARACTER SET latin1")
        with pytest.raises(TableChanged, match=r"column e of .* was changed"):
            require_unchanged(connection, table)
