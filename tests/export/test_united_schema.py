"""Tables that change inside the logs, exported: every reader of the folder sees all columns of all rows."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from binspark.cli.main import exit_code
from binspark.event.column_types import ColumnType
from binspark.testing.builder import BinlogBuilder, Table, decimal, insert, integer, table, update, varchar

CREATE = "CREATE TABLE items (id INT, price DECIMAL(5,2), name VARCHAR(10))"
OLD = table("shop.items", integer("id"), decimal("price", 5, 2), varchar("name", 40))
NEW = table("shop.items", integer("id", ColumnType.LONGLONG), varchar("title", 40), integer("stock"))
ALTER = "ALTER TABLE items MODIFY id BIGINT, DROP COLUMN price, RENAME COLUMN name TO title, ADD COLUMN stock INT"


def export(folder: Path, *steps: str | tuple[Table, tuple[object, ...]], options: tuple[str, ...] = ()) -> Path:
    """Write a log and export it; return the folder of the table."""
    log = BinlogBuilder()
    for step in steps:
        if isinstance(step, str):
            log.ddl(step, schema="shop")
        else:
            log.transaction(insert(*step))
    return export_log(folder, log, *options)


def export_log(folder: Path, log: BinlogBuilder, *options: str) -> Path:
    path = log.save(folder)[0]
    assert exit_code(["export", str(path), "-o", str(folder / "out"), *options]) == 0
    return folder / "out" / "shop.items"


def values(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if not name.startswith("_")} for row in rows]


ROWS = [
    {"id": 1, "title": "old", "stock": None, "price": Decimal("9.99")},
    {"id": 2**40, "title": "new", "stock": 7, "price": None},
]


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    return export(tmp_path, CREATE, (OLD, (1, "9.99", "old")), ALTER, (NEW, (2**40, "new", 7)))


def test_a_dataset_has_all_columns_of_all_files(changed: Path) -> None:
    assert values(ds.dataset(changed).to_table().to_pylist()) == ROWS
    assert len({pq.read_schema(path) for path in changed.iterdir()}) == 1


def test_pandas_has_all_columns_of_all_files(changed: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(changed)
    assert list(frame["title"]) == ["old", "new"]
    assert list(frame["price"].dropna()) == [Decimal("9.99")]
    assert list(frame["stock"].dropna()) == [7]


def test_duckdb_has_all_columns_of_all_files(changed: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    found = duckdb.sql(f"SELECT id, title, stock, price FROM '{changed}/*.parquet' ORDER BY id").fetchall()
    assert found == [(1, "old", None, Decimal("9.99")), (2**40, "new", 7, None)]


def test_before_images_are_united_too(tmp_path: Path) -> None:
    log = BinlogBuilder()
    log.ddl(CREATE, schema="shop")
    log.transaction(update(OLD, ((1, "9.99", "a"), (1, "9.99", "b"))))
    log.ddl(ALTER, schema="shop")
    log.transaction(update(NEW, ((1, "b", None), (1, "c", 3))))
    folder = export_log(tmp_path, log, "--before")
    rows = ds.dataset(folder).to_table().to_pylist()
    assert [row["_before"]["title"] for row in rows] == ["a", "b"]
    assert [row["_before"]["price"] for row in rows] == [Decimal("9.99"), None]


def test_types_become_one_that_has_all_values(tmp_path: Path) -> None:
    number = table("shop.items", integer("id"), integer("price"), integer("name"))
    folder = export(tmp_path, (OLD, (1, "9.99", "old")), (number, (2, 5, 6)))
    rows = ds.dataset(folder).to_table().to_pylist()
    assert [row["price"] for row in rows] == [Decimal("9.99"), Decimal("5.00")]
    assert [row["name"] for row in rows] == ["old", "6"]


def test_a_column_can_be_made_text(tmp_path: Path) -> None:
    folder = export(tmp_path, (OLD, (1, "9.99", "old")), options=("--string-columns", "price,ID"))
    (row,) = values(ds.dataset(folder).to_table().to_pylist())
    assert row == {"id": "1", "price": "9.99", "name": "old"}


@pytest.mark.parametrize("name", ["title", "name", "NAME"])
def test_a_chosen_column_is_found_under_all_its_names(tmp_path: Path, name: str) -> None:
    steps = (CREATE, (OLD, (1, "9.99", "old")), ALTER, (NEW, (2, "new", 7)))
    folder = export(tmp_path, *steps, options=("--columns", name))
    assert values(ds.dataset(folder).to_table().to_pylist()) == [{"title": "old"}, {"title": "new"}]


def test_a_chosen_column_may_be_in_some_versions_only(tmp_path: Path) -> None:
    steps = (CREATE, (OLD, (1, "9.99", "old")), ALTER, (NEW, (2, "new", 7)))
    folder = export(tmp_path, *steps, options=("--columns", "stock,price"))
    assert values(ds.dataset(folder).to_table().to_pylist()) == [
        {"stock": None, "price": Decimal("9.99")},
        {"stock": 7, "price": None},
    ]


def test_a_chosen_column_that_no_version_has_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = BinlogBuilder()
    log.ddl(CREATE, schema="shop")
    log.transaction(insert(OLD, (1, "9.99", "old")))
    path = log.save(tmp_path)[0]
    assert exit_code(["export", str(path), "-o", str(tmp_path / "out"), "--columns", "nmae"]) == 2
    assert "shop.items has no column 'nmae'; it has id, price, name" in capsys.readouterr().err


def test_a_column_that_is_dropped_and_added_again_is_kept_apart(tmp_path: Path) -> None:
    folder = export(
        tmp_path,
        CREATE,
        (OLD, (1, "9.99", "old")),
        "ALTER TABLE items DROP COLUMN name",
        "ALTER TABLE items ADD COLUMN name VARCHAR(10)",
        (OLD, (2, "1", "new")),
    )
    rows = ds.dataset(folder).to_table().to_pylist()
    assert [(row["name"], row["name_dropped"]) for row in rows] == [(None, "old"), ("new", None)]


def test_no_file_of_the_rewriting_is_left(changed: Path) -> None:
    assert sorted(path.name for path in changed.iterdir()) == ["part-00000.parquet", "part-00001.parquet"]
    assert pa.schema(pq.read_schema(next(changed.iterdir()))).names[-4:] == ["id", "title", "stock", "price"]
