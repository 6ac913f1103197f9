"""Data files: footers, files of other programs, files with older columns, and columns that change."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from binspark.columns.types import GEOMETRY
from binspark.errors import SchemaError, SourceError
from binspark.mirror.files.data_file import DataFile, TableDirectory
from binspark.mirror.leaves import (
    ColumnRewrite,
    LeafLimits,
    plan_tasks,
    rewrite,
    rewrite_columns,
    stored_rows,
    with_bounds,
    write_leaves,
)
from binspark.mirror.leaves.leaf_reader import LeafReader
from binspark.mirror.records.format import RecordOp
from binspark.mirror.schema.column_changes import AddColumn, ChangeType, DropColumn, RenameColumn, SchemaChange
from binspark.mirror.schema.mirrored_table import MirroredTable
from tests.support.mirror.leaf_tables import SMALL, LeafTable, mirrored, records_of, rows_of

ORDERS = mirrored({"id": pa.int64(), "name": pa.string()}, ["id"])
LARGE = LeafLimits()


def orders(numbers: Any) -> list[dict[str, Any]]:
    return [{"id": number, "name": f"order {number}"} for number in numbers]


def written(path: Path, numbers: Any, limits: LeafLimits = LARGE) -> LeafTable:
    table = LeafTable(path, ORDERS, limits)
    table.files = write_leaves([rows_of(ORDERS, orders(numbers))], table.directory, ORDERS, limits)
    return table


def without_bounds(file: DataFile) -> DataFile:
    return DataFile(file.path, file.size, -1)


def foreign(table: LeafTable, name: str, numbers: Any) -> DataFile:
    """Write a file as another program does."""
    path = Path(table.directory.uri) / name
    pq.write_table(pa.Table.from_pylist(orders(numbers)), path)
    return DataFile(name, path.stat().st_size, -1)


def test_bounds_are_read_from_footers(tmp_path: Path) -> None:
    table = written(tmp_path, range(100), SMALL)
    assert len(table.files) > 3
    found = with_bounds([without_bounds(file) for file in table.files], table.directory, ORDERS)
    assert found == [replace(file, footer=b"") for file in table.files]


def test_a_footer_that_was_written_has_statistics(tmp_path: Path) -> None:
    (file,) = written(tmp_path, range(100)).files
    metadata = pq.read_metadata(pa.BufferReader(file.footer))
    assert metadata.num_rows == 100
    assert (metadata.row_group(0).column(0).statistics.min, metadata.row_group(0).column(0).statistics.max) == (0, 99)


def test_keys_of_a_file_of_another_program_are_read(tmp_path: Path) -> None:
    table = written(tmp_path, range(10, 20))
    (known,) = table.files
    (file,) = with_bounds([foreign(table, "other.parquet", [15, 12, 19, 10])], table.directory, ORDERS)
    assert (file.low, file.high, file.rows, file.row_groups) == (known.low, known.high, 4, ())


def test_a_copy_of_a_footer_in_another_file_is_not_believed(tmp_path: Path) -> None:
    table = written(tmp_path, range(10))
    (leaf,) = table.files
    content = pq.read_table(tmp_path / leaf.path)
    metadata = pq.read_metadata(tmp_path / leaf.path).metadata
    pq.write_table(content.slice(0, 5).replace_schema_metadata(metadata), tmp_path / "copy.parquet")
    (copy,) = with_bounds([DataFile("copy.parquet", 1, -1)], table.directory, ORDERS)
    assert (copy.rows, copy.row_groups) == (5, ())
    assert copy.high != leaf.high


def test_bounds_of_another_key_are_not_believed(tmp_path: Path) -> None:
    table = written(tmp_path, range(10))
    by_name = replace(ORDERS, key=("name",))
    (file,) = with_bounds([without_bounds(file) for file in table.files], table.directory, by_name)
    assert (file.low, file.high, file.row_groups) == (b"order 0", b"order 9", ())


def test_files_that_overlap_are_rewritten_together(tmp_path: Path) -> None:
    table = written(tmp_path, range(0, 100, 2), SMALL)
    other = foreign(table, "other.parquet", reversed(range(21, 60, 2)))
    table.files = with_bounds([*table.files, other], table.directory, ORDERS)
    table.apply([records_of(ORDERS, [(RecordOp.DELETE, {"id": 31})])])
    expected = orders(sorted({*range(0, 100, 2), *range(21, 60, 2)} - {31}))
    assert sorted(table.rows(), key=lambda row: row["id"]) == expected
    assert all(file.row_groups for file in table.files)
    assert len(plan_tasks(table.files, SMALL)) > 1


def test_large_files_that_overlap_are_divided_at_their_keys(tmp_path: Path) -> None:
    table = written(tmp_path, range(0, 400, 2), replace(SMALL, leaf_bytes=1 << 20))
    odd = written(tmp_path, range(1, 400, 2), replace(SMALL, leaf_bytes=1 << 20))
    table.files += odd.files
    assert len(table.files) == 2
    table.limits = SMALL
    tasks = plan_tasks(table.files, SMALL)
    assert len(tasks) > 2
    assert {task.group for task in tasks} == {0}
    table.apply([records_of(ORDERS, [(RecordOp.DELETE, {"id": 31})])])
    assert sorted(table.rows(), key=lambda row: row["id"]) == orders(sorted({*range(400)} - {31}))


def test_small_neighbours_become_one_leaf(tmp_path: Path) -> None:
    table = written(tmp_path, range(60), SMALL)
    assert len(table.files) > 1
    table.limits = LARGE
    table.apply([records_of(ORDERS, [(RecordOp.DELETE, {"id": 3})])])
    assert len(table.files) == 1


def test_new_rows_at_the_end_leave_full_leaves_as_they_are(tmp_path: Path) -> None:
    table = written(tmp_path, range(100), SMALL)
    *full, _ = sorted(table.files, key=lambda file: file.low or b"")
    for number in range(100, 160):
        table.apply([records_of(ORDERS, [(RecordOp.PUT, row) for row in orders([number])])])
    assert {file.path for file in full} <= {file.path for file in table.files}
    assert min(file.rows for file in table.files[:-1]) >= 7


def test_a_column_that_a_leaf_does_not_have_is_null(tmp_path: Path) -> None:
    table = written(tmp_path, range(3))
    table.table = mirrored({"note": pa.string(), "id": pa.int64(), "name": pa.string()}, ["id"])
    table.apply([records_of(table.table, [(RecordOp.PUT, {"note": "new", "id": 1, "name": "x"})])])
    assert table.rows()[:2] == [{"note": None, "id": 0, "name": "order 0"}, {"note": "new", "id": 1, "name": "x"}]


@pytest.mark.parametrize(
    ("old", "new", "value", "expected"),
    [
        (pa.int32(), pa.int64(), 7, 7),
        (pa.int32(), pa.decimal128(20, 0), 7, Decimal(7)),
        (pa.float32(), pa.float64(), 1.5, 1.5),
        (pa.int32(), pa.string(), -7, "-7"),
        (pa.decimal128(5, 2), pa.decimal128(10, 4), Decimal("1.25"), Decimal("1.2500")),
    ],
)
def test_values_of_a_widened_column_are_converted_when_they_are_read(
    tmp_path: Path, old: pa.DataType, new: pa.DataType, value: Any, expected: Any
) -> None:
    table = LeafTable(tmp_path, mirrored({"id": pa.int64(), "value": old}, ["id"]), LARGE)
    table.files = write_leaves([rows_of(table.table, [{"id": 1, "value": value}])], table.directory, table.table, LARGE)
    table.table = mirrored({"id": pa.int64(), "value": new}, ["id"])
    assert table.rows() == [{"id": 1, "value": expected}]


def test_a_key_that_was_widened_keeps_its_leaves(tmp_path: Path) -> None:
    table = LeafTable(tmp_path, mirrored({"id": pa.int32()}, ["id"]), SMALL)
    rows = rows_of(table.table, [{"id": number} for number in range(-50, 50)])
    table.files = write_leaves([rows], table.directory, table.table, SMALL)
    wide = mirrored({"id": pa.int64()}, ["id"])
    found = with_bounds([without_bounds(file) for file in table.files], table.directory, wide)
    assert found == [replace(file, footer=b"") for file in table.files]


def test_columns_are_found_by_their_numbers_where_a_target_numbers_them(tmp_path: Path) -> None:
    old = mirrored({"id": pa.int64(), "name": pa.string(), "note": pa.string()}, ["id"])
    directory = TableDirectory(str(tmp_path), "data", field_ids=(("id", 1), ("name", 2), ("note", 3)))
    rows = rows_of(old, [{"id": 1, "name": "a", "note": "b"}])
    files = write_leaves([rows], directory, old, LARGE)
    assert files[0].path.startswith("data/")
    # The column name was renamed to note, after note was dropped; another column with the name name came later.
    new = mirrored({"key": pa.int64(), "note": pa.string(), "name": pa.string()}, ["key"])
    renamed = replace(directory, field_ids=(("key", 1), ("note", 2), ("name", 4)))
    files = with_bounds([without_bounds(file) for file in files], renamed, new)
    assert files[0].row_groups
    (found,) = LeafReader(renamed, new).batches(files[0])
    assert found.rows.to_pylist() == [{"key": 1, "note": "a", "name": None}]


def test_nested_columns_have_numbers_too(tmp_path: Path) -> None:
    table = mirrored({"id": pa.int64(), "where": GEOMETRY, "tags": pa.list_(pa.string())}, ["id"])
    numbers = (("id", 1), ("where", 2), ("tags", 3), ("where.srid", 4), ("where.wkb", 5), ("tags.element", 6))
    directory = TableDirectory(str(tmp_path), field_ids=numbers)
    rows: list[dict[str, Any]] = [
        {"id": 1, "where": {"srid": 4326, "wkb": b"x"}, "tags": ["a", "b"]},
        {"id": 2, "where": None, "tags": None},
    ]
    (file,) = write_leaves([rows_of(table, rows)], directory, table, LARGE)
    (found,) = LeafReader(directory, table).batches(file)
    assert found.rows.to_pylist() == rows
    leaves = str(pq.ParquetFile(tmp_path / file.path).schema)
    assert all(f"field_id={number}" in leaves for _, number in numbers)


def test_stored_rows_are_found_by_their_keys(tmp_path: Path) -> None:
    table = written(tmp_path, range(100), SMALL)
    keys = stored_rows(table.files, table.directory, ORDERS, []).keys
    assert len(keys) == 0
    wanted = [key for file, found in table.leaves() for key in found[::9]]
    rows = stored_rows(table.files, table.directory, ORDERS, [*sorted(wanted), b"\xff"])
    assert rows.keys.to_pylist() == wanted


def test_a_file_that_is_gone_is_an_error_with_its_name(tmp_path: Path) -> None:
    table = written(tmp_path, range(3))
    (tmp_path / table.files[0].path).unlink()
    with pytest.raises(SourceError, match=rf"{table.files[0].path}.*no such file"):
        table.apply([records_of(ORDERS, [(RecordOp.DELETE, {"id": 1})])])


def test_a_directory_that_cannot_be_written_is_an_error_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SourceError, match=r"file/lake/leaf-\w+\.parquet"):
        written(tmp_path / "file" / "lake", range(3))


def test_leaves_can_be_in_remote_storage() -> None:
    directory = TableDirectory("memory://lake/shop/orders", "data")
    files = write_leaves([rows_of(ORDERS, orders(range(100)))], directory, ORDERS, SMALL)
    files = with_bounds([without_bounds(file) for file in files], directory, ORDERS)
    (task, *_) = plan_tasks(files, LARGE)
    change = records_of(ORDERS, [(RecordOp.DELETE, {"id": 31})])
    result = rewrite(task, directory, ORDERS, [change], LARGE)
    (leaf,) = result.added
    (found,) = LeafReader(directory, ORDERS).batches(leaf)
    assert found.rows.to_pylist() == orders(sorted({*range(100)} - {31}))


def test_no_file_is_left_of_a_rewrite_that_fails(tmp_path: Path) -> None:
    table = written(tmp_path, range(100), SMALL)
    before = sorted(tmp_path.iterdir())
    (task, *_) = plan_tasks(table.files, LARGE)
    (tmp_path / table.files[-1].path).write_bytes(b"no Parquet")
    with pytest.raises(SourceError, match=table.files[-1].path):
        rewrite(task, table.directory, ORDERS, [], SMALL)
    assert sorted(tmp_path.iterdir()) == before


# --- Columns that change ----------------------------------------------------------------------------------------------


def changed(table: LeafTable, new: MirroredTable, *steps: Any, **fill: Any) -> LeafTable:
    change = ColumnRewrite(SchemaChange(new.schema, steps), new, table.directory, fill)
    result = rewrite_columns(table.files, table.directory, table.table, change, table.limits)
    assert result.removed == tuple(table.files)
    other = LeafTable(Path(table.directory.uri), new, table.limits)
    other.files = list(result.added)
    return other


def test_columns_are_renamed_dropped_widened_and_filled(tmp_path: Path) -> None:
    old = mirrored({"id": pa.int32(), "name": pa.string(), "note": pa.string()}, ["id"])
    table = LeafTable(tmp_path, old, SMALL)
    rows = [{"id": number, "name": f"n{number}", "note": "x"} for number in range(50)]
    table.files = write_leaves([rows_of(old, rows)], table.directory, old, SMALL)
    new = mirrored({"number": pa.int64(), "state": pa.string(), "at": pa.date32(), "title": pa.string()}, ["number"])
    found = changed(
        table,
        new,
        RenameColumn("id", "number"),
        ChangeType("number", pa.int64()),
        DropColumn("note"),
        RenameColumn("name", "title"),
        AddColumn(pa.field("state", pa.string())),
        AddColumn(pa.field("at", pa.date32())),
        state=pa.scalar("new"),
    )
    assert found.rows() == [{"number": n, "state": "new", "at": None, "title": f"n{n}"} for n in range(50)]
    assert found.files == sorted(found.files, key=lambda file: file.low or b"")


def test_rows_are_sorted_if_the_key_is_another_one(tmp_path: Path) -> None:
    table = written(tmp_path, range(30), SMALL)
    found = changed(table, replace(ORDERS, key=("name",)))
    names = [row["name"] for row in found.rows()]
    assert names == sorted(f"order {number}" for number in range(30))


def test_a_column_that_would_lose_values_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    table = written(tmp_path, range(3))
    new = mirrored({"id": pa.int64(), "name": pa.int32()}, ["id"])
    with pytest.raises(SchemaError, match=r"column name was string and is int32 now.* --resnapshot shop"):
        changed(table, new, ChangeType("name", pa.int32()))
    assert len(list(tmp_path.iterdir())) == 1


# --- Rows of a snapshot -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limits", [SMALL, LARGE])
@pytest.mark.parametrize(
    "numbers",
    [range(100), range(99, -1, -1), [*range(50, 100), *range(50)], [number * 37 % 100 for number in range(100)]],
    ids=["ascending", "descending", "halves", "mixed"],
)
def test_rows_in_any_order_become_leaves_in_the_order_of_keys(tmp_path: Path, limits: LeafLimits, numbers: Any) -> None:
    table = LeafTable(tmp_path, ORDERS, limits)
    batches = rows_of(ORDERS, orders(numbers))
    table.files = write_leaves([batches.slice(begin, 9) for begin in range(0, 100, 9)], table.directory, ORDERS, limits)
    assert table.rows() == orders(range(100))
    assert len(list(tmp_path.iterdir())) == len(table.files)


def test_the_last_row_of_a_key_is_written(tmp_path: Path) -> None:
    rows = [{"id": 1, "name": "old"}, {"id": 2, "name": "x"}, {"id": 1, "name": "new"}]
    table = LeafTable(tmp_path, ORDERS, LARGE)
    for parts in ([rows], [rows[:2], rows[2:]]):
        table.files = write_leaves([rows_of(ORDERS, part) for part in parts], table.directory, ORDERS, LARGE)
        assert table.rows() == [rows[2], rows[1]]
