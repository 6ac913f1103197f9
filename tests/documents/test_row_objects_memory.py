"""Objects are written to memory that begins small and grows, and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from binspark.columns.options import ZeroDates
from binspark.documents import output
from binspark.documents.row_objects import json_rows, variant_rows
from binspark.documents.variant import variant_documents
from binspark.errors import Unsupported
from binspark.event.column_types import ColumnType as T
from binspark.values.column import Column
from tests.support.columns.random_logs import RandomLog, logs
from tests.support.documents.row_objects import images_of_log
from tests.support.examples import examples

patiently = settings(deadline=None, max_examples=examples(40), suppress_health_check=list(HealthCheck))
_MARK = 0xA5
_MARGIN = 64


@contextmanager
def guarded_memory(first_size: int) -> Iterator[None]:
    """Begin with little memory, and see that nothing is written after it."""
    allocate = pa.allocate_buffer
    taken: list[pa.Buffer] = []

    def take(size: int) -> pa.Buffer:
        size = size if len(taken) > 1 else first_size
        memory = allocate(size + _MARGIN)
        np.frombuffer(memory, dtype=np.uint8)[:] = _MARK
        taken.append(memory.slice(size))
        return memory.slice(0, size)

    with patch.object(pa, "allocate_buffer", take):
        yield
    assert {bytes(margin) for margin in taken} == {bytes([_MARK]) * _MARGIN}


sizes = st.integers(0, 3000)
members = st.dictionaries(
    st.text(max_size=90), st.text() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
documents = st.lists(members | st.lists(st.text() | st.integers(-(1 << 70), 1 << 70)), max_size=6)


@patiently
@given(st.lists(documents.map(json.dumps), min_size=1, max_size=20), sizes)
def test_documents_grow_where_they_are(texts: list[str], size: int) -> None:
    array = pa.array(texts, pa.string())
    complete = variant_documents(array).to_pylist()
    with guarded_memory(size):
        assert variant_documents(array).to_pylist() == complete


@pytest.mark.parametrize("write", [json_rows, variant_rows])
@patiently
@given(logs(damage=False), sizes)
def test_rows_grow_where_they_are(write: Callable[..., pa.Array], log: RandomLog, size: int) -> None:
    for images in images_of_log(log.content, ZeroDates.NULL, log.history(), log.history()):
        complete = write(images.table.columns, images.arrays).to_pylist()
        with guarded_memory(size):
            assert write(images.table.columns, images.arrays).to_pylist() == complete


def long_columns() -> tuple[list[Column], list[pa.Array]]:
    """Columns whose values take all sizes up to some hundred bytes."""
    texts = [f"{'x' * length}\n" for length in range(400)]
    kinds: list[tuple[T, pa.Array]] = [
        (T.VARCHAR, pa.array(texts)),
        (T.JSON, pa.array([json.dumps({text: [text, 1.5]}) for text in texts])),
        (T.SET, pa.array([texts[: len(text) // 40] for text in texts], pa.list_(pa.string()))),
        (T.VECTOR, pa.array([[0.1] * (len(text) // 4) for text in texts], pa.list_(pa.float32()))),
        (T.BLOB, pa.array([text.encode() for text in texts], pa.binary())),
    ]
    return [Column(kind, name=kind.name) for kind, _ in kinds], [array for _, array in kinds]


@pytest.mark.parametrize("size", [0, 200, 777, 1000, 4001])
@pytest.mark.parametrize("write", [json_rows, variant_rows])
def test_values_of_all_sizes_grow_where_they_are(write: Callable[..., pa.Array], size: int) -> None:
    columns, arrays = long_columns()
    complete = write(columns, arrays).to_pylist()
    with guarded_memory(size):
        assert write(columns, arrays).to_pylist() == complete


WIDE = [Column(T.LONG, name=f"{'n' * 60}{number}") for number in range(1000)]
WIDE_ROWS = [pa.array(np.zeros(65_536, dtype=np.int32))] * len(WIDE)
LONG_TEXT = pa.array(["x" * 1000]).take(pa.array(np.zeros(2000, dtype=np.int32)))


def test_dictionaries_of_more_than_two_gibibytes_are_refused() -> None:
    with pytest.raises(Unsupported, match="a smaller batch is needed"):
        variant_rows(WIDE, WIDE_ROWS)


@pytest.mark.parametrize(
    ("write", "column"),
    [(json_rows, Column(T.VARCHAR, name="a")), (variant_rows, Column(T.VARCHAR, name="a"))],
    ids=["json", "variant"],
)
def test_objects_of_more_bytes_than_arrow_counts_are_refused(
    write: Any, column: Column, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "MAX_BYTES", 1_000_000)
    with pytest.raises(Unsupported, match="a smaller batch is needed"):
        write([column], [LONG_TEXT])
    assert len(write([column], [LONG_TEXT.slice(0, 900)])) == 900
