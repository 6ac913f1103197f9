"""Readers that others wrote read a mirror: every value of every type is what the server has."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyiceberg.catalog.sql import SqlCatalog

from binspark.mirror.check.row_text import RowText, row_text
from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.target import TargetTable
from binspark.schema.table import TableName
from binspark.testing.servers import MySQL, Server
from tests.support.mirror.copies import mirror_table
from tests.support.mirror.live_mirrors import FORMATS
from tests.support.mirror.random_tables import create_tables
from tests.support.servers import every_family

_SESSION = "SET sql_mode = '', time_zone = '+00:00'"


def by_delta_rs(table: TargetTable) -> pa.Table:
    return DeltaTable(table.address).to_pyarrow_table()


def by_pandas(table: TargetTable) -> pa.Table:
    found = DeltaTable(table.address)
    frame: pd.DataFrame = found.to_pandas(types_mapper=pd.ArrowDtype)
    return pa.Table.from_pandas(frame, preserve_index=False)


def by_duckdb(table: TargetTable) -> pa.Table:
    return duckdb.from_arrow(DeltaTable(table.address).to_pyarrow_dataset()).to_arrow_table()


def by_duckdb_from_parquet(table: TargetTable) -> pa.Table:
    files = [file.path for file in table.read().files]
    paths = [path if "://" in path or path.startswith("/") else f"{table.directory.uri}/{path}" for path in files]
    return duckdb.read_parquet([path.removeprefix("file://") for path in paths]).to_arrow_table()


def by_pyarrow(table: TargetTable) -> pa.Table:
    return pa.concat_tables([pq.read_table(path) for path in DeltaTable(table.address).file_uris()])


def by_pyiceberg(table: TargetTable) -> pa.Table:
    directory = Path(table.directory.uri.removeprefix("file://"))
    root = next(parent for parent in directory.parents if list(parent.glob("*.db")))
    (catalog,) = root.glob("*.db")
    name = (table.name.schema, table.name.table)
    return SqlCatalog("binspark", uri=f"sqlite:///{catalog}").load_table(name).scan().to_arrow()


READERS = [
    (Format.DELTA, by_delta_rs),
    (Format.DELTA, by_pandas),
    (Format.DELTA, by_duckdb),
    (Format.DELTA, by_duckdb_from_parquet),
    (Format.DELTA, by_pyarrow),
    (Format.ICEBERG, by_pyiceberg),
    (Format.ICEBERG, by_duckdb_from_parquet),
]


@every_family
def test_readers_of_others_read_what_the_server_has(shared: Server, database: str, tmp_path: Path) -> None:
    targets = {kind: parse_target(str(tmp_path / kind.value), kind) for kind in FORMATS}
    for table in create_tables(shared, database, seed=9, rows=30):
        name = TableName(database, table)
        copies = {kind: mirror_table(shared, target, name) for kind, target in targets.items()}
        expected: dict[int, int] | None = None
        for kind, read in READERS:
            copy, mirrored = copies[kind]
            text = row_text(mirrored, mariadb=shared.family is not MySQL)
            if expected is None:
                expected = selected(shared, name, text)
            assert hashed(read(copy), text) == expected, (table, read.__name__)


def selected(server: Server, name: TableName, text: RowText) -> dict[int, int]:
    with server.connect(init_command=_SESSION) as connection:
        cursor = connection.cursor()
        cursor.execute(f"SELECT id, {text.row_sql} FROM {name}")
        return {int(key): int(value) for key, value in cursor.fetchall()}


def hashed(rows: pa.Table, text: RowText) -> dict[int, int]:
    (batch,) = rows.combine_chunks().to_batches()
    return dict(zip(batch.column("id").to_pylist(), text.hashes(batch).tolist(), strict=True))
