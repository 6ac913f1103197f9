"""The rows of a batch before and after their changes, and their keys: as changes read one at a time have them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from binspark.changes import change_json
from binspark.columns.options import ColumnOptions, ZeroDates
from binspark.columns.reader import BatchReader, TableBatch
from binspark.columns.selection import Selection
from binspark.documents.row_images import RowImages
from binspark.documents.row_objects import json_rows, variant_rows
from binspark.files.changes import read_changes
from tests.corpus.cases import case_logs, log_id
from tests.support.documents.variant import variant_values

CASES = ("mysql/image-minimal", "mysql/image-noblob", "mysql/multi-table", "mysql/keys", "mariadb/image-minimal")
SELECTION = Selection(before=True, images=True, options=ColumnOptions(zero_dates=ZeroDates.STRING))
logs = pytest.mark.parametrize("log", [log for case in CASES for log in case_logs(case)], ids=log_id)
Documents = dict[str, list[tuple[Any, Any, Any]]]


def documents(log: Path, images: Callable[[TableBatch], RowImages], values: Callable[[Any], list[Any]]) -> Documents:
    """Return before, after and key of the rows of each table."""
    found: Documents = {}
    with log.open("rb", buffering=0) as file:
        for batch in BatchReader(SELECTION).read(file.readinto, log.name):
            rows = images(batch)
            columns = [values(array) for array in (rows.before(), rows.after(), rows.keys())]
            found.setdefault(batch.table.name, []).extend(zip(*columns, strict=True))
    return found


def expected(log: Path) -> Documents:
    found: Documents = {}
    for change in read_changes([log]):
        record = json.loads(change_json(change))
        rows = (record["before"], record["after"], record["key"])
        found.setdefault(f"{record['schema']}.{record['table']}", []).append(rows)
    return found


def parsed(array: Any) -> list[Any]:
    return [None if text is None else json.loads(text) for text in array.to_pylist()]


@logs
def test_images_as_json_are_those_of_single_changes(log: Path) -> None:
    assert documents(log, lambda batch: RowImages(batch, json_rows), parsed) == expected(log)


@logs
def test_images_as_variant_have_the_same_rows_and_columns(log: Path) -> None:
    def columns(array: Any) -> list[Any]:
        return [None if value is None else sorted(value.toPython()) for value in variant_values(array)]

    found = documents(log, lambda batch: RowImages(batch, variant_rows), columns)
    wanted = {
        table: [tuple(row and sorted(row) for row in rows) for rows in changes]
        for table, changes in expected(log).items()
    }
    assert found == wanted
