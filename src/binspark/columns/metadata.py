"""The columns that say where a row comes from."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from binspark.columns.reference_batch import ReferenceBuilder
from binspark.columns.table_builder import TableBuilder
from binspark.columns.transaction_table import TransactionTable
from binspark.kernels.layout import Table as T

OPERATIONS = pa.array(["insert", "update", "delete"], pa.string())


def metadata_arrays(
    builder: TableBuilder | ReferenceBuilder, transactions: TransactionTable, file: str
) -> list[pa.Array]:
    """Return the metadata of the rows of a batch, in the order of `METADATA_FIELDS`.

    What repeats (operation, transaction, file) is a dictionary. The numbers are copied, so that the block can be used
    again as soon as the values are.
    """
    operations = builder.numbers(T.META_OP, np.int8).astype(np.int32)
    gtids, times = transactions.columns(builder.numbers(T.META_TRANSACTION, np.int32).copy())
    return [
        pa.DictionaryArray.from_arrays(pa.array(operations), OPERATIONS),
        gtids,
        times,
        pa.DictionaryArray.from_arrays(pa.array(np.zeros(builder.rows, dtype=np.int32)), _word(file)),
        pa.array(builder.numbers(T.META_EVENT, np.int64).copy()),
        pa.array(builder.numbers(T.META_ROW, np.int32).copy()),
        pa.array(builder.numbers(T.META_TX_ROW, np.int64).copy()),
        pa.array(builder.numbers(T.META_SERVER, np.int64).copy()),
    ]


@lru_cache(maxsize=16)
def _word(text: str) -> pa.Array:
    return pa.array([text], pa.string())
