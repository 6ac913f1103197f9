"""Updates with some columns that change the key of their row."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from binspark.mirror.leaves import resolve_moves, stored_rows
from binspark.mirror.leaves.leaf_reader import KeyedRows
from binspark.mirror.records.format import FROM, OP, SEQ, RecordOp
from binspark.mirror.records.keys import key_bytes
from tests.support.mirror.leaf_tables import SMALL, Change, LeafTable, mirrored, records_of

ORDERS = mirrored({"id": pa.int64(), "name": pa.string(), "price": pa.float64()}, ["id"])
DELETE, PUT, MERGE = RecordOp.DELETE, RecordOp.PUT, RecordOp.MERGE
Row = dict[str, Any]
NEW_VALUES = st.fixed_dictionaries({}, optional={"name": st.text(max_size=3), "price": st.integers(0, 9).map(float)})


class Source:
    """A table in a server that logs only the columns that were changed."""

    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}
        self.log: list[tuple[Change, int | None]] = []

    def change(self, key: int, new_key: int, values: Row) -> None:
        """Insert a row, update it, or, with a key that another row has, delete it."""
        if key not in self.rows:
            self.rows[key] = {"id": key, "name": None, "price": None} | values
            self.log.append(((PUT, self.rows[key]), None))
        elif key == new_key:
            self.rows[key] = self.rows[key] | values
            self.log.append(((MERGE, {"id": key} | values), None))
        elif new_key in self.rows:
            del self.rows[key]
            self.log.append(((DELETE, {"id": key}), None))
        else:
            self.rows[new_key] = self.rows.pop(key) | {"id": new_key} | values
            self.log.append(((DELETE, {"id": key}), None))
            self.log.append(((MERGE, {"id": new_key} | values), key))

    def records(self) -> pa.RecordBatch:
        """Return the changes since the last call. The two records of an update have the same sequence."""
        records = records_of(ORDERS, [change for change, _ in self.log])
        old = [key for _, key in self.log]
        sequences = [f"{index - (key is not None):032x}" for index, key in enumerate(old)]
        moved = pa.array([None if key is None else key_bytes([pa.array([key])])[0].as_py() for key in old], pa.binary())
        self.log = []
        columns = dict(zip(records.schema.names, records.columns, strict=True))
        columns |= {SEQ: pa.array(sequences, pa.string()), FROM: moved}
        return pa.RecordBatch.from_arrays(list(columns.values()), schema=records.schema)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), NEW_VALUES), min_size=1, max_size=30), max_size=4)
)
def test_rows_that_move_keep_the_columns_that_the_log_does_not_have(batches: list[list[tuple[int, int, Row]]]) -> None:
    source = Source()
    with TemporaryDirectory() as path:
        table = LeafTable(Path(path), ORDERS, SMALL)

        def stored(keys: Sequence[bytes]) -> KeyedRows:
            return stored_rows(table.files, table.directory, ORDERS, keys)

        for batch in batches:
            for key, new_key, values in batch:
                source.change(key, new_key, values)
            results = table.apply([resolve_moves(source.records(), stored)])
            assert not any(result.incomplete for result in results)
            assert sorted(table.rows(), key=lambda row: row["id"]) == [row for _, row in sorted(source.rows.items())]


def test_a_row_that_moves_from_an_unknown_key_is_an_orphan(tmp_path: Path) -> None:
    source = Source()
    source.rows = {1: {"id": 1, "name": "a", "price": 1.0}}
    source.change(1, 2, {"name": "b"})
    table = LeafTable(tmp_path, ORDERS, SMALL)
    records = resolve_moves(source.records(), lambda keys: stored_rows([], table.directory, ORDERS, keys))
    assert records.column(OP).to_pylist() == [DELETE, RecordOp.ORPHAN]
    (result,) = table.apply([records])
    assert result.incomplete_rows is not None
    assert result.incomplete_rows.to_pylist() == [{"id": 2}]
