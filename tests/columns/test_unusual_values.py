"""Single cases of batches: text, dates and geometries that are unusual, many table ids, logs without GTIDs."""

from __future__ import annotations

import io
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from binspark.columns import mapped_tables, slow_path
from binspark.columns.options import ColumnOptions, ZeroDates
from binspark.columns.reader import BatchReader
from binspark.columns.selection import Selection
from binspark.event.column_types import ColumnType as T
from binspark.frames import EventCode as E
from binspark.schema.table import TableSchema
from binspark.testing.builder import MARIADB_10_11, MYSQL_9_7, BinlogBuilder, insert, integer, table
from binspark.values.column import Column
from binspark.values.options import Undecodable
from tests.support.columns.bulk import bulk_outcome, read_outcome
from tests.support.columns.random_logs import KnownTables, LoggedRows, table_map, write_transaction
from tests.support.columns.reference import ReferenceReader

ITEMS = table("shop.items", integer("id"))
OTHERS = table("shop.others", integer("id"))
SJIS, UTF8MB4 = 13, 45


def log_of(schema: TableSchema, *events: bytes, type_code: int = E.WRITE_ROWS) -> bytes:
    """Return a log in which every string of bytes is the rows of an event."""
    log = BinlogBuilder(MYSQL_9_7)
    every = bytes([(1 << len(schema.columns)) - 1])
    for rows in events:
        log.gtid(None)
        write_transaction(log, [LoggedRows(schema, type_code, every, None, rows)], None)
    return log.content


def test_anonymous_transactions_have_no_identifier_in_parquet_either() -> None:
    log = BinlogBuilder(MYSQL_9_7)
    log.transaction(insert(ITEMS, (1,)), gtid="anonymous")
    log.transaction(insert(ITEMS, (2,)))
    [found] = BatchReader(Selection()).read(io.BytesIO(log.content).readinto)
    file = io.BytesIO()
    with pq.ParquetWriter(file, found.batch.schema) as writer:
        writer.write_batch(found.batch)
    assert [gtid is None for gtid in pq.read_table(file).column("_gtid").to_pylist()] == [True, False]


@pytest.mark.parametrize("sequence", [2**63 - 1, 2**63, 2**64 - 1])
def test_any_sequence_number_of_mariadb_is_unsigned(sequence: int) -> None:
    log = BinlogBuilder(MARIADB_10_11)
    log.transaction(insert(ITEMS, (1,)), gtid=f"4294967295-4294967295-{sequence}")
    [found] = BatchReader(Selection()).read(io.BytesIO(log.content).readinto)
    assert found.batch.column("_gtid").to_pylist() == [f"4294967295-4294967295-{sequence}"]


