"""The table that is changed, and changes of it: 10 columns, about 100 bytes a row in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from binspark.mirror.records.format import RecordOp, record_schema
from binspark.mirror.records.keys import row_keys
from binspark.mirror.schema.mirrored_table import MirroredTable
from binspark.schema.table import TableSchema

SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "customer": pa.int64(),
        "product": pa.int32(),
        "quantity": pa.int16(),
        "price": pa.decimal128(12, 2),
        "status": pa.string(),
        "name": pa.string(),
        "note": pa.string(),
        "created": pa.timestamp("us"),
        "score": pa.float64(),
    }
)
ORDERS = MirroredTable(TableSchema("shop", "orders", ()), SCHEMA, ("id",))
_STATES = np.array(["new", "paid", "sent", "done"])
_NAMES = np.array([f"word{number:05d}" for number in range(20_000)])
_BATCH = 100_000


def rows(ids: np.ndarray, seed: int) -> pa.RecordBatch:
    """Return rows with these keys, and random values."""
    random, count = np.random.default_rng(seed), len(ids)
    notes = random.integers(0, 10**9, count)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(ids, pa.int64()),
            pa.array(random.integers(0, 200_000, count), pa.int64()),
            pa.array(random.integers(0, 5_000, count), pa.int32()),
            pa.array(random.integers(1, 20, count), pa.int16()),
            pa.array(random.integers(1, 10**6, count)).cast(pa.decimal128(19, 0)).cast(SCHEMA.field("price").type),
            pa.array(_STATES[random.integers(0, 4, count)]),
            pa.array(_NAMES[random.integers(0, len(_NAMES), count)]),
            pa.array([f"note {note} of order {order}" for note, order in zip(notes, ids, strict=True)]),
            pa.array(random.integers(16 * 10**14, 17 * 10**14, count), SCHEMA.field("created").type),
            pa.array(random.random(count)),
        ],
        schema=SCHEMA,
    )


def table_rows(count: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table: with even keys, so that there is room between them."""
    for begin in range(0, count, _BATCH):
        yield rows(np.arange(begin, min(begin + _BATCH, count)) * 2, begin)


@dataclass(frozen=True, slots=True)
class Workload:
    """Which keys are changed: given a random generator, the rows of the table and how many changes; see `changes`."""

    name: str
    keys: Callable[[np.random.Generator, int, int], np.ndarray]


def _uniform(random: np.random.Generator, table: int, count: int) -> np.ndarray:
    return random.integers(0, table, count)


def _recent(random: np.random.Generator, table: int, count: int) -> np.ndarray:
    return random.integers(table - table // 10, table, count)


def _single(_random: np.random.Generator, table: int, count: int) -> np.ndarray:
    return np.full(count, table // 2)


WORKLOADS = (Workload("uniform", _uniform), Workload("recent", _recent), Workload("single key", _single))


def changes(workload: Workload, table: int, count: int, seed: int) -> pa.RecordBatch:
    """Return change records: 60 % updates, 20 % inserts, 20 % deletions; of a single key updates only."""
    random = np.random.default_rng(seed)
    keys = workload.keys(random, table, count) * 2
    kind = np.zeros(count) if workload.name == "single key" else random.random(count)
    ops = np.where(kind < 0.8, RecordOp.PUT, RecordOp.DELETE)
    keys[(kind >= 0.6) & (kind < 0.8)] += 1
    return records(rows(keys, seed), ops)


def records(batch: pa.RecordBatch, ops: np.ndarray) -> pa.RecordBatch:
    """Return change records of rows."""
    count, schema = batch.num_rows, record_schema(SCHEMA)
    arrays = [
        row_keys(ORDERS, batch),
        pa.array([f"{number:032x}" for number in range(count)]),
        pa.array(ops, pa.int8()),
        *(pa.nulls(count, schema.field(index).type) for index in (3, 4)),
        *batch.columns,
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
