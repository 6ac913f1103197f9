"""How many rows a rows event has, and where, from what its TABLE_MAP says of the size of values. None is decoded."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from binspark.columns.types import stored_size
from binspark.errors import BinlogError
from binspark.event import Event, Rows, TableMap
from binspark.event.column_types import ColumnType
from binspark.event.rows import ROWS_KINDS
from binspark.kernels.row_counts import NO_PARTIAL_DOCUMENTS, find_row_ends
from binspark.kernels.row_counts import count_rows as count_rows_in_memory
from binspark.schema.table_map import column_of

_MAX_TABLES = 1 << 12
_PADDING = 8


def count_rows(event: Event, table_map: TableMap) -> int | None:
    """Return how many rows a rows event has, whose table a TABLE_MAP describes.

    None if that is not known: the table has a column of an unknown type, or the rows do not end where the event does.
    A `transactions.Assembler` counts rows with it: `Assembler(count_rows=count_rows)`.
    """
    layout = _RowsLayout.of(event, table_map)
    if layout is None:
        return None
    count = int(count_rows_in_memory(*layout.arguments, layout.documents))
    return None if count < 0 else count


def row_ends(event: Event, table_map: TableMap) -> npt.NDArray[np.int64] | None:
    """Return where each row of a rows event ends in its rows; None if that is not known, or updates are partial."""
    layout = _RowsLayout.of(event, table_map)
    if layout is None or layout.documents != NO_PARTIAL_DOCUMENTS:
        return None
    count = int(count_rows_in_memory(*layout.arguments, layout.documents))
    if count < 0:
        return None
    ends = np.empty(count, dtype=np.int64)
    find_row_ends(*layout.arguments, int(ends.ctypes.data))
    return ends


class _RowsLayout(NamedTuple):
    """The arguments of kernels for the rows of an event, the memory that they are about, and partial documents."""

    arguments: tuple[int, int, int, int, int, int]
    memory: tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]
    documents: int

    @classmethod
    def of(cls, event: Event, table_map: TableMap) -> _RowsLayout | None:
        """Return the layout of a rows event; None if it is not known."""
        rows: Rows = event.body
        kind = ROWS_KINDS[event.type_code]
        sizes = row_sizes(table_map.column_types, table_map.column_metadata)
        if sizes is None or kind.version == 0 or rows.column_count != table_map.column_count:
            return None
        documents = NO_PARTIAL_DOCUMENTS
        if kind.partial:
            documents = sum(code == ColumnType.JSON for code in table_map.column_types)
        first, second = rows.columns, rows.columns_after or b""
        memory = np.frombuffer(first + second + bytes(_PADDING) + rows.rows + bytes(_PADDING), dtype=np.uint8)
        base = int(memory.ctypes.data)
        start = base + len(first) + len(second) + _PADDING
        after = base + len(first) if second else base
        arguments = (int(sizes.ctypes.data), rows.column_count, base, after, start, start + len(rows.rows))
        return cls(arguments, (sizes, memory), documents)


@lru_cache(maxsize=_MAX_TABLES)
def row_sizes(types: tuple[int, ...], metadata: tuple[int, ...]) -> npt.NDArray[np.int64] | None:
    """Return two numbers for each column: bytes of its length field, and the size of a value that has none.

    None if the size of a column is not known.
    """
    sizes = np.zeros(2 * len(types) + 2, dtype=np.int64)
    try:
        for index, (code, number) in enumerate(zip(types, metadata, strict=True)):
            size = stored_size(column_of(code, number, nullable=True))
            if size is None:
                return None
            sizes[2 * index : 2 * index + 2] = size
    except BinlogError:
        return None
    return sizes
