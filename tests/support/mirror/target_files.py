"""Data files and states for tests of targets: what the mirror's own writer makes, in its simplest form."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyiceberg.catalog.sql import SqlCatalog

from binspark.files.storage.uri import parse_uri
from binspark.mirror.files.data_file import DataFile, TableDirectory, with_field_ids
from binspark.mirror.files.directory import open_directory
from binspark.mirror.state import Phase, TableState
from binspark.mirror.targets.target import Commit, TableVersion, TargetTable
from binspark.replication.position import BinlogPosition
from binspark.schema.table import TableName

STATE = TableState("m1", Phase.CURRENT, BinlogPosition("binlog.000001", 4), '{"columns": []}', ("id",))
Row = Mapping[str, Any]


def state_at(offset: int, mirror: str = "m1") -> TableState:
    return replace(STATE, mirror=mirror, position=BinlogPosition("binlog.000001", offset))


def write_file(directory: TableDirectory, schema: pa.Schema, rows: Sequence[Row]) -> DataFile:
    """Write a data file as an executor does, and return it with its footer."""
    opened = open_directory(directory.uri, directory.storage)
    path = f"{directory.data}/{uuid.uuid4()}.parquet".lstrip("/")
    numbered = with_field_ids(schema, directory.field_ids)
    sink = pa.BufferOutputStream()
    metadata: list[pq.FileMetaData] = []
    pq.write_table(
        pa.Table.from_pylist([dict(row) for row in rows], schema=numbered), sink, metadata_collector=metadata
    )
    content = sink.getvalue()
    full = opened.path(path)
    opened.files.create_dir(full.rpartition("/")[0])
    with opened.files.open_output_stream(full) as file:
        file.write(content)
    footer = pa.BufferOutputStream()
    metadata[0].write_metadata_file(footer)
    return DataFile(path, content.size, len(rows), b"low", b"high", (), footer.getvalue().to_pybytes())


ITEMS = TableName("shop", "items")
SCHEMA = pa.schema([pa.field("id", pa.int32()), pa.field("name", pa.string())])


def put(table: TargetTable, rows: Sequence[Row], offset: int, removed: Sequence[DataFile] = ()) -> TableVersion:
    """Add a file with rows, in place of others."""
    base = table.read()
    file = write_file(table.directory, base.schema, rows)
    return table.commit(Commit(base, state_at(offset), [file], removed))


def rows_of(table: TargetTable, version: int | None = None) -> list[dict[str, Any]]:
    """Return the rows as a reader gets them that nobody here wrote: delta-rs, or pyiceberg."""
    found = READERS[type(table).__name__](table, version)
    return sorted(found.to_pylist(), key=lambda row: str(row.get("id")))


def _by_delta(table: TargetTable, version: int | None) -> pa.Table:
    return pa.table(DeltaTable(table.address, version).scan())


def _by_pyiceberg(table: TargetTable, version: int | None) -> pa.Table:
    location = parse_uri(table.directory.uri)
    assert location is not None
    lake = location.path.rpartition("/")[0].rpartition("/")[0]
    catalog = SqlCatalog("binspark", uri=f"sqlite:///{lake}/catalog.db")
    try:
        return catalog.load_table(table.address).scan(snapshot_id=version).to_arrow()
    finally:
        catalog.close()


READERS = {"DeltaTargetTable": _by_delta, "IcebergTargetTable": _by_pyiceberg}
