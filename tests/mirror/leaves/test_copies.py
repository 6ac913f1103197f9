"""Tables without a key: rows are counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.errors import BinlogError
from binspark.mirror.leaves import LeafLimits, write_leaves
from binspark.mirror.records.format import RecordOp
from tests.support.examples import examples
from tests.support.mirror.leaf_tables import SMALL, Change, LeafTable, mirrored, records_of, rows_of

NOTES = mirrored({"at": pa.int64(), "text": pa.string()})
ROWS = st.tuples(st.none() | st.integers(0, 3), st.none() | st.sampled_from(["", "a", "b" * 2000]))


def as_row(values: tuple[Any, Any]) -> dict[str, Any]:
    return {"at": values[0], "text": values[1]}


@settings(max_examples=examples(50), deadline=None)
@given(
    st.lists(st.lists(st.lists(st.tuples(st.booleans(), ROWS), max_size=30), max_size=3), max_size=4),
    st.builds(LeafLimits, st.sampled_from([1, 2000]), st.integers(1, 9), st.just(10_000), st.sampled_from([1, 10_000])),
)
def test_there_are_as_many_copies_as_were_written_and_not_deleted(
    batches: list[list[list[tuple[bool, tuple[Any, Any]]]]], limits: LeafLimits
) -> None:
    model: Counter[tuple[Any, Any]] = Counter()
    with TemporaryDirectory() as path:
        table = LeafTable(Path(path), NOTES, limits)
        for parts in batches:
            records = []
            for part in parts:
                changes: list[Change] = []
                for is_deletion, values in part:
                    if not is_deletion or model[values]:
                        model[values] += -1 if is_deletion else 1
                        changes.append((RecordOp.DELETE if is_deletion else RecordOp.PUT, as_row(values)))
                records.append(records_of(NOTES, changes))
            table.apply(reversed(records))
            assert Counter((row["at"], row["text"]) for row in table.rows()) == +model


def test_deleting_more_copies_than_there_are_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    table = LeafTable(tmp_path, NOTES, SMALL)
    table.files = write_leaves([rows_of(NOTES, [as_row((1, "a"))] * 2)], table.directory, NOTES, SMALL)
    with pytest.raises(BinlogError, match=r"shop\.orders has no key, and the log deletes 1 rows .* --resnapshot shop"):
        table.apply([records_of(NOTES, [(RecordOp.DELETE, as_row((1, "a")))] * 3)])
    assert sorted(path.name for path in tmp_path.glob("*")) == sorted(file.path for file in table.files)
