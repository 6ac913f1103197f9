"""JSON documents as VARIANT: the binary form that Spark and Parquet share, made from text by a kernel."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from binspark.columns.kernels.object_layout import Field, Rows, Source
from binspark.columns.kernels.variant_fields import WRITERS
from binspark.columns.kernels.variant_rows import write_documents
from binspark.columns.row_objects_fields import describe_array
from binspark.columns.row_objects_output import Output, Workspace, write_all

VARIANT = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False, metadata={b"variant": b"true"}),
    ]
)
"""The Arrow type that Spark takes as VARIANT; the metadata are the keys of all objects in the value."""


def variant_documents(texts: pa.StringArray) -> pa.StructArray:
    """Return JSON documents as VARIANT; NULL stays NULL.

    They mean what Spark's `parse_json` takes them for: integers are the smallest type that holds them, numbers without
    exponent are decimals as long as 38 digits hold them, all others are doubles. Of members with the same key the last
    one counts.
    """
    rows, workspace = len(texts), Workspace()
    field = np.zeros(Field.WIDTH, dtype=np.int64)
    field[Field.WORKSPACE] = workspace.address
    describe_array(field, texts, Source.DOCUMENT, WRITERS)
    numbers = np.zeros(Rows.WIDTH, dtype=np.int64)
    numbers[Rows.ROWS], numbers[Rows.FIELDS], numbers[Rows.WORKSPACE] = rows, field.ctypes.data, workspace.address
    values = Output(numbers[Rows.AT : Rows.META_AT], rows, texts.nbytes + 64)
    dictionaries = Output(numbers[Rows.META_AT : Rows.ENTRIES], rows, texts.nbytes // 2 + 64)
    write_all(write_documents, numbers, values, dictionaries, workspace)
    valid = texts.is_valid().to_numpy(zero_copy_only=False) if texts.null_count else None
    return variants(values.buffers(), dictionaries.buffers(), rows, valid)


def variants(
    values: list[pa.Buffer], dictionaries: list[pa.Buffer], rows: int, valid: npt.NDArray[np.bool_] | None
) -> pa.StructArray:
    """Return values and their dictionaries as one array; NULL where `valid` is false."""
    children = [pa.Array.from_buffers(pa.binary(), rows, [None, *buffers], 0) for buffers in (values, dictionaries)]
    bitmap, nulls = bitmap_of(valid)
    return pa.Array.from_buffers(VARIANT, rows, [bitmap], nulls, children=children)


def bitmap_of(valid: npt.NDArray[np.bool_] | None) -> tuple[pa.Buffer | None, int]:
    """Return which rows are not NULL as Arrow keeps it, and how many are."""
    if valid is None:
        return None, 0
    return pa.py_buffer(np.packbits(valid, bitorder="little")), len(valid) - int(valid.sum())
