"""Rows of a log in table formats and query engines that others wrote: they take every column, and sort by `_seq`."""

from __future__ import annotations

import random
from pathlib import Path

import deltalake
import duckdb
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

import binspark
from binspark.testing.builder import BinlogBuilder, insert, integer, table


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """Return rows of twelve logs, in any order."""
    folder = tmp_path_factory.mktemp("logs")
    stock = table("shop.stock", integer("id"))
    builder = BinlogBuilder()
    for number in range(0, 240, 20):
        builder.transaction(insert(stock, *((number + row,) for row in range(20))))
        builder.rotate()
    builder.save(folder)
    found = pa.Table.from_batches(list(binspark.batches(folder, table="shop.stock")))
    order = random.Random(7).sample(range(found.num_rows), found.num_rows)
    return found.take(order).unify_dictionaries()


def plain(rows: pa.Table) -> pa.Table:
    """Return the rows without dictionaries, which table formats do not have."""
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field for field in rows.schema
    ]
    return rows.cast(pa.schema(fields))


def test_duckdb_sorts_by_it(rows: pa.Table) -> None:
    connection = duckdb.connect()
    connection.register("rows", plain(rows))
    found = connection.sql("SELECT id FROM rows ORDER BY _seq").fetchall()
    assert [number for (number,) in found] == list(range(240))


def test_delta_keeps_all_columns_and_skips_by_it(rows: pa.Table, tmp_path: Path) -> None:
    deltalake.write_deltalake(tmp_path / "stock", plain(rows))
    stored = pa.table(deltalake.DeltaTable(tmp_path / "stock").to_pyarrow_table())
    assert stored.column_names == rows.column_names
    assert stored.sort_by("_seq")["id"].to_pylist() == list(range(240))
    middle = sorted(rows["_seq"].to_pylist())[120]
    later = deltalake.DeltaTable(tmp_path / "stock").to_pyarrow_table(filters=[("_seq", ">=", middle)])
    assert sorted(later["id"].to_pylist()) == list(range(120, 240))


def test_iceberg_keeps_all_columns_and_filters_by_it(rows: pa.Table, tmp_path: Path) -> None:
    catalog = SqlCatalog("test", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("shop")
    stock = catalog.create_table("shop.stock", plain(rows).schema)
    stock.append(plain(rows))
    stored = stock.scan().to_arrow()
    assert stored.column_names == rows.column_names
    assert stored.sort_by("_seq")["id"].to_pylist() == list(range(240))
    middle = sorted(rows["_seq"].to_pylist())[120]
    later = stock.scan(row_filter=f"_seq >= '{middle}'").to_arrow()
    assert sorted(later["id"].to_pylist()) == list(range(120, 240))
    catalog.engine.dispose()
