"""Programs that nobody here wrote read what the mirror wrote: the same rows, of every type."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyiceberg.catalog.sql import SqlCatalog

from binspark.mirror.leaves import LeafLimits, write_leaves
from binspark.mirror.targets.parse import Format, parse_target
from binspark.mirror.targets.target import Commit
from tests.support.mirror.leaf_tables import mirrored, rows_of
from tests.support.mirror.target_files import state_at

COLUMNS = {
    "id": pa.int64(),
    "tiny": pa.int8(),
    "big": pa.decimal128(20, 0),
    "price": pa.decimal128(9, 2),
    "wide": pa.decimal128(38, 10),
    "ratio": pa.float64(),
    "real": pa.float32(),
    "day": pa.date32(),
    "local": pa.timestamp("us"),
    "moment": pa.timestamp("us", tz="UTC"),
    "duration": pa.string(),
    "text": pa.string(),
    "bytes": pa.binary(),
    "tags": pa.list_(pa.string()),
    "location": pa.struct([pa.field("srid", pa.int32()), pa.field("wkb", pa.binary())]),
    "vector": pa.list_(pa.float32()),
}
FULL: dict[str, Any] = {
    "id": 1,
    "tiny": -128,
    "big": Decimal(2**64 - 1),
    "price": Decimal("-0.05"),
    "wide": Decimal("1234567890123456789012345678.0123456789"),
    "ratio": 0.1,
    "real": 1.5,
    "day": date(1000, 1, 1),
    "local": datetime(9999, 12, 31, 23, 59, 59, 999999),
    "moment": datetime(1970, 1, 1, 0, 0, 1, 1, UTC),
    "duration": "-838:59:59.000000",
    "text": "Größe 😀 ",
    "bytes": b"\x00\xff",
    "tags": ["a", "b"],
    "location": {"srid": 4326, "wkb": b"\x01"},
    "vector": [0.5, -0.5],
}
ROWS = [FULL, {**dict.fromkeys(COLUMNS), "id": 2}, {**FULL, "id": 3, "tags": [], "text": ""}]


@pytest.fixture
def lake(kind: Format, tmp_path: Path) -> Path:
    """A target with a table, whose rows are in three leaves."""
    target = parse_target(str(tmp_path), kind)
    columns = {name: target.column_type(type_) for name, type_ in COLUMNS.items()}
    mirror = mirrored(columns, ["id"])
    table = target.create(mirror.name, mirror.schema, state_at(4))
    files = write_leaves([rows_of(mirror, ROWS)], table.directory, mirror, LeafLimits(leaf_bytes=1, row_group_rows=1))
    assert len(files) == len(ROWS)
    table.commit(Commit(table.read(), state_at(10), files))
    target.close()
    return tmp_path


NAME = mirrored({"id": pa.int64()}, ["id"]).name


def delta(lake: Path) -> DeltaTable:
    return DeltaTable(lake / NAME.schema / NAME.table)


def by_delta_rs(lake: Path) -> pa.Table:
    return pa.table(delta(lake).scan())


def by_pyarrow(lake: Path) -> pa.Table:
    return delta(lake).to_pyarrow_dataset().to_table()


def by_duckdb_over_delta(lake: Path) -> pa.Table:
    connection = duckdb.connect()
    connection.sql("SET TimeZone = 'UTC'")
    connection.register("rows", delta(lake).to_pyarrow_dataset())
    return connection.sql("SELECT * FROM rows").to_arrow_table()


def by_duckdb_extension(lake: Path) -> pa.Table:
    connection = connection_with("delta")
    return connection.sql(f"SELECT * FROM delta_scan('{lake / NAME.schema / NAME.table}')").to_arrow_table()


def by_pyiceberg(lake: Path) -> pa.Table:
    return scanned(lake, lambda scan: scan.to_arrow())


def by_duckdb_over_iceberg(lake: Path) -> pa.Table:
    def read(scan: Any) -> pa.Table:
        connection = scan.to_duckdb("rows")
        connection.sql("SET TimeZone = 'UTC'")
        return connection.sql("SELECT * FROM rows").to_arrow_table()

    return scanned(lake, read)


def by_iceberg_extension(lake: Path) -> pa.Table:
    connection = connection_with("iceberg")
    metadata = max((lake / NAME.schema).rglob("*.metadata.json"))
    return connection.sql(f"SELECT * FROM iceberg_scan('{metadata}')").to_arrow_table()


def connection_with(extension: str) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    try:
        connection.sql(f"INSTALL {extension}")
        connection.sql(f"LOAD {extension}")
    except duckdb.Error:
        pytest.skip(f"DuckDB's extension {extension} cannot be had here")
    connection.sql("SET TimeZone = 'UTC'")
    return connection


def scanned(lake: Path, read: Callable[[Any], pa.Table]) -> pa.Table:
    catalog = SqlCatalog("binspark", uri=f"sqlite:///{lake}/catalog.db")
    try:
        return read(catalog.load_table(f"{NAME.schema}.{NAME.table}").scan())
    finally:
        catalog.close()


READERS = {
    Format.DELTA: [by_delta_rs, by_pyarrow, by_duckdb_over_delta, by_duckdb_extension],
    Format.ICEBERG: [by_pyiceberg, by_duckdb_over_iceberg, by_iceberg_extension],
}


@pytest.mark.parametrize(
    ("kind", "read"),
    [pytest.param(kind, read, id=read.__name__) for kind, readers in READERS.items() for read in readers],
)
def test_all_rows_are_read(lake: Path, read: Callable[[Path], pa.Table]) -> None:
    rows = sorted(read(lake).to_pylist(), key=lambda row: row["id"])
    assert rows == ROWS


@pytest.mark.parametrize("kind", [Format.DELTA])
def test_pandas_reads_the_table(lake: Path) -> None:
    frame = delta(lake).to_pandas().sort_values("id")
    assert list(frame["text"]) == ["Größe 😀 ", None, ""]
    assert frame["moment"].iloc[0].isoformat() == "1970-01-01T00:00:01.000001+00:00"


def test_the_table_of_cuts_is_read_by_anybody(kind: Format, tmp_path: Path) -> None:
    from binspark.mirror.targets.target import Cut

    target = parse_target(str(tmp_path), kind)
    target.cuts.append(Cut(1, "binlog.000001:4", "g", 5, ((NAME, 7),), "m1"))
    target.close()
    if kind is Format.DELTA:
        found = pa.table(DeltaTable(tmp_path / "_binspark").scan())
    else:
        catalog = SqlCatalog("binspark", uri=f"sqlite:///{tmp_path}/catalog.db")
        found = catalog.load_table("_binspark.cuts").scan().to_arrow()
        catalog.close()
    versions = [{"schema": NAME.schema, "table": NAME.table, "version": 7}]
    assert found.select(["number", "position", "versions"]).to_pylist() == [
        {"number": 1, "position": "binlog.000001:4", "versions": versions}
    ]
