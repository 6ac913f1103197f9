"""`binspark.batches`: the bulk path, as Python calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import binspark
from binspark.cli.demo import SHOP
from binspark.errors import OptionError, SourceError
from binspark.testing.builder import BinlogBuilder, decimal, integer, table, update, varchar
from tests.corpus.cases import case_logs

LAST = SHOP / "mysql" / "binlog.000003"


def test_the_batches_of_one_table_have_the_schema_of_their_position() -> None:
    batches = list(binspark.batches(SHOP / "mysql", table="shop.orders"))
    assert {type(batch) for batch in batches} == {pa.RecordBatch}
    assert sum(batch.num_rows for batch in batches) == 391
    assert ["channel" in batch.schema.names for batch in batches] == [False, True, True]


def test_several_tables_give_batches_with_their_table() -> None:
    items = list(binspark.batches(LAST, tables=["shop.order*"]))
    assert [(item.table.name, item.batch.num_rows) for item in items] == [("shop.orders", 151), ("shop.order_lines", 2)]


def test_columns_and_metadata_are_chosen() -> None:
    (batch,) = binspark.batches(LAST, table="shop.orders", columns=["total", "id"], metadata=False)
    assert batch.schema.names == ["id", "total"]


def test_old_rows_are_added_on_request() -> None:
    (batch,) = binspark.batches(LAST, table="shop.products", before=True)
    stock = [(row["_before"]["stock"], row["stock"]) for row in batch.to_pylist()]
    assert all(before > after for before, after in stock)
    assert len(stock) == 2


def test_batches_have_at_most_the_requested_number_of_rows() -> None:
    sizes = [batch.num_rows for batch in binspark.batches(LAST, table="shop.orders", max_rows_per_batch=64)]
    assert sizes == [64, 64, 23]


def test_dates_that_no_calendar_has_follow_the_policy() -> None:
    logs = case_logs("mysql/types")
    (as_null,) = binspark.batches(logs, table="shop.moments", metadata=False)
    (as_text,) = binspark.batches(logs, table="shop.moments", metadata=False, zero_dates="string")
    zeros = [name for name in as_text.schema.names if "0000-00-00" in as_text[name].to_pylist()]
    assert len(zeros) > 0
    assert all(as_null[name].null_count > as_text[name].null_count for name in zeros)


def test_the_schemas_of_one_file_apply_to_the_next() -> None:
    logs = case_logs("mysql/rotation")
    together = [item.table for item in binspark.batches(logs)]
    assert len({table.name for table in together}) > 0
    assert {table.primary_key for table in together} == {
        change.table_schema.primary_key for change in binspark.rows(logs)
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": "shop.*"}, r"^table must be the name of one table, .*, got 'shop\.\*': use tables for patterns$"),
        ({"table": "shop.orders", "tables": ["shop.orders"]}, "^table and tables cannot be combined$"),
        ({"table": "orders"}, r"^table must be the name of one table, schema\.table, got 'orders'$"),
        ({"table": "shop.orders", "column": ["id"]}, r"^there is no option column; did you mean columns\?$"),
        ({"zero_dates": "nil"}, "^zero_dates must be null, error or string, got 'nil'$"),
        ({"max_rows_per_batch": 0}, "^max_rows_per_batch must be 1 or more, got 0$"),
    ],
)
def test_a_wrong_option_is_named_before_anything_is_read(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        binspark.batches(LAST, **options)


def test_a_column_that_the_table_does_not_have_is_named() -> None:
    with pytest.raises(OptionError, match="nmae"):
        list(binspark.batches(LAST, table="shop.products", columns=["nmae"]))


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(SourceError, match="no-such-log"):
        binspark.batches("no-such-log", table="shop.orders")


def test_columns_can_be_made_text(tmp_path: Path) -> None:
    log = BinlogBuilder()
    priced = table("shop.items", integer("id"), decimal("price", 5, 2), varchar("name", 40))
    log.transaction(update(priced, ((1, "9.99", "a"), (2, "8.88", "b"))))
    (batch,) = binspark.batches(log.save(tmp_path)[0], table="shop.items", string_columns="ID, price", before=True)
    (row,) = batch.to_pylist()
    assert (row["id"], row["price"], row["name"]) == ("2", "8.88", "b")
    assert row["_before"] == {"id": "1", "price": "9.99", "name": "a"}