def test_anonymous_transactions_need_nothing_else_of_arrow() -> None:
    code = (
        "import io; from binspark.columns.reader import BatchReader; from binspark.columns.selection import Selection;"
        "from binspark.kernels import cache; cache.enable();"
        "from binspark.testing.builder import *; log = BinlogBuilder(MYSQL_9_7);"
        "log.transaction(insert(table('shop.t', integer('id')), (1,)), gtid='anonymous');"
        "print(sum(b.batch.num_rows for b in BatchReader(Selection()).read(io.BytesIO(log.content).readinto)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"


def test_text_of_several_bytes_that_is_wrong_is_refused_at_its_position() -> None:
    schema = TableSchema("shop", "t", (Column(T.VARCHAR, length=20, collation=SJIS, name="c"),))
    log = log_of(schema, b"\x00\x02\x82\xa0" + b"\x01", b"\x00\x01a" + b"\x00\x02\x82\x00" + b"\x00\x01b", b"\x00\x01c")
    found = bulk_outcome(log, Selection(), KnownTables(schema), "binlog.000001")
    assert [row.values["c"] for row in found.tables["shop.t"]] == ["あ", None, "a"]
    assert found == ReferenceReader(Selection(), KnownTables(schema)).read(log, "binlog.000001")


def test_a_zero_date_that_is_an_error_is_refused_at_its_position() -> None:
    schema = TableSchema("shop", "t", (Column(T.DATE, name="c"),))
    log = log_of(schema, b"\x00\x21\xe8\x0f", b"\x00\x21\xe8\x0f" + bytes(4), b"\x00\x21\xe8\x0f")
    selection = Selection(options=ColumnOptions(zero_dates=ZeroDates.ERROR))
    found = bulk_outcome(log, selection, KnownTables(schema), "binlog.000001")
    assert len(found.tables["shop.t"]) == 2
    assert found == ReferenceReader(selection, KnownTables(schema)).read(log, "binlog.000001")


def test_the_id_of_a_spatial_reference_system_keeps_its_bits() -> None:
    geometry = Column(T.GEOMETRY, length=4, name="c")
    by_kernel = TableSchema("shop", "t", (geometry,))
    by_reference = TableSchema("shop", "t", (geometry, Column(T.NULL, name="n")))
    rows = b"\x04\x00\x00\x00\xfe\xff\xff\xff"
    both = [
        bulk_outcome(log_of(by_kernel, b"\x00" + rows), Selection(), KnownTables(by_kernel)),
        bulk_outcome(log_of(by_reference, b"\x02" + rows), Selection(), KnownTables(by_reference)),
    ]
    assert [found.tables["shop.t"][0].values["c"] for found in both] == [{"srid": -2, "wkb": b""}] * 2


@pytest.mark.parametrize("policy", Undecodable)
def test_bytes_that_may_be_text_are_kept_under_any_policy(policy: Undecodable) -> None:
    columns = (Column(T.BLOB, length=1, name="c"), Column(T.VARCHAR, length=9, collation=UTF8MB4, name="t"))
    schema = TableSchema("shop", "t", columns)
    log = log_of(schema, b"\x00\x02\xff\xfe\x01a")
    found = bulk_outcome(log, Selection(options=ColumnOptions(undecodable=policy)), KnownTables(schema))
    assert found.tables["shop.t"][0].values["c"] == b"\xff\xfe"


def test_compressed_text_that_is_none_may_stay_bytes() -> None:
    schema = TableSchema("shop", "t", (Column(T.BLOB_COMPRESSED, length=1, collation=UTF8MB4, name="c"),))
    selection = Selection(options=ColumnOptions(undecodable=Undecodable.BINARY))
    found = bulk_outcome(log_of(schema, b"\x00\x02\x00\xff"), selection, KnownTables(schema))
    assert found.tables["shop.t"][0].values["c"] == b"\xff"


def test_text_that_is_wrong_in_a_column_that_is_not_selected_is_skipped() -> None:
    columns = (Column(T.VARCHAR, length=9, collation=UTF8MB4, name="t"), Column(T.TINY, name="c"))
    tables = [TableSchema("shop", "t", columns), TableSchema("shop", "t", (*columns, Column(T.NULL, name="n")))]
    found = [
        bulk_outcome(log_of(schema, b"\x00\x01\xff\x07"), Selection(columns=("c",)), KnownTables(schema))
        for schema in tables
    ]
    assert [outcome.tables["shop.t"][0].values for outcome in found] == [{"c": 7}] * 2


def test_more_table_ids_than_there_is_room_for_are_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped_tables, "_MAX_IDS", 1 << 10)
    monkeypatch.setattr(slow_path, "_MAX_TABLE_MAPS", 1 << 10)
    log = BinlogBuilder(MYSQL_9_7)
    for table_id in range(5000):
        log.table_map(OTHERS, table_id)
    log.table_map(ITEMS, 5000)
    log.rows(insert(ITEMS, (1,)), 5000)
    found = bulk_outcome(log.content, Selection(tables=frozenset({"shop.items"})))
    assert [row.values for row in found.tables["shop.items"]] == [{"id": 1}]


def test_a_log_without_identifiers_has_none_of_the_log_before() -> None:
    first, second = BinlogBuilder(MYSQL_9_7), BinlogBuilder(MYSQL_9_7)
    first.transaction(insert(ITEMS, (1,)))
    second.table_map(ITEMS)
    second.rows(insert(ITEMS, (2,)))
    reader = BatchReader(Selection())
    found = [read_outcome(reader, io.BytesIO(log.content).readinto) for log in (first, second)]
    assert [outcome.tables["shop.items"][0].gtid is None for outcome in found] == [False, True]
    assert [outcome.tables["shop.items"][0].tx_row for outcome in found] == [0, 0]


def test_a_table_map_names_as_many_columns_as_its_table_has() -> None:
    schema = TableSchema("shop", "t", (Column(T.TINY, name="c"), Column(T.TINY, name="d")))
    assert table_map(schema, 7).column_count == 2
