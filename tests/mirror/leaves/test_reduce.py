"""Changes of a key come to the same, however they are divided before they are reduced."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from binspark.mirror.leaves import last_per_key
from binspark.mirror.records.format import OP, SEQ, RecordOp
from tests.support.mirror.leaf_tables import Change, mirrored, records_of

ORDERS = mirrored({"id": pa.int64(), "name": pa.string(), "price": pa.float64()}, ["id"])
ROW = {"id": 1, "name": "a", "price": 1.0}
KEYS = st.integers(0, 2).map(lambda key: {"id": key})
VALUES = st.fixed_dictionaries({}, optional={"name": st.sampled_from("abc"), "price": st.just(2.0)})
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.tuples(st.just(RecordOp.DELETE), KEYS),
    st.tuples(st.just(RecordOp.PUT), KEYS.map(lambda key: ROW | key)),
    st.tuples(
        st.sampled_from([RecordOp.MERGE, RecordOp.ORPHAN]),
        st.tuples(KEYS, VALUES).map(lambda parts: parts[0] | parts[1]),
    ),
)
DELETED: Change = (RecordOp.DELETE, {"id": 1})
ALL_COLUMNS: Change = (RecordOp.MERGE, {"id": 0, "name": "a", "price": 2.0})


@example([DELETED, DELETED, ALL_COLUMNS], {2})  # the key of the merge is alone in its part
@given(st.lists(CHANGES, min_size=1, max_size=12), st.sets(st.integers(1, 11)))
def test_parts_that_are_reduced_first_come_to_the_same(changes: list[Change], cuts: set[int]) -> None:
    records = records_of(ORDERS, changes)
    bounds = sorted({0, len(changes), *(cut for cut in cuts if cut < len(changes))})
    parts = [last_per_key(records.slice(begin, end - begin)) for begin, end in pairwise(bounds)]
    assert last_per_key(pa.concat_batches(parts)).to_pylist() == last_per_key(records).to_pylist()


def test_a_row_that_was_deleted_between_has_no_columns_of_the_one_before() -> None:
    """A new row with few columns in the log, and a row with the same key that was deleted before it."""
    before = last_per_key(records_of(ORDERS, [(RecordOp.PUT, ROW)], 0))
    after = last_per_key(
        records_of(ORDERS, [(RecordOp.DELETE, {"id": 1}), (RecordOp.MERGE, {"id": 1, "name": "b"})], 1)
    )
    (found,) = last_per_key(pa.concat_batches([before, after])).to_pylist()
    assert (found[OP], found[SEQ], found["name"], found["price"]) == (RecordOp.ORPHAN, f"{2:032x}", "b", None)
