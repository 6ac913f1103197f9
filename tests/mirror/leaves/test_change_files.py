"""Files of changes: applied to a dictionary, they give the rows that leaves with the same changes have."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.errors import SourceError
from binspark.mirror.files.data_file import TableDirectory
from binspark.mirror.leaves import LeafLimits, Rewritten, write_changes
from binspark.mirror.leaves.change_files import remove_changes
from binspark.mirror.records.format import OP, RecordOp
from tests.mirror.leaves.test_rewrite import CHANGES, DELETE, LIMITS, MERGE, ORDERS, PUT, Model
from tests.support.examples import examples
from tests.support.mirror.leaf_tables import Change, LeafTable, incomplete_keys, records_of


def merged(model: Model, path: Path, result: Rewritten) -> None:
    """Do with a dictionary what `MERGE` does with a table: each key may be there once."""
    rows = [row for file in result.changes for row in pq.read_table(path / file.path).to_pylist()]
    assert len({row["id"] for row in rows}) == len(rows)
    assert [file.rows for file in result.changes] == ([len(rows)] if rows else [])
    for row in rows:
        op = row.pop(OP)
        assert op in (RecordOp.DELETE, RecordOp.PUT)
        model.pop(row["id"], None)
        if op == RecordOp.PUT:
            model[row["id"]] = row


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(st.lists(st.lists(CHANGES, max_size=25), max_size=5), max_size=6), LIMITS, st.randoms())
def test_merged_changes_give_the_rows_of_leaves(
    batches: list[list[list[Change]]], limits: LeafLimits, random: Any
) -> None:
    model: Model = {}
    with TemporaryDirectory() as folder:
        path = Path(folder)
        leaves = LeafTable(path, ORDERS, limits)
        for parts in batches:
            records = [records_of(ORDERS, part, 1000 * number) for number, part in enumerate(parts)]
            random.shuffle(records)
            result = write_changes(leaves.files, leaves.directory, ORDERS, records, limits)
            merged(model, path, result)
            written = leaves.apply(records)
            assert incomplete_keys([result]) == incomplete_keys(written)
            stored = {row["id"]: row for row in leaves.rows()}
            unknown = incomplete_keys([result])
            assert {key: row for key, row in model.items() if key not in unknown} == stored
            model = stored


def test_changes_that_cancel_each_other_need_no_stored_row(tmp_path: Path) -> None:
    changes: list[Change] = [
        (PUT, {"id": 1, "name": "a", "price": 1.0}),
        (MERGE, {"id": 1, "name": "b"}),
        (DELETE, {"id": 1}),
    ]
    directory = TableDirectory(str(tmp_path))
    result = write_changes((), directory, ORDERS, [records_of(ORDERS, changes)], LeafLimits())
    assert result.incomplete is None
    (file,) = result.changes
    assert pq.read_table(tmp_path / file.path).to_pylist() == [{OP: 0, "id": 1, "name": None, "price": None}]
    remove_changes(directory)
    assert not list(tmp_path.rglob("*.parquet"))
    remove_changes(directory)


def test_no_changes_are_no_file(tmp_path: Path) -> None:
    assert write_changes((), TableDirectory(str(tmp_path)), ORDERS, [], LeafLimits()).changes == ()
    remove_changes(TableDirectory(str(tmp_path)))


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "_binspark_changes").write_text("in the way")
    records = records_of(ORDERS, [(PUT, {"id": 1, "name": "a", "price": 1.0})])
    with pytest.raises(SourceError, match="_binspark_changes"):
        write_changes((), TableDirectory(str(tmp_path)), ORDERS, [records], LeafLimits())
