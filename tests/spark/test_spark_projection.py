"""A schema given by the user is a projection: other columns are not decoded."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql.types import StructType

from binspark import OptionError, SchemaError
from binspark.cli.demo import SHOP
from binspark.columns.selection import Selection
from binspark.spark.source import BinlogDataSource
from binspark.spark.views.changes import ChangesView
from binspark.spark.views.table import TableView
from binspark.testing.builder import BinlogBuilder, insert, integer, table, varchar
from tests.corpus.cases import case_logs
from tests.support.spark.spark_reading import ReadLogs, batch_records, failure, records

LOGS = SHOP / "mysql"
DOCUMENTS = case_logs("mysql/types")


def selection(schema: str, **options: str) -> Selection:
    """Return what is decoded for a schema."""
    source = BinlogDataSource({"path": str(LOGS), **options})
    columns = StructType.fromDDL(schema)
    assert isinstance(columns, StructType)
    view = source.reader(columns).view()
    assert isinstance(view, TableView | ChangesView)
    return view.selection


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("schema", "columns", "before"),
    [
        ("total decimal(10,2), _op string, id decimal(20,0)", ("total", "id"), False),
        ("_log_file string", (), False),
        ("id decimal(20,0), _before struct<note string, id decimal(20,0)>", ("id", "note"), True),
    ],
)
def test_only_what_a_schema_names_is_decoded_of_a_table(schema: str, columns: tuple[str, ...], before: bool) -> None:
    chosen = selection(schema, table="shop.orders")
    names = tuple(column.name for column in chosen.wanted["shop.orders"].columns)
    assert (names, chosen.before, chosen.tables) == (columns, before, frozenset({"shop.orders"}))


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("schema", "columns", "before", "images"),
    [
        ("_table string, _op string", (), False, False),
        ("_after variant", None, False, True),
        ("_before variant", None, True, True),
        ("_key variant", (), False, False),
    ],
)
def test_only_what_a_schema_names_is_decoded_of_changes(
    schema: str, columns: tuple[str, ...] | None, before: bool, images: bool
) -> None:
    chosen = selection(schema)
    assert (chosen.columns, chosen.before, chosen.images) == (columns, before, images)


def test_columns_come_in_the_order_of_the_schema(read: ReadLogs) -> None:
    frame = read(LOGS, "total decimal(10,2), _op string, id decimal(20,0)", table="shop.orders")
    assert frame.columns == ["total", "_op", "id"]
    expected = [{name: row[name] for name in frame.columns} for row in batch_records(LOGS, "shop.orders")]
    assert records(frame) == expected


def test_a_wrong_value_does_not_matter_where_its_column_is_not_selected(read: ReadLogs, tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.transaction(insert(table("shop.words", integer("id"), varchar("word", 40)), (1, b"caf\xe9")))
    path = log.save(tmp_path)[0]
    assert records(read(path, "id int", table="shop.words")) == [{"id": 1}]
    assert "not valid utf-8" in failure(read(path, "word string", table="shop.words").collect).message


def test_types_may_be_wider_than_those_of_the_table(read: ReadLogs) -> None:
    wider = "id decimal(38,2), customer_id double, total decimal(20,4)"
    found = records(read(LOGS, wider, table="shop.orders"))
    expected = [
        {name: row[name] for name in ("id", "customer_id", "total")} for row in batch_records(LOGS, "shop.orders")
    ]
    assert found == expected


def test_json_may_be_a_variant_by_schema_alone(read: ReadLogs) -> None:
    frame = read(DOCUMENTS, "id int, j variant", table="shop.documents").selectExpr("id", "to_json(j) AS j")
    text = read(DOCUMENTS, "id int, j string", table="shop.documents").selectExpr("id", "to_json(parse_json(j)) AS j")
    assert records(frame) == records(text)


def test_a_type_that_rows_do_not_fit_is_refused_with_both(read: ReadLogs) -> None:
    error = failure(read(LOGS, "id int", table="shop.orders").collect)
    assert isinstance(error, SchemaError)
    assert "id cannot become int32" in error.message


def test_a_null_where_the_schema_forbids_it_is_refused_with_its_row(read: ReadLogs) -> None:
    error = failure(read(LOGS, "channel string NOT NULL", table="shop.orders").collect)
    assert isinstance(error, SchemaError)
    assert error.message == "channel is NULL in a row, but NOT NULL in the schema of the query"
    assert error.position.offset == batch_records(LOGS, "shop.orders")[0]["_log_pos"]
    named = read(LOGS, "id decimal(20,0) NOT NULL", table="shop.orders")
    assert named.count() == len(batch_records(LOGS, "shop.orders"))


def test_a_column_that_the_table_does_not_have_is_named(read: ReadLogs) -> None:
    error = failure(read(LOGS, "id decimal(20,0), nmae string", table="shop.customers").collect)
    assert isinstance(error, SchemaError)
    expected = (
        "shop.customers has no column 'nmae'; it has id, name, since. missingColumns=null makes such columns null"
    )
    assert error.message == expected


def test_a_column_that_the_table_does_not_have_is_null_on_request(read: ReadLogs) -> None:
    frame = read(LOGS, "nmae string, id int", table="shop.customers", missingColumns="null")
    assert {(row.nmae, row.id) for row in frame.collect()} == {(None, number) for number in range(1, 8)}


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("_op string, id int", "the view changes has no column 'id'; it has _schema, _table, _op"),
        ("_log_pos string", "_log_pos of the view changes is bigint, not string"),
        ("_after string", "_after of the view changes is variant, not string"),
    ],
)
def test_a_view_has_its_own_columns_and_types(schema: str, message: str, read: ReadLogs) -> None:
    error = failure(read(LOGS, schema).collect)
    assert isinstance(error, OptionError)
    assert error.message.startswith(message)
